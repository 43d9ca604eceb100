# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the links of a chain are at given joint positions, and how they move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
from arm_common.transforms import Array, pose
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.search_model import SearchModel
from arm_kinematics.kernels import forward
from arm_kinematics.kernels.search import prepare_search
from arm_kinematics.lie import adjoint, se3_exp
from arm_kinematics.model.chain_model import ChainJoint, ChainLink, check_limits, checked_screws
from arm_kinematics.model.mimic_joints import MimicJoints

# Looked up once, not at every call.
_contiguous, _empty, _FLOAT, _NONE = np.ascontiguousarray, np.empty, np.float64, np.empty(0)


class ForwardKinematics:
    """A serial chain as a product of exponentials: poses and velocities, see ``Chain``."""

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
        check_limits(joints)
        self.n = len(joints)
        self.joint_names = tuple(j.name for j in joints)
        self.prismatic = tuple(j.prismatic for j in joints) if gearing is None else gearing.sliding
        names = self.joint_names if gearing is None else gearing.screw_names
        self.S = _frozen(checked_screws(S, self.prismatic, names))
        self.M = _frozen(rigid_transform(M, "home pose"))
        self.base, self.tip = base, tip
        self.lower = _frozen(np.array([j.lower for j in joints]))
        self.upper = _frozen(np.array([j.upper for j in joints]))
        self.velocity = _frozen(np.array([j.velocity for j in joints]))
        self.acceleration = _frozen(np.array([j.acceleration for j in joints]))
        self.links = tuple(links)
        self.gearing = gearing
        self._row = _row if gearing is None else self._geared_row
        prepare_search()
        self._model = SearchModel(
            self.S, self.M, self.prismatic, self.joint_names, (self.lower, self.upper), gearing
        )
        self._constants = self._model.constants

    def fk(self, q: ArrayLike) -> Array:
        """Return the pose (4, 4) of the tip at joint positions q (n,) [rad or m]."""
        T = _empty((4, 4))
        if not forward.fk(self._constants, self._row(q), T):
            self._refuse(q)
        return T

    def jacobian(self, q: ArrayLike) -> Array:
        """Return the geometric Jacobian (6, n) at q.

        Rows: velocity of the tip's origin, then angular velocity, both along the base axes, per
        unit of joint speed.
        """
        return self.fk_jacobian(q)[1]

    def fk_jacobian(self, q: ArrayLike) -> tuple[Array, Array]:
        """Return what ``fk`` and ``jacobian`` do, at the price of one."""
        T, J = _empty((4, 4)), _empty((6, self._model.size))
        if not forward.fk_jacobian(self._constants, self._row(q), T, J):
            self._refuse(q)
        return T, J if self.gearing is None else self.gearing.columns(J)

    def space_jacobian(self, q: ArrayLike) -> Array:
        """Return the space Jacobian (6, n): column i is the screw i moved by the joints before it.

        It gives the twist [v; w] of the point of the tip that passes the base's origin (MR 5.1).
        """
        T, J = self.fk_jacobian(q)
        return adjoint(pose(p=T[:3, 3])) @ J

    def body_jacobian(self, q: ArrayLike) -> Array:
        """Return the body Jacobian (6, n): the tip's twist along the tip's own axes (MR 5.1)."""
        T, J = self.fk_jacobian(q)
        return np.vstack([T[:3, :3].T @ J[:3], T[:3, :3].T @ J[3:]])

    def twist(self, q: ArrayLike, rates: ArrayLike) -> Array:
        """Return the tip's twist [v; w] (6,) along the base axes, at its origin [m/s], [rad/s].

        Args:
            q: Joint positions (n,) [rad or m].
            rates: Joint speeds (n,) [rad/s or m/s].
        """
        return np.asarray(self.jacobian(q) @ vector(rates, self.n, "rates"))

    def joint_rates(self, q: ArrayLike, twist: ArrayLike, damping: float = 0.0) -> Array:
        """Return the joint speeds (n,) that come nearest to a twist of the tip.

        Of several, the smallest. At singular postures damping keeps them bounded (Wampler, IEEE
        Trans. SMC 16(1), 1986): they minimise |J rates - twist|^2 + damping^2 |rates|^2.

        Args:
            q: Joint positions (n,) [rad or m].
            twist: [v; w] (6,) along the base axes, at the tip's origin [m/s], [rad/s].
            damping: 0 or more; about the smallest singular value that is still to be trusted.
        """
        wanted = vector(twist, 6, "twist")
        if not 0.0 <= damping < np.inf:
            raise KinematicsError(
                f"damping is {damping!r}; expected 0 or a positive number", what="damping"
            )
        J = self.jacobian(q)
        if damping == 0.0:
            return np.asarray(np.linalg.lstsq(J, wanted, rcond=1e-12)[0])
        # By the larger system and not J J', whose condition number is the square of J's.
        system = np.vstack([J, damping * np.eye(self.n)])
        return np.asarray(
            np.linalg.lstsq(system, np.concatenate([wanted, np.zeros(self.n)]), rcond=None)[0]
        )

    def link_poses(self, q: ArrayLike) -> dict[str, Array]:
        """Return the pose (4, 4) in the base frame of every link of the chain, by name."""
        positions = self._row(q)
        if positions.shape != self.S[0].shape or not np.isfinite(positions).all():
            self._refuse(q)
        moved = [np.eye(4)]
        for screw, value in zip(self.S.T, positions, strict=True):
            moved.append(moved[-1] @ se3_exp(screw * value))
        return {link.name: moved[link.joints] @ link.home for link in self.links}

    def positions(self, by_name: Mapping[str, float]) -> Array:
        """Return the joint positions (n,) picked by name; a missing name is an error."""
        try:
            return np.array([by_name[name] for name in self.joint_names], dtype=np.float64)
        except KeyError as missing:
            raise KinematicsError(
                f"no position given for joint {missing}; expected {', '.join(self.joint_names)}",
                what=str(missing.args[0]),
            ) from None

    def _geared_row(self, q: ArrayLike) -> Array:
        row = _row(q)
        return self.gearing.positions(row) if self.gearing and row.shape == (self.n,) else row[:0]

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
        return _NONE
    return row if row.ndim == 1 else _NONE


def _frozen(array: Array) -> Array:
    array = np.array(array, dtype=np.float64)
    array.setflags(write=False)
    return array
