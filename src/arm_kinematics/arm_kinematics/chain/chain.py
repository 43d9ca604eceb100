# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A serial chain as a product of exponentials, from a DH model or from a URDF.

T(q) = exp([S1] q1) ... exp([Sn] qn) M (Brockett 1984; Lynch and Park, "Modern Robotics",
eq. 4.14). S and M are the only description of a chain; the data of the compiled loops is
derived from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from arm_common.transforms import Array, pose
from arm_description.model.constraints import ConstraintSet, JointConstraint
from arm_description.urdf.bodies import Bodies, bodies_of_model, bodies_of_urdf
from arm_description.urdf.reader import UrdfTree
from numpy.typing import ArrayLike

from arm_kinematics.arguments import floats, frozen, require, rigid_transform, row, vector
from arm_kinematics.chain.rigid_body import RigidBodyDynamics
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.batch import BatchLimits, BatchSolver, IkBatch
from arm_kinematics.ik.constrained import ConstrainedSolver
from arm_kinematics.ik.result import IkResult
from arm_kinematics.ik.search_model import SearchModel
from arm_kinematics.ik.solver import IkSolver, deadline_after, remember
from arm_kinematics.kernels import compiled
from arm_kinematics.model.chain_model import (
    ChainJoint,
    ChainLink,
    MimicJoints,
    check_limits,
    checked_screws,
    parts_of_model,
)
from arm_kinematics.model.lie import adjoint, se3_exp
from arm_kinematics.model.urdf import fault_sentences, log_once, parts_between, urdf_tree

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

# Looked up once instead of at every call.
_ndarray, _fk, _fk_jacobian = np.ndarray, compiled.fk, compiled.fk_jacobian
_NEVER = np.inf


class Chain(RigidBodyDynamics):
    """A serial chain from a base frame to a tip frame.

    All poses are (4, 4) in the base frame, lengths in metres, angles in radians. Methods may be
    called from several threads at once.

    Attributes:
        joint_names: Names of the independent joints, base to tip.
        n: Number of independent joints.
        S: (6, s) screw axes [v; w] in the base frame at q = 0; w is a unit vector (revolute) or
            zero with v a unit vector (prismatic). s = n unless there are mimic joints (gearing).
        M: (4, 4) pose of the tip at q = 0.
        prismatic: Whether each screw is prismatic (s).
        gearing: Which joint drives which screws; None without mimic joints.
        sliding: Whether each joint is prismatic (n).
        constraints: Limits that depend on other joints, inside lower and upper; empty for most.
        lower, upper: (n,) limits [rad or m], infinite where there are none.
        velocity, acceleration, effort: (n,) limits, infinite where unknown.
        base, tip: Names of the two frames.
        links: The frames on the path, base to tip.
        length: Length of the arm [m] along its joints to the tip; 1 if it is 0.
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
        constraints: Sequence[JointConstraint] = (),
        bodies: Callable[[], Bodies] | None = None,
    ) -> None:
        check_limits(joints)
        self.n, self._joints = len(joints), tuple(joints)
        self.joint_names = names = tuple(j.name for j in joints)
        self.prismatic = tuple(j.prismatic for j in joints) if gearing is None else gearing.sliding
        self.sliding = tuple(j.prismatic for j in joints)
        lengths = [j.name for j in joints if j.prismatic]
        self.constraints = ConstraintSet(names, constraints, lengths)
        self._constrained = bool(self.constraints)
        screw_names = names if gearing is None else gearing.screw_names
        self.S = frozen(checked_screws(S, self.prismatic, screw_names))
        self.M = frozen(rigid_transform(M, "home pose"))
        self.base, self.tip, self.links, self.gearing = base, tip, tuple(links), gearing
        self._find_bodies = bodies
        bounds = [(j.lower, j.upper, j.velocity, j.acceleration, j.effort) for j in joints]
        limits = map(frozen, np.array(bounds).T)
        self.lower, self.upper, self.velocity, self.acceleration, self.effort = limits
        self._model = SearchModel(self)
        self._constants, self.length = self._model.constants, self._model.length
        self._solver = IkSolver(self, self._model)
        self._by_tool: dict[bytes, IkSolver] = {}

    @classmethod
    def from_model(cls, model: RobotModel) -> Chain:
        """Build the chain from base_link to tool0 of an arm."""
        parts = parts_of_model(model)
        return cls(**parts._asdict(), bodies=partial(bodies_of_model, model))

    @classmethod
    def from_urdf(
        cls, xml: str | Path | UrdfTree, base: str = "base_link", tip: str = "tool0"
    ) -> Chain:
        """Build the chain between any two links of a URDF (text, path or tree); xacro is expanded.

        Fixed joints are folded into it. The path may lead towards the root, away from it, or both.
        A mimic joint moves with its leader, even if the leader is not on the path. Faults of
        joints elsewhere, such as limits in the wrong order, are logged once.

        Raises:
            KinematicsError: It is not a valid URDF, a link is missing, or the path has no moving
                joint, a planar or floating one, or one with a fault.
        """
        tree = urdf_tree(xml)
        parts = parts_between(tree, base, tip)
        names = [joint.name for joint in parts.joints]
        bodies = partial(bodies_of_urdf, tree, base, tip, names)
        for sentence in fault_sentences(tree) if tree is not xml else ():
            log_once(tree.name, sentence)
        return cls(**parts._asdict(), bodies=bodies, base=base, tip=tip)

    @property
    def middle(self) -> Array:
        """Joint positions (n,) at mid-range, 0 where there are no limits."""
        middle = self._model.middle
        return middle.copy() if self.gearing is None else self.gearing.joints(middle)

    @cached_property
    def unconstrained(self) -> Chain:
        """The chain without constraints; joints with any get half a turn or a metre more."""
        limited = {constraint.joint for constraint in self.constraints.constraints}
        joints = []
        for joint in self._joints:
            more = 0.0 if joint.name not in limited else 1.0 if joint.prismatic else np.pi
            joints.append(replace(joint, lower=joint.lower - more, upper=joint.upper + more))
        same = {"base": self.base, "tip": self.tip, "bodies": self._find_bodies}
        return Chain(self.S, self.M, joints, gearing=self.gearing, **same)  # type: ignore[arg-type]

    def fk(self, q: ArrayLike) -> Array:
        """Return the pose (4, 4) of the tip at joint positions q [rad or m], or (m, 4, 4).

        ``q`` is one posture (n,) or several (m, n).
        """
        T = _fk(self._constants, q if self.gearing is None else self._geared(q))
        if T is None:
            postures = floats(q)
            if postures is None or postures.ndim != 2 or postures.shape[1] != self.n:
                self._reject(q)
            return np.array([self.fk(one) for one in postures]).reshape(-1, 4, 4)
        return T

    def jacobian(self, q: ArrayLike) -> Array:
        """Return the geometric Jacobian (6, n) at q: rows of linear, then of angular velocity.

        Velocities of the tip's origin along the base axes, per unit of joint speed.
        """
        return self.fk_jacobian(q)[1]

    def fk_jacobian(self, q: ArrayLike) -> tuple[Array, Array]:
        """Return the results of ``fk`` and ``jacobian``, computed together."""
        both = _fk_jacobian(self._constants, q if self.gearing is None else self._geared(q))
        if both is None:
            self._reject(q)
        return both if self.gearing is None else (both[0], self.gearing.columns(both[1]))

    def space_jacobian(self, q: ArrayLike) -> Array:
        """Return the space Jacobian (6, n): column i is screw i moved by the joints before it.

        It gives the twist [v; w] of the tip, with v taken at the base's origin (MR 5.1).
        """
        T, J = self.fk_jacobian(q)
        return adjoint(pose(p=T[:3, 3])) @ J

    def screw_jacobian(self, q: ArrayLike) -> Array:
        """Return the Jacobian (6, s) by the positions of the screws, mimic joints among them."""
        if self.gearing is None:
            return self.jacobian(q)
        constants = self._constants.copy()
        constants["leader"][0] = 0.0
        both = _fk_jacobian(constants, self._geared(q))
        if both is None:
            self._reject(q)
        return both[1]

    def body_jacobian(self, q: ArrayLike) -> Array:
        """Return the body Jacobian (6, n): the tip's twist along the tip's own axes (MR 5.1)."""
        T, J = self.fk_jacobian(q)
        return np.vstack([T[:3, :3].T @ J[:3], T[:3, :3].T @ J[3:]])

    def twist(self, q: ArrayLike, rates: ArrayLike) -> Array:
        """Return the tip's twist [v; w] (6,) [m/s, rad/s] at joint speeds (n,) [rad/s or m/s].

        The twist is taken at the tip's origin, along the base axes.
        """
        return np.asarray(self.jacobian(q) @ vector(rates, self.n, "rates"))

    def joint_rates(self, q: ArrayLike, twist: ArrayLike, damping: float = 0.0) -> Array:
        """Return the joint speeds (n,) that come nearest to a twist of the tip.

        If there are several, the smallest ones. Damping keeps them bounded at singular postures
        (Wampler, IEEE Trans. SMC 16(1), 1986): |J rates - twist|^2 + damping^2 |rates|^2 is least.

        Args:
            q: Joint positions (n,) [rad or m].
            twist: [v; w] (6,) along the base axes, at the tip's origin [m/s], [rad/s].
            damping: 0 or more; about the smallest singular value that counts as regular.
        """
        target = np.append(vector(twist, 6, "twist"), np.zeros(self.n))
        require(0.0 <= damping < np.inf, "damping", damping, "0 or a positive number")
        # The stacked system, not J J', whose condition number is the square of J's.
        system = np.vstack([self.jacobian(q), damping * np.eye(self.n)])
        return np.asarray(np.linalg.lstsq(system, target, rcond=1e-12)[0])

    def link_poses(self, q: ArrayLike) -> dict[str, Array]:
        """Return the pose (4, 4) in the base frame of every link of the chain, by name."""
        positions = row(q) if self.gearing is None else self._geared(q)
        if positions.shape != self.S[0].shape or not np.isfinite(positions).all():
            self._reject(q)
        frames = [np.eye(4)]
        for screw, value in zip(self.S.T, positions, strict=True):
            frames.append(frames[-1] @ se3_exp(screw * value))
        return {link.name: frames[link.joints] @ link.home for link in self.links}

    def positions(self, by_name: Mapping[str, float]) -> Array:
        """Return the joint positions (n,) by name; raise KinematicsError if one is missing."""
        try:
            return np.array([by_name[name] for name in self.joint_names], dtype=np.float64)
        except KeyError as missing:
            raise KinematicsError(
                f"no position given for joint {missing}; expected {', '.join(self.joint_names)}",
                what=str(missing.args[0]),
            ) from None
        except (TypeError, ValueError):
            self._reject(by_name)

    def __repr__(self) -> str:
        return f"<Chain {self.base} -> {self.tip}: {', '.join(self.joint_names)}>"

    def ik(
        self,
        T: ArrayLike,
        seed: ArrayLike | Mapping[str, float] | None = None,
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

        Errors with loose tolerances yield to those with tight ones, and are still made small.
        Equal input gives equal output. A result is true if it has a solution.

        Args:
            T: Target pose of the tip in the base frame, its rotation exact to 1e-4; in mode
                "position" the position (3,) is enough.
            seed: Positions to start from and to stay near, (n,) or by name [rad or m]; None is
                mid-range.
            mode: "pose", "position", or "position_axis" (position and the direction of one axis
                of the tip; the roll about it is free).
            position_tolerance: Largest accepted distance [m]; or one for each of three components,
                inf to leave it free.
            orientation_tolerance: Largest accepted angle [rad], inf to leave the orientation free;
                or one for each component of the rotation vector; in mode "position_axis", or if
                just one of them is inf, of the tilt of the target or free axis. Not for mode
                "position".
            allow_approximate: If out of reach, return APPROXIMATE instead of the reason's status.
            max_solutions: Number of different solutions to search for.
            timeout: Time limit on a steady clock [s]; None is no limit.
            axis: The axis of mode "position_axis" (3,), of any length; None is z. For no other
                mode.
            tool: Pose (4, 4) in the tip frame of the point to bring to T; None is the tip.
            tolerance_axes: "target" or "tool": the axes along which components are measured.
            weights: Joint weights of the distance (root of the weighted sum of squares) that
                orders solutions: by name, 1 where not given, or (n,).
            prefer: "nearest" to the seed, which is itself the solution if it is within tolerances
                wider than the defaults; "accurate", the smallest error near the seed; "centred"
                in the joint ranges; or "torque": the least share of its effort limit at the joint
                that gravity loads most. The last two and weights choose among several solutions,
                which takes longer. For redundant arms, it is the preferred one of those tried.

        Raises:
            KinematicsError: An argument is invalid.
        """
        key = (
            mode, position_tolerance, orientation_tolerance, axis, tolerance_axes, weights, prefer
        )  # fmt: skip
        deadline = _NEVER if timeout is None else deadline_after(timeout)
        solver = self._solver if tool is None else self._solver_for(tool)
        if seed.__class__ is not _ndarray and isinstance(seed, Mapping):
            seed = self.positions(seed)
        prepared = solver.prepared(key)
        if self._constrained:
            constrained = ConstrainedSolver(self, solver, T, seed, prepared, deadline)
            return constrained.solve(allow_approximate, max_solutions)
        if max_solutions == 1 and (nearest := prepared.nearest) is not None:
            result = nearest(T, seed)
            if result is not None:
                return result
        return solver.solve(T, seed, prepared, allow_approximate, max_solutions, deadline)

    def ik_batch(
        self,
        Ts: ArrayLike,
        seeds: ArrayLike | Mapping[str, float] | None = None,
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
        total_timeout: float | None = None,
        canceled: Callable[[], bool] | None = None,
    ) -> IkBatch:
        """Call ``ik`` for many targets, on all cores, with the same results.

        ``Ts`` are poses (m, 4, 4), or positions (m, 3) in mode "position"; ``seeds`` one for all
        (n,) or by name, one for each (m, n), or None; ``timeout`` is per target, ``total_timeout``
        for all [s]: those left have the status TIMEOUT; ``canceled`` ends it once it returns True.

        Raises:
            KinematicsError: An argument is invalid (it names the target), or CanceledError.
        """
        key = (
            mode, position_tolerance, orientation_tolerance, axis, tolerance_axes, weights, prefer
        )  # fmt: skip
        limits = BatchLimits(timeout, deadline_after(total_timeout), canceled)
        solver = self._solver_for(tool)
        seeds = self.positions(seeds) if isinstance(seeds, Mapping) else seeds
        prepared = solver.prepared(key)
        return BatchSolver(solver, Ts, seeds, prepared, allow_approximate, limits).run()

    def all_solutions(
        self,
        T: ArrayLike,
        seed: ArrayLike | Mapping[str, float] | None = None,
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
        """Find every solution that brings the tip to the pose T (4, 4), the preferred one first.

        A closed form, or elimination for six revolute joints, misses none, and each solution is
        exact. For seven revolute joints the solutions are postures spread over the self-motion;
        other arms get the different ones that a search finds. Without a solution, the result is
        that of ``ik``. Arguments are those of ``ik``, with these differences:

        - ``seed``: free joints stay there (at a singular pose, or the roll about the tool's axis);
          the others are moved by whole turns as near to it as the limits allow.
        - tolerances matter only if there is no exact solution: a solution within tolerance is then
          returned.
        - ``timeout`` limits a search, and a self-motion, of which the part found so far is
          returned; closed forms and elimination ignore it.
        - ``whole_turns``: return all variants by whole turns that the limits allow, not only the
          nearest one.

        Raises:
            KinematicsError: An argument is invalid, or there are too many whole turns.
        """
        key = (mode, position_tolerance, orientation_tolerance, axis, "target", weights, prefer)
        deadline = _NEVER if timeout is None else deadline_after(timeout)
        solver = self._solver if tool is None else self._solver_for(tool)
        if seed.__class__ is not _ndarray and isinstance(seed, Mapping):
            seed = self.positions(seed)
        prepared = solver.prepared(key)
        if self._constrained:
            constrained = ConstrainedSolver(self, solver, T, seed, prepared, deadline)
            return constrained.solve(allow_approximate, None, whole_turns)
        if not whole_turns and prepared.every is not None:
            result = prepared.every(T, seed)
            if result is not None:
                return result
        return solver.solve(T, seed, prepared, allow_approximate, None, deadline, whole_turns)

    def _solver_for(self, tool: ArrayLike | None) -> IkSolver:
        """Return the solver for a tool point (4, 4): tip <- point; None is the tip itself."""
        if tool is None:
            return self._solver
        motion = rigid_transform(tool, "tool")
        key = motion.tobytes()
        solver = self._by_tool.get(key)
        if solver is None:
            solver = IkSolver(self, self._model, motion)
            remember(self._by_tool, key, solver)
        return solver

    def _geared(self, q: ArrayLike) -> Array:
        """Return the positions of the screws at joint positions (n,), empty if they are none."""
        positions = row(q)
        if self.gearing and positions.shape == (self.n,):
            return self.gearing.positions(positions)
        return positions[:0]

    def _reject(self, q: object) -> NoReturn:
        raise KinematicsError(
            f"joint positions: expected {self.n} finite numbers in the order "
            f"{', '.join(self.joint_names)}, got {q!r}",
            what="q",
            value=q,
        )
