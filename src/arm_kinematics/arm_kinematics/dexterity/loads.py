# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What gravity asks of the actuators of an arm, and what the arm can carry.

The torque limit of an actuator is the ``effort`` of the joint that it moves, seen through its
transmission. The actuators' torques do the same work as those of the joints: with the Jacobian J
of the actuators by the joints, tau = J' a (Siciliano et al., "Robotics", 2009, 3.8 and 5.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import SLACK
from arm_description.model.elements import Payload
from arm_description.model.transmissions.transmission import Drivetrain
from numpy.typing import ArrayLike

from arm_kinematics.arguments import positive
from arm_kinematics.chain.chain import Chain
from arm_kinematics.chain.rigid_body import GRAVITY
from arm_kinematics.dexterity.conditioning import finite_limits, halton_points, postures_inside

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

_POSTURES = 2048  # tried before the best ones are improved
_STARTS = 4
_FINEST = 1e-4  # of a joint's range: the last step of the search
_GAIN = 1e-6  # relative gain for which a step is made
_STEPS = 200


@dataclass(frozen=True)
class HeaviestPosture:
    """The posture in which gravity loads an actuator most."""

    actuator: str  # the joint that it moves
    q: Array  # joint positions (n,) [rad or m]
    torque: float  # of the actuator [N m or N]
    share: float  # of its limit; 0 if that is unknown


def not_checked(joints: Sequence[str]) -> str:
    """Return a sentence, without its full stop, about joints without a limit; "" if none is."""
    remedy = "give limits.effort or servo in the robot file"
    return f"Not checked: no effort for {', '.join(joints)} ({remedy})" if joints else ""


class ActuatorLoads:
    """Torques of actuators as shares of their limits.

    Attributes:
        names: for each of the m actuators, the joint or joints that it moves.
        known: whether any limit is known.
    """

    def __init__(self, chain: Chain, drivetrain: Drivetrain | None = None) -> None:
        """Prepare the loads of a chain; without a drivetrain, each joint has its own actuator."""
        self.chain, self._drives = chain, drivetrain or Drivetrain(chain.joint_names, ())
        parts = [t for t in self._drives.transmissions for _ in t.actuators]
        self.names = tuple(" and ".join(t.joints) for t in parts)
        self.known = bool(np.isfinite(chain.effort).any())
        place = {name: i for i, name in enumerate(chain.joint_names)}
        # which joints an actuator is there for, and which actuators help it, as masks
        self._own = np.zeros((len(parts), chain.n))
        for k, t in enumerate(parts):
            self._own[k, [place[name] for name in t.joints]] = 1.0
        self._together = np.array([[float(a is b) for b in parts] for a in parts])

    @classmethod
    def of_model(cls, model: RobotModel, chain: Chain | None = None) -> ActuatorLoads:
        """Return the loads of an arm with its transmissions."""
        return cls(chain or Chain.from_model(model), Drivetrain.of(model))

    def torques(self, q: Array, tau: Array) -> Array:
        """Return the actuators' torques (k, m) for those of the joints (k, n) at q (k, n).

        Several actuators on one joint share its torque evenly.
        """
        back = np.linalg.pinv(self._jacobian(q))
        return np.asarray((tau[:, None, :] @ back)[:, 0])

    def shares(self, q: Array, tau: Array) -> Array:
        """Return the torques as shares (k, m) of the limits, signed; 0 where one is unknown."""
        J = np.abs(self._jacobian(q)) * self._own
        per_limit = np.where(J > 0.0, (self._together @ J) / self.chain.effort, 0.0).max(axis=-1)
        return np.asarray(self.torques(q, tau) * per_limit)

    def holding(
        self, q: Array, payload: Payload | float | None = None, gravity: ArrayLike = GRAVITY
    ) -> Array:
        """Return the shares (k, m) that hold the arm at rest at postures q (k, n)."""
        return self.shares(q, self.chain.gravity_torques(q, payload, gravity))

    def payload_capacity(
        self, q: ArrayLike, share: float = 1.0, gravity: ArrayLike = GRAVITY
    ) -> Array:
        """Return the largest mass at the tip (k,) [kg] that can be held at postures q (k, n).

        0 where the arm does not bear its own weight, inf where nothing limits it. ``share`` is
        the part of the limits that may be used.
        """
        positive(share, "share")
        rows = np.atleast_2d(np.asarray(q, dtype=np.float64))
        own = self.holding(rows, 0.0 if self.chain.bodies.mass else 1e-12, gravity)
        per_kg = self.holding(rows, 1.0, gravity) - own
        with np.errstate(divide="ignore", invalid="ignore"):
            most = (share - np.sign(per_kg) * own) / np.abs(per_kg)
        most = np.where(np.abs(per_kg) > 1e-12, most, np.inf).min(axis=1)
        return np.asarray(np.where((np.abs(own) > share).any(axis=1), 0.0, most.clip(0.0)))

    def by_load(
        self, q: ArrayLike, payload: Payload | float | None = None, gravity: ArrayLike = GRAVITY
    ) -> Array:
        """Return postures (k, n), such as all solutions for a pose, the least loaded first.

        What counts is the actuator with the largest share of its limit; where no limit is known,
        the one with the largest torque.
        """
        rows = np.atleast_2d(np.asarray(q, dtype=np.float64))
        tau = self.chain.gravity_torques(rows, payload, gravity)
        loads = self.shares(rows, tau) if self.known else self.torques(rows, tau)
        return rows[np.argsort(np.abs(loads).max(axis=1), kind="stable")]

    def least_capacity(self, share: float = 1.0) -> tuple[float, Array]:
        """Return the largest mass [kg] that can be held in every posture, and the worst one (n,).

        The postures are those inside the joint limits; collisions are not looked at.
        """
        q = self._search(lambda rows: -self.payload_capacity(rows, share))
        return float(self.payload_capacity(q, share)[0]), q

    def heaviest_postures(self, payload: Payload | float | None = None) -> list[HeaviestPosture]:
        """Return, for each actuator, the posture inside the limits that loads it most."""
        found = []
        for k, name in enumerate(self.names):

            def torque_of(rows: Array, k: int = k) -> Array:
                torques = self.torques(rows, self.chain.gravity_torques(rows, payload))
                return np.abs(torques[:, k])

            q = self._search(torque_of)
            torque = float(torque_of(q[None])[0])
            share = float(abs(self.holding(q[None], payload)[0, k]))
            found.append(HeaviestPosture(name, q, torque, share))
        return found

    @cached_property
    def _postures(self) -> Array:
        """Evenly spread postures (k, n) inside the limits."""
        lower, upper = finite_limits(self.chain)
        spread = halton_points(lower, upper, _POSTURES)
        ends = [lower, upper, self.chain.middle]
        return postures_inside(self.chain, np.vstack([ends, spread]))

    def _jacobian(self, q: Array) -> Array:
        """Return the derivatives of the actuators by the joints, (k, m, n), (1, m, n) if fixed."""
        return self._drives.jacobian(q[:1] if self._drives.is_linear else q)

    def _search(self, value: Callable[[Array], Array]) -> Array:
        """Return the posture (n,) inside the limits with the largest value found."""
        postures, (lower, upper) = self._postures, finite_limits(self.chain)
        best = np.argsort(-value(postures), kind="stable")[:_STARTS]
        climbed = np.array([self._climb(value, postures[i], lower, upper) for i in best])
        return np.asarray(climbed[int(np.argmax(value(climbed)))])

    def _climb(
        self, value: Callable[[Array], Array], q: Array, lower: Array, upper: Array
    ) -> Array:
        """Return the local maximum of a value near q (n,), by steps of one joint at a time."""
        step, now = 0.1, float(value(q[None])[0])
        axes = np.vstack([np.diag(upper - lower), -np.diag(upper - lower)])
        for _ in range(_STEPS):
            if step < _FINEST:
                break
            tried = np.clip(q + step * axes, lower, upper)
            if self.chain.constraints:
                tried = tried[self.chain.constraints.violation(tried) <= SLACK]
            values = value(tried) if len(tried) else np.array([-np.inf])
            if values.max() > now + _GAIN * abs(now):
                q, now = tried[int(np.argmax(values))], float(values.max())
            else:
                step *= 0.5
        return q
