# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whether the actuators are strong enough for a motion, and what would help if not."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array
from arm_description.model.elements import Payload
from arm_description.robot_model import RobotModel
from arm_kinematics.dexterity.loads import ActuatorLoads

from arm_kinematics import Chain
from arm_tasks.planning.plan import PlannedStep, PlannedTrajectory
from arm_tasks.planning.world_model import PlannedWorldState
from arm_tasks.task.request import TorqueLimits

_POINTS = 25  # of a motion at which torques are computed
_SLOWEST = 0.05  # pace below which a motion is refused instead of slowed
_A_LITTLE_LESS = 0.999  # so that rounding does not exceed the limit


@dataclass(frozen=True)
class TorqueUse:
    """The largest share of an actuator's torque in a motion."""

    share: float
    joint: str  # that the actuator moves
    advice: str = ""  # the least changes that help if the share is too large, a clause


class TorqueCheck:
    """Torques of an arm's actuators along motions, as shares of their limits."""

    def __init__(self, model: RobotModel, chain: Chain, limits: TorqueLimits) -> None:
        self.limits, self._chain = limits, chain
        self._loads = ActuatorLoads.of_model(model, chain)
        self._has_mass = self._loads.known and chain.bodies.mass > 0.0
        self._are_estimated = not model.masses
        # motion, payload, and its shares: they are asked for three times
        self._last: tuple[PlannedTrajectory, Payload | None, tuple[Array, Array]] | None = None

    def holding(self, q: Array, payload: Payload | None) -> TorqueUse:
        """Return the use at rest at q (n,)."""
        if not self._has_mass:
            return TorqueUse(0.0, "")
        shares = np.abs(self._loads.holding(q[None], payload)[0])
        return TorqueUse(float(shares.max()), self._loads.names[int(shares.argmax())])

    def slowed(self, motion: PlannedTrajectory, payload: Payload | None) -> PlannedTrajectory:
        """Return the motion, slower if its accelerations alone ask for too much torque.

        At a share s of the pace, the torques of motion are those times s^2; gravity's stay.
        """
        if not self._has_mass:
            return motion
        q, shares = self._shares(motion, payload)
        still, limit = self._loads.holding(q, payload), self.limits.refusal
        if np.abs(shares).max() <= limit or np.abs(still).max() >= limit:
            return motion
        more = shares - still
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(more != 0.0, (limit - np.sign(more) * still) / np.abs(more), np.inf)
        pace = _A_LITTLE_LESS * math.sqrt(float(room.min()))
        times, velocities = motion.times / pace, motion.velocities * pace
        return replace(motion, times=times, velocities=velocities) if pace > _SLOWEST else motion

    def moving(self, motion: PlannedTrajectory, payload: Payload | None) -> TorqueUse:
        """Return the use of a motion, with advice if it is refused."""
        if not self._has_mass:
            return TorqueUse(0.0, "")
        q, shares = self._shares(motion, payload)
        i, k = np.unravel_index(int(np.abs(shares).argmax()), shares.shape)
        share, joint = float(abs(shares[i, k])), self._loads.names[k]
        if share <= self.limits.refusal:
            return TorqueUse(share, joint)
        return TorqueUse(share, joint, self._advice(q, share, payload))

    def _shares(self, motion: PlannedTrajectory, payload: Payload | None) -> tuple[Array, Array]:
        if self._last is None or self._last[0] is not motion or self._last[1] != payload:
            self._last = motion, payload, self._computed(motion, payload)
        return self._last[2]

    def _computed(self, motion: PlannedTrajectory, payload: Payload | None) -> tuple[Array, Array]:
        """Return postures (k, n) of a motion and the shares (k, m) there.

        With fewer than two distinct times, the shares are those at rest.
        """
        times, distinct = np.unique(motion.times, return_index=True)
        positions, velocities = motion.positions[distinct], motion.velocities[distinct]
        if len(times) < 2:
            return positions, self._loads.holding(positions, payload)
        some = np.unique(np.linspace(0, len(times) - 1, _POINTS).round().astype(int))
        rates = np.gradient(velocities, times, axis=0)[some]
        q, speeds = positions[some], velocities[some]
        rows = zip(q, speeds, rates, strict=True)
        torques = [self._chain.inverse_dynamics(*row, payload) for row in rows]
        return q, self._loads.shares(q, np.array(torques))

    def refusal(self, use: TorqueUse) -> str:
        """Return why a motion is refused, a clause; "" if it is not."""
        if use.share <= self.limits.refusal:
            return ""
        most = f"the limit is {_percent(self.limits.refusal)}"
        return f"{_needs(use.share, use.joint)}, {most}: {use.advice}"

    def _advice(self, q: Array, share: float, payload: Payload | None) -> str:
        """Return the least changes that help: a lighter payload, or a stronger servo."""
        limit, advice = self.limits.refusal, []
        if payload is not None:
            own = self._loads.holding(q, None)
            per = (self._loads.holding(q, payload) - own) / payload.mass
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.where(per != 0.0, (limit - np.sign(per) * own) / np.abs(per), np.inf)
            grams = math.floor(1e3 * float(most.min()))
            if grams > 0 and np.abs(own).max() < limit:
                advice.append(f"carry at most {grams} g instead of {1e3 * payload.mass:.0f} g")
        advice.append(f"fit a servo with {math.ceil(100.0 * share / limit)} % of its torque")
        if self._are_estimated:
            advice.append("weigh the links: the masses are estimated, as the robot file has none")
        return ", or ".join(advice)


def carried_load(world: PlannedWorldState) -> Payload | None:
    """Return what the jaws carry as a load of the tool, None if nothing that has a mass."""
    if world.carried is None:
        return None
    mass, (x, y, z) = world.scene.object(world.carried.name).mass, world.carried.grasp[:3, 3]
    return Payload(mass, (float(x), float(y), float(z))) if mass else None


def torque_warnings(steps: Iterable[PlannedStep], limits: TorqueLimits) -> list[str]:
    """Return a warning for each joint whose actuator is loaded too much for long use."""
    worst: dict[str, PlannedStep] = {}
    for step in steps:
        report = step.report
        known = worst.get(report.torque_joint)
        if report.torque_share > max(limits.warning, known.report.torque_share if known else 0.0):
            worst[report.torque_joint] = step
    return [
        f"{step.label}: {_needs(step.report.torque_share, joint)}; "
        f"above {_percent(limits.warning)} it may get hot and sag"
        for joint, step in worst.items()
    ]


def _needs(share: float, joint: str) -> str:
    return f"the servo of {joint} needs {_percent(share)} of its torque"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
