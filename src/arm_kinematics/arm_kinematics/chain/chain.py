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
from arm_kinematics.ik.batch import Batch, IkBatch
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
        links: The frames on the way, base to tip.
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
        self._solver = IkSolver(self._mechanism, self.joint_names, gearing)
        self._slots = HEAD + self.n + SLOT
        self._every = AllSolutions(self, self._solver)
        self._every_with_tool: dict[bytes, AllSolutions] = {}

    @classmethod
    def from_model(cls, model: Any) -> Chain:
        """Build the chain from base_link to tool0 of an arm_description RobotModel."""
        screws, M, joints, links, _ = parts_of_model(model)
        return cls(screws, M, joints, links=links)

    @classmethod
    def from_urdf(cls, xml: str | UrdfTree, base: str = "base_link", tip: str = "tool0") -> Chain:
        """Build the chain between any two links of a URDF; fixed joints are folded into it.

        The way may lead towards the root, away from it, or both. A joint that mimics another one
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

        Each error is weighed by one over its tolerance: what is tight is met, what is loose yields
        but is still made small. Joints that can move while no error changes go where ``prefer``
        wants them. Equal input gives equal output.

        Args:
            T: Wanted pose of the tip in the base frame.
            seed: Where to start and what to stay near, (n,) [rad or m]; None is mid-range.
            mode: "pose", "position", or "position_axis" (position and the direction of one axis
                of the tip; the roll about it is free).
            position_tolerance: Largest accepted distance [m]; or three, one for each component,
                inf to leave it free.
            orientation_tolerance: Largest accepted angle [rad], inf to leave the orientation free;
                or three, one for each component of the rotation vector; in mode "position_axis",
                or if just one of them is inf, of the tilt of the axis that is wanted or free.
            allow_approximate: If out of reach, answer APPROXIMATE instead of the reason's status.
            max_solutions: How many different solutions to look for.
            timeout: Time allowed on a steady clock [s]; None is no limit.
            axis: The axis of mode "position_axis", along which tip and target are to agree, (3,)
                of any length; None is z.
            tool: Pose (4, 4) in the tip frame of the point to be brought to T; None is the tip.
            tolerance_axes: "target" or "tool": along whose axes components are meant.
            weights: Of the joints in the distance (root of the weighed sum of squares) that
                orders solutions: by name, 1 where not given, or (n,).
            prefer: "nearest" to the seed or "centred": far from the limits, as shares of the
                joint ranges. Weights or "centred" choose among several solutions, which takes
                longer than to find one.

        Returns:
            The result; its status says whether there is a solution.

        Raises:
            KinematicsError: An argument makes no sense.
        """
        key = (
            mode, position_tolerance, orientation_tolerance, axis, tolerance_axes, weights, prefer
        )  # fmt: skip
        deadline = None if timeout is None else deadline_after(timeout)
        every = self._every if tool is None else self._every_of(tool)
        out = None
        if max_solutions == 1:
            if (found := every.quick(T, seed, key, one=True)) is not None:
                return found
            out = _zeros(self._slots)
            if every.solver.quick(T, seed, key, out):
                return IkResult(_SUCCESS, out, self.n)
        return every.solve(T, seed, key, allow_approximate, max_solutions, deadline, False, out)

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
        """Call ``ik`` for many targets, on all cores; the answers are the same.

        Args:
            Ts: Wanted poses of the tip in the base frame (m, 4, 4).
            seeds: One for all (n,), one for each (m, n), or None for mid-range.
            mode: See ``ik``.
            position_tolerance: See there.
            orientation_tolerance: See there.
            allow_approximate: See there.
            timeout: For each target [s].
            axis: See there.
            tool: See there.
            tolerance_axes: See there.
            weights: See there.
            prefer: See there.

        Raises:
            KinematicsError: An argument makes no sense; says which target.
        """
        every = self._every if tool is None else self._every_of(tool)
        key = (
            mode, position_tolerance, orientation_tolerance, axis, tolerance_axes, weights, prefer
        )  # fmt: skip
        return Batch(every, Ts, seeds, key, allow_approximate, timeout).run()

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
        exact. Of an arm of seven turning joints postures are given that are spread over its
        self-motion, elsewhere the different solutions that a search finds.

        Args:
            T: See ``ik``, as for the other arguments that are not here.
            seed: Where joints stay that are free: at a singular pose, or because they do not
                change what is asked for (in mode "position" and "position_axis" the roll about the
                tool's axis). Joints are turned by whole turns as near to it as limits allow.
            mode: See ``ik``.
            position_tolerance: See ``ik``; matters where there is no exact solution: what is only
                within tolerance is then given once.
            orientation_tolerance: The same.
            allow_approximate: See ``ik``.
            timeout: The same for a search [s], and for a self-motion, of which is given what is
                found by then; closed forms and elimination do not ask for it.
            whole_turns: Give each variation by whole turns that the limits allow, not only the
                nearest.
            axis: See ``ik``.
            tool: See ``ik``.
            weights: See ``ik``.
            prefer: See ``ik``.

        Returns:
            The result; without a solution it is that of ``ik``.

        Raises:
            KinematicsError: An argument makes no sense, or whole turns are too many.
        """
        key = (mode, position_tolerance, orientation_tolerance, axis, "target", weights, prefer)
        deadline = None if timeout is None else deadline_after(timeout)
        every = self._every if tool is None else self._every_of(tool)
        if not whole_turns and (result := every.quick(T, seed, key, one=False)) is not None:
            return result
        return every.solve(T, seed, key, allow_approximate, None, deadline, whole_turns)

    def _every_of(self, tool: ArrayLike) -> AllSolutions:
        """Return what finds all solutions for a point at tool (4, 4): tip <- point."""
        motion = rigid_transform(tool, "tool")
        key = motion.tobytes()
        every = self._every_with_tool.get(key)
        if every is None:
            every = AllSolutions(self, self._solver.carrying(motion), motion)
            remember(self._every_with_tool, key, every)
        return every
