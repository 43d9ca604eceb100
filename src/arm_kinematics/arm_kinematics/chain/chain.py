# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A serial chain as a product of exponentials, from a DH model or from a URDF.

T(q) = exp([S1] q1) ... exp([Sn] qn) M (Brockett 1984; Lynch and Park, "Modern Robotics",
eq. 4.14). S and M are the one description of a chain here; what the compiled loops use is derived
from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform
from arm_kinematics.chain.forward import ForwardKinematics
from arm_kinematics.ik.all_solutions import AllSolutions
from arm_kinematics.ik.batch import BatchSolver, IkBatch
from arm_kinematics.ik.closed_form.nearest import prepare_closed_forms
from arm_kinematics.ik.result import IkResult, IkStatus
from arm_kinematics.ik.solver import IkSolver, deadline_after, remember
from arm_kinematics.kernels.search import HEAD, SLOT
from arm_kinematics.model.chain_model import ChainJoint, ChainLink, parts_of_model
from arm_kinematics.model.mimic_joints import MimicJoints

if TYPE_CHECKING:
    from arm_description.urdf.reader import UrdfTree

# Looked up once, not at every call.
_zeros, _SUCCESS = np.zeros, IkStatus.SUCCESS


class Chain(ForwardKinematics):
    """A serial chain from a base frame to a tip frame.

    All poses are (4, 4) in the base frame, lengths in metres, angles in radians. Methods may be
    called from several threads at once.

    Attributes:
        joint_names: Names of the joints that move on their own, base to tip.
        n: Number of these.
        S: (6, s) screw axes [v; w] in the base frame at q = 0; w is a unit vector (revolute) or
            zero with v a unit vector (prismatic). s = n unless joints follow others (gearing).
        M: (4, 4) pose of the tip at q = 0.
        prismatic: Whether each screw slides (s).
        gearing: Which joint drives which screws; None if each its own.
        lower, upper: (n,) limits [rad or m], infinite where there are none.
        velocity, acceleration: (n,) limits, infinite where unknown.
        base, tip: Names of the two frames.
        links: The frames on the path, base to tip.
    """

    def __init__(
        self,
        S: ArrayLike,
        M: ArrayLike,
        joints: Sequence[ChainJoint],
        *,
        links: Sequence[ChainLink] = (),
        base: str = "base_link",
        tip: str = "tool0",
        gearing: MimicJoints | None = None,
    ) -> None:
        super().__init__(S, M, joints, links=links, base=base, tip=tip, gearing=gearing)
        prepare_closed_forms()
        self._solver = IkSolver(self._model, self.joint_names, gearing)
        self._slots = HEAD + self.n + SLOT
        self._all_solutions = AllSolutions(self, self._solver)
        self._by_tool: dict[bytes, AllSolutions] = {}

    @classmethod
    def from_model(cls, model: Any) -> Chain:
        """Build the chain from base_link to tool0 of an arm_description RobotModel."""
        screws, M, joints, links, _ = parts_of_model(model)
        return cls(screws, M, joints, links=links)

    @classmethod
    def from_urdf(cls, xml: str | UrdfTree, base: str = "base_link", tip: str = "tool0") -> Chain:
        """Build the chain between any two links of a URDF; fixed joints are folded into it.

        The path may lead towards the root, away from it, or both. A joint that mimics another one
        moves with it, whether the other one is on the way or not.

        Raises:
            UrdfError: The text is no URDF.
            KinematicsError: A link is missing, no joint of the path moves, or one of them is
                planar or floating.
        """
        from arm_description.urdf.reader import UrdfTree, read_urdf

        from arm_kinematics.model.urdf import parts_between

        tree = xml if isinstance(xml, UrdfTree) else read_urdf(xml)
        screws, M, moving, links, gearing = parts_between(tree, base, tip)
        return cls(screws, M, moving, links=links, base=base, tip=tip, gearing=gearing)

    @property
    def middle(self) -> Array:
        """Joint positions (n,) in the middle of their ranges, 0 where there are no limits."""
        return self._solver.middle

    def ik(
        self,
        T: ArrayLike,
        seed: ArrayLike | None = None,
        mode: str = "pose",
        position_tolerance: float | Sequence[float] = 1e-5,
        orientation_tolerance: float | Sequence[float] = 1e-4,
        allow_approximate: bool = False,
        max_solutions: int = 1,
        timeout: float | None = None,
        *,
        axis: Sequence[float] | None = None,
        tool: ArrayLike | None = None,
        tolerance_axes: str = "target",
        weights: Mapping[str, float] | Sequence[float] | None = None,
        prefer: str = "nearest",
    ) -> IkResult:
        """Find joint positions that bring the tip to the pose T (4, 4).

        Each error is weighed by one over its tolerance: tight ones are met, loose ones yield but
        are still made small. Joints that can move while no error changes go where ``prefer``
        states. Equal input gives equal output.

        Args:
            T: Target pose of the tip in the base frame.
            seed: Where to start and what to stay near, (n,) [rad or m]; None is mid-range.
            mode: "pose", "position", or "position_axis" (position and the direction of one axis
                of the tip; the roll about it is free).
            position_tolerance: Largest accepted distance [m]; or three, one for each component,
                inf to leave it free.
            orientation_tolerance: Largest accepted angle [rad], inf to leave the orientation free;
                or three, one for each component of the rotation vector; in mode "position_axis",
                or if just one of them is inf, of the tilt of the target or free axis.
            allow_approximate: If out of reach, return APPROXIMATE instead of the reason's status.
            max_solutions: How many different solutions to search for.
            timeout: Time allowed on a steady clock [s]; None is no limit.
            axis: The axis of mode "position_axis", along which tip and target are to agree, (3,)
                of any length; None is z.
            tool: Pose (4, 4) in the tip frame of the point to bring to T; None is the tip.
            tolerance_axes: "target" or "tool": along whose axes components are meant.
            weights: Of the joints in the distance (root of the weighed sum of squares) that
                orders solutions: by name, 1 where not given, or (n,).
            prefer: "nearest" to the seed or "centred": far from the limits, as shares of the
                joint ranges. Weights or "centred" choose among several solutions, which takes
                longer than to find one.

        Returns:
            The result, with a status.

        Raises:
            KinematicsError: An argument makes no sense.
        """
        key = (
            mode, position_tolerance, orientation_tolerance, axis, tolerance_axes, weights, prefer
        )  # fmt: skip
        deadline = None if timeout is None else deadline_after(timeout)
        solutions = self._all_solutions if tool is None else self._solutions_with_tool(tool)
        out = None
        if max_solutions == 1:
            if (found := solutions.quick(T, seed, key, one=True)) is not None:
                return found
            out = _zeros(self._slots)
            if solutions.solver.quick(T, seed, key, out):
                return IkResult(_SUCCESS, out, self.n)
        return solutions.solve(
            T, seed, key, allow_approximate, max_solutions, deadline, False, out
        )

    def ik_batch(
        self,
        Ts: ArrayLike,
        seeds: ArrayLike | None = None,
        mode: str = "pose",
        position_tolerance: float | Sequence[float] = 1e-5,
        orientation_tolerance: float | Sequence[float] = 1e-4,
        allow_approximate: bool = False,
        timeout: float | None = None,
        *,
        axis: Sequence[float] | None = None,
        tool: ArrayLike | None = None,
        tolerance_axes: str = "target",
        weights: Mapping[str, float] | Sequence[float] | None = None,
        prefer: str = "nearest",
    ) -> IkBatch:
        """Call ``ik`` for many targets, on all cores, with the same results.

        ``Ts`` are the poses (m, 4, 4) of the tip in the base frame, ``seeds`` one for all (n,),
        one for each (m, n), or None for mid-range; ``timeout`` is for each target [s]. The other
        arguments are those of ``ik``.

        Raises:
            KinematicsError: An argument makes no sense; names the target.
        """
        solutions = self._all_solutions if tool is None else self._solutions_with_tool(tool)
        key = (
            mode, position_tolerance, orientation_tolerance, axis, tolerance_axes, weights, prefer
        )  # fmt: skip
        return BatchSolver(solutions, Ts, seeds, key, allow_approximate, timeout).run()

    def all_solutions(
        self,
        T: ArrayLike,
        seed: ArrayLike | None = None,
        mode: str = "pose",
        position_tolerance: float | Sequence[float] = 1e-5,
        orientation_tolerance: float | Sequence[float] = 1e-4,
        allow_approximate: bool = False,
        timeout: float | None = None,
        *,
        whole_turns: bool = False,
        axis: Sequence[float] | None = None,
        tool: ArrayLike | None = None,
        weights: Mapping[str, float] | Sequence[float] | None = None,
        prefer: str = "nearest",
    ) -> IkResult:
        """Find every solution that brings the tip to the pose T (4, 4), the preferred first.

        In closed form, or by elimination for six turning joints: then none is missed, and each is
        exact. For an arm of seven turning joints the solutions are postures spread over its
        self-motion, elsewhere the different ones that a search finds. Arguments are those of
        ``ik``, with these differences:

        - ``seed``: free joints stay there: at a singular pose, or because they do not change the
          error (in mode "position" and "position_axis" the roll about the tool's axis). Joints are
          turned by whole turns as near to it as limits allow.
        - tolerances matter only where there is no exact solution: a solution that is only within
          tolerance is then returned once.
        - ``timeout`` bounds a search, and a self-motion, of which the part found by then is
          returned; closed forms and elimination ignore it.
        - ``whole_turns``: return each variation by whole turns that the limits allow, not only the
          nearest.

        Returns:
            The result; without a solution it is that of ``ik``.

        Raises:
            KinematicsError: An argument makes no sense, or whole turns are too many.
        """
        key = (mode, position_tolerance, orientation_tolerance, axis, "target", weights, prefer)
        deadline = None if timeout is None else deadline_after(timeout)
        solutions = self._all_solutions if tool is None else self._solutions_with_tool(tool)
        if not whole_turns and (result := solutions.quick(T, seed, key, one=False)) is not None:
            return result
        return solutions.solve(T, seed, key, allow_approximate, None, deadline, whole_turns)

    def _solutions_with_tool(self, tool: ArrayLike) -> AllSolutions:
        """Return the solver for a point at tool (4, 4): tip <- point."""
        motion = rigid_transform(tool, "tool")
        key = motion.tobytes()
        solutions = self._by_tool.get(key)
        if solutions is None:
            solutions = AllSolutions(self, self._solver.with_tool(motion), motion)
            remember(self._by_tool, key, solutions)
        return solutions
