# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Torques and inertia of a chain whose links have masses."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import NoReturn

import numpy as np
from arm_common.transforms import Array
from arm_description.errors import UrdfError
from arm_description.model.elements import Payload
from arm_description.urdf.bodies import Bodies
from numpy.typing import ArrayLike

from arm_kinematics.arguments import floats, frozen, joint_positions, require, row, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels import compiled

_LOGGER = logging.getLogger(__name__)
GRAVITY = frozen(np.array([0.0, 0.0, -9.81]))
"""Acceleration of free fall along the axes of the base [m/s^2]."""


@lru_cache(maxsize=1024)
def _log_once(doubt: str) -> None:
    _LOGGER.warning("%s; torques and inertia_matrix are wrong with it", doubt)


class RigidBodyDynamics:
    """The dynamics of a chain with rigid links; its base is at rest.

    Torques are those of the joints, [N m], or forces [N] of prismatic ones. A mimic joint's
    torque is added to its leader's. Friction and the motors' own inertia are not part of it.
    ``payload`` is a load carried by the tip: a mass [kg] at its origin, or a Payload; ``gravity``
    is the acceleration of free fall (3,) in the base frame [m/s^2]: how the arm is mounted.
    """

    n: int
    joint_names: tuple[str, ...]
    _find_bodies: Callable[[], Bodies] | None
    _loaded: tuple[Payload, Array] | None = None  # the last payload, and the table with it

    @cached_property
    def bodies(self) -> Bodies:
        """The bodies that the joints move.

        Raises:
            KinematicsError: The chain was made without masses, or the URDF's are invalid.
        """
        if self._find_bodies is None:
            raise KinematicsError(
                "a chain of screws has no masses; make it from a model or a URDF", what="bodies"
            )
        try:
            bodies = self._find_bodies()
            for doubt in bodies.doubts:
                _log_once(doubt)
            return bodies
        except UrdfError as error:
            raise KinematicsError(str(error), what="urdf") from None

    def gravity_torques(
        self,
        q: ArrayLike,
        payload: Payload | float | None = None,
        gravity: ArrayLike = GRAVITY,
    ) -> Array:
        """Return the torques (n,) that hold the arm at rest at q (n,); or (m, n) at q (m, n).

        Raises:
            KinematicsError: An argument is invalid, or nothing has a mass.
        """
        table, g, rows = self._table(payload), _gravity(gravity), floats(q)
        if rows is None or rows.ndim not in (1, 2):
            self._refuse(q=q)
        postures = rows if rows.ndim == 2 else rows[None]
        tau = np.empty((len(postures), self.n))
        still = np.zeros(postures.shape)
        if not compiled.inverse_dynamics(table, postures, still, still, g, tau):
            self._refuse(q=q)
        return tau if rows.ndim == 2 else tau[0]

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        payload: Payload | float | None = None,
        gravity: ArrayLike = GRAVITY,
    ) -> Array:
        """Return the torques (n,) of a motion: at q, with speeds qd and accelerations qdd (n,).

        Raises:
            KinematicsError: An argument is invalid, or nothing has a mass.
        """
        tau, table, g = np.empty((1, self.n)), self._table(payload), _gravity(gravity)
        a, b, c = (row(values)[None] for values in (q, qd, qdd))
        if not compiled.inverse_dynamics(table, a, b, c, g, tau):
            self._refuse(q=q, qd=qd, qdd=qdd)
        return np.asarray(tau[0])

    def inertia_matrix(self, q: ArrayLike, payload: Payload | float | None = None) -> Array:
        """Return the joint-space inertia (n, n) at q: torque per acceleration, symmetric.

        Raises:
            KinematicsError: An argument is invalid, or nothing has a mass.
        """
        n, table = self.n, self._table(payload)
        M, still, units = np.empty((n, n)), np.zeros((n, n)), np.eye(n)
        postures = np.tile(row(q), (n, 1))
        if not compiled.inverse_dynamics(table, postures, still, units, np.zeros(3), M):
            self._refuse(q=q)
        return np.asarray(0.5 * (M + M.T))

    def _table(self, payload: Payload | float | None) -> Array:
        """Return the table of bodies with the payload."""
        bodies = self.bodies
        load = None if payload is None else checked_payload(payload)
        if not bodies.mass + (load.mass if load else 0.0) > 0.0:
            raise KinematicsError(
                "no link that the joints move has a mass; give the links of the URDF <inertial>",
                what="mass",
            )
        if load is None:
            return bodies.table
        last = self._loaded
        if last is None or last[0] != load:
            self._loaded = last = load, bodies.with_payload(load)
        return last[1]

    def _refuse(self, **rows: ArrayLike) -> NoReturn:
        for what, values in rows.items():
            array = floats(values)
            for one in array if array is not None and array.ndim >= 2 else [values]:
                joint_positions(one, self.joint_names, what)
        raise KinematicsError(
            f"{', '.join(rows)}: expected {self.n} finite numbers below 1e100 in one row", what="q"
        )


def _gravity(gravity: ArrayLike) -> Array:
    return GRAVITY if gravity is GRAVITY else vector(gravity, 3, "gravity")


@lru_cache(maxsize=256)
def checked_payload(payload: Payload | float) -> Payload:
    """Return a load as a Payload, a number [kg] as a point; raise KinematicsError if invalid."""
    try:
        load = (
            payload if isinstance(payload, Payload) else Payload(float(payload), (0.0, 0.0, 0.0))
        )
    except (TypeError, ValueError):
        load = Payload(math.nan, (0.0, 0.0, 0.0))
    numbers = (load.mass, *load.centre, *(load.size or ()))
    valid = all(map(math.isfinite, numbers)) and load.mass >= 0.0
    require(valid, "payload", payload, "a mass of 0 kg or more, or a Payload")
    return load
