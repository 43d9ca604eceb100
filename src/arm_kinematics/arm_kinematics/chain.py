# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A serial chain as a product of exponentials, from a DH model or from a URDF.

T(q) = exp([S1] q1) ... exp([Sn] qn) M (Brockett 1984; Lynch and Park, "Modern Robotics",
eq. 4.14). S and M are the one description of a chain here; what the compiled loops use is derived
from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics import kernels
from arm_kinematics.chain_parts import (
    ChainJoint,
    ChainLink,
    check_limits,
    checked_screws,
    parts_of_model,
)
from arm_kinematics.constants import arm_length, kernel_constants
from arm_kinematics.errors import KinematicsError
from arm_kinematics.inverse import Solver, deadline_after
from arm_kinematics.kernels_search import HEAD, SLOT
from arm_kinematics.lie import Array, adjoint, se3, se3_exp, transform
from arm_kinematics.result import IkResult, IkStatus
from arm_kinematics.warm_up import prepare_chains

if TYPE_CHECKING:  # a chain of a DH model needs no reader of URDF
    from arm_description.urdf import UrdfJoint, UrdfTree

# Looked up once, not at every call.
_contiguous, _empty, _zeros, _FLOAT = np.ascontiguousarray, np.empty, np.zeros, np.float64
_SUCCESS = IkStatus.SUCCESS


class Chain:
    """A serial chain from a base frame to a tip frame.

    All poses are (4, 4) in the base frame, lengths in metres, angles in radians. Methods may be
    called from several threads at once.

    Attributes:
        joint_names: Names of the moving joints, base to tip.
        n: Number of moving joints.
        S: (6, n) screw axes [v; w] in the base frame at q = 0; w is a unit vector (revolute) or
            zero with v a unit vector (prismatic).
        M: (4, 4) pose of the tip at q = 0.
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
    ) -> None:
        self.n = len(joints)
        self.S = _frozen(checked_screws(S, joints))
        self.M = _frozen(transform(M, "home pose"))
        self.base, self.tip = base, tip
        self.joint_names = tuple(j.name for j in joints)
        self.prismatic = tuple(j.prismatic for j in joints)
        self.lower = _frozen(np.array([j.lower for j in joints]))
        self.upper = _frozen(np.array([j.upper for j in joints]))
        self.velocity = _frozen(np.array([j.velocity for j in joints]))
        self.acceleration = _frozen(np.array([j.acceleration for j in joints]))
        self.links = tuple(links)
        check_limits(joints)
        prepare_chains()
        self._constants = kernel_constants(self.S, self.M, self.prismatic, self.lower, self.upper)
        self._solver = Solver(
            self._constants,
            self.joint_names,
            self.lower,
            self.upper,
            arm_length(self.S, self.M),
        )
        self._slots = HEAD + self.n + SLOT

    @classmethod
    def from_model(cls, model: Any) -> Chain:
        """Build the chain from base_link to tool0 of an arm_description RobotModel."""
        screws, M, joints, links = parts_of_model(model)
        return cls(screws, M, joints, links=links)

    @classmethod
    def from_urdf(cls, xml: str | UrdfTree, base: str = "base_link", tip: str = "tool0") -> Chain:
        """Build the chain between two links of a URDF; fixed joints are folded into it.

        Raises:
            UrdfError: The text is no URDF, a link is missing, or a joint on the way is planar,
                floating or mimics another one.
        """
        from arm_kinematics.urdf_path import path_without_mimics, read_tree

        return cls.from_path(path_without_mimics(read_tree(xml), base, tip), base, tip)

    @classmethod
    def from_path(cls, joints: Sequence[UrdfJoint], base: str, tip: str) -> Chain:
        """Build the chain of the joints of a URDF between two links, each moving on its own."""
        from arm_kinematics.urdf_path import parts_of_path

        screws, M, moving, links = parts_of_path(joints, base, tip)
        return cls(screws, M, moving, links=links, base=base, tip=tip)

    @property
    def middle(self) -> Array:
        """Joint positions (n,) in the middle of their ranges, 0 where there are no limits."""
        return self._solver.middle.copy()

    def fk(self, q: ArrayLike) -> Array:
        """Return the pose (4, 4) of the tip at joint positions q (n,) [rad or m]."""
        T = _empty((4, 4))
        if not kernels.fk(self._constants, _row(q), T):
            self._refuse(q)
        return T

    def jacobian(self, q: ArrayLike) -> Array:
        """Return the geometric Jacobian (6, n) at q.

        Rows: velocity of the tip's origin, then angular velocity, both along the base axes, per
        unit of joint speed.
        """
        J = _empty((6, self.n))
        if not kernels.jacobian(self._constants, _row(q), J):
            self._refuse(q)
        return J

    def space_jacobian(self, q: ArrayLike) -> Array:
        """Return the space Jacobian (6, n): column i is the screw i moved by the joints before it.

        It gives the twist [v; w] of the point of the tip that passes the base's origin (MR 5.1).
        """
        T = self.fk(q)
        return adjoint(se3(np.eye(3), T[:3, 3])) @ self.jacobian(q)

    def body_jacobian(self, q: ArrayLike) -> Array:
        """Return the body Jacobian (6, n): the tip's twist along the tip's own axes (MR 5.1)."""
        Rt = self.fk(q)[:3, :3].T
        J = self.jacobian(q)
        return np.vstack([Rt @ J[:3], Rt @ J[3:]])

    def link_poses(self, q: ArrayLike) -> dict[str, Array]:
        """Return the pose (4, 4) in the base frame of every link of the chain, by name."""
        positions = _row(q)
        if positions.shape != (self.n,) or not np.isfinite(positions).all():
            self._refuse(q)
        moved = [np.eye(4)]
        for screw, value in zip(self.S.T, positions, strict=True):
            moved.append(moved[-1] @ se3_exp(screw * value))
        return {link.name: moved[link.joints] @ link.home for link in self.links}

    def ik(
        self,
        T: ArrayLike,
        seed: ArrayLike | None = None,
        mode: str = "pose",
        position_tolerance: float = 1e-5,
        orientation_tolerance: float | Sequence[float] = 1e-4,
        allow_approximate: bool = False,
        max_solutions: int = 1,
        timeout: float | None = None,
    ) -> IkResult:
        """Find joint positions that bring the tip to the pose T (4, 4).

        Each error is weighed by one over its tolerance: what is tight is met, what is loose yields
        but is still made small. Equal input gives equal output.

        Args:
            T: Wanted pose of the tip in the base frame.
            seed: Where to start and what to stay near, (n,) [rad or m]; None is mid-range.
            mode: "pose", "position", or "position_axis" (position and the direction of the tip's
                z axis; the roll about it is free).
            position_tolerance: Largest accepted distance [m].
            orientation_tolerance: Largest accepted angle [rad]; in mode "pose" also three, one for
                each component of the rotation vector along the target's axes; inf leaves one free.
            allow_approximate: If out of reach, answer APPROXIMATE instead of the reason's status.
            max_solutions: How many different solutions to look for.
            timeout: Time allowed on a steady clock [s]; None is no limit.

        Returns:
            The result; its status says whether there is a solution.

        Raises:
            KinematicsError: An argument makes no sense.
        """
        solver = self._solver
        key = (mode, position_tolerance, orientation_tolerance)
        deadline = None if timeout is None else deadline_after(timeout)
        out = None
        if max_solutions == 1:
            out = _zeros(self._slots)
            if solver.quick(T, seed, key, out):
                return IkResult(_SUCCESS, out, self.n)
        return solver.solve(T, seed, key, allow_approximate, max_solutions, deadline, out)

    def positions(self, by_name: Mapping[str, float]) -> Array:
        """Return the joint positions (n,) picked by name; a missing name is an error."""
        try:
            return np.array([by_name[name] for name in self.joint_names], dtype=np.float64)
        except KeyError as missing:
            raise KinematicsError(
                f"no position given for joint {missing}; expected {', '.join(self.joint_names)}",
                what=str(missing.args[0]),
            ) from None

    def _refuse(self, q: object) -> NoReturn:
        raise KinematicsError(
            f"joint positions: expected {self.n} finite numbers in the order "
            f"{', '.join(self.joint_names)}, got {q!r}",
            what="q",
            value=q,
        )


def _row(q: ArrayLike) -> Array:
    """Return q as a contiguous row of numbers, empty if it is none."""
    try:
        row = _contiguous(q, _FLOAT)
    except (TypeError, ValueError):
        return np.empty(0)
    return row if row.ndim == 1 else np.empty(0)


def _frozen(array: Array) -> Array:
    array = np.array(array, dtype=np.float64)
    array.setflags(write=False)
    return array
