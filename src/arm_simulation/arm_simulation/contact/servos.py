# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/contact/test_world.py
"""Servos of a simulated arm: from the pulse of a channel to the torque of a joint.

A hobby servo measures its shaft, compares it with the last pulse, and drives its motor by the
error. Errors within the dead band and the play of the gears cause no torque. Torque limit, loss of
torque with speed, and dry friction are properties of the actuator and the joint (mjcf/robot.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from arm_description.model.gripper import Claw
from arm_tasks.planning.collision.mujoco_library import mujoco

from arm_simulation import SimulationError

STALL_CURRENT = 2.5  # [A] of a hobby servo of about 1 N m (MG996R at 6 V, data sheet)
IDLE_CURRENT = 0.01  # [A] of its electronics, the same source

PulseOf = Callable[[int], float]
"""Pulse of a channel [us], 0 if it sends none."""


class PulseMap(Protocol):
    """The calibrated map of a servo, such as arm_hardware's PointMap."""

    @property
    def channel(self) -> int:
        """Channel of the board."""
        ...

    def position_at(self, pulse_us: float, /) -> float:
        """Return the position of the axis [rad or m] at a pulse [us]."""
        ...


@dataclass(frozen=True)
class JawAngleMap:
    """The map of a claw's servo: to the angle of a jaw, where the calibrated one has the width."""

    width: PulseMap
    claw: Claw

    @property
    def channel(self) -> int:
        """Channel of the board."""
        return self.width.channel

    def position_at(self, pulse_us: float, /) -> float:
        """Return the angle of a jaw [rad] at a pulse [us]."""
        return self.claw.angle(self.width.position_at(pulse_us))


@dataclass(frozen=True)
class ServoErrors:
    """Errors of one servo; positions in rad or m of its axis."""

    dead_band: float = math.radians(0.45)  # full width; 5 us of 2000 us for 180 degrees
    play: float = math.radians(0.2)  # full play of the gears
    zero: float = 0.0  # actual minus calibrated position
    supply: float = 1.0  # share of the torque that the supply allows


class ServoBank:
    """The servos of one arm, driven by the pulses of a board alone."""

    def __init__(
        self,
        model: Any,
        maps: Mapping[str, PulseMap],
        length: float,
        errors: Mapping[str, ServoErrors] | None = None,
    ) -> None:
        """Connect servos to actuators.

        Args:
            model: compiled model, an MjModel with an actuator for each servo.
            maps: map of each servo by the name of its actuator.
            length: units of the model per metre.
            errors: errors of servos by name; others have those of a new servo.
        """
        self._model = model
        given = errors or {}
        names = [model.actuator(i).name for i in range(model.nu)]
        missing = [name for name in names if name not in maps]
        if missing:
            raise SimulationError(
                f"{missing[0]} has no servo", remedy="add it to the calibration file"
            )
        self._maps = [maps[name] for name in names]
        self._errors = [given.get(name, ServoErrors()) for name in names]
        slides = [slides_along(model, i) for i in range(model.nu)]
        self._scale = np.where(slides, length, 1.0)
        # the travel of a sliding axis is a quarter turn of its servo
        spans = np.ptp(model.actuator_ctrlrange, axis=1) / (math.pi / 2.0)
        per_error = np.where(slides, spans, 1.0)
        halves = np.array([(e.dead_band + e.play) / 2.0 for e in self._errors])
        self._half = halves * per_error
        self._zero = np.array([e.zero for e in self._errors]) * self._scale
        self._targets = np.full(model.nu, math.nan)
        self._stall = model.actuator_forcerange[:, 1].copy()  # units of the model
        self._damping = np.array([_damping_of(model, i) for i in range(model.nu)])
        for i, error in enumerate(self._errors):
            model.actuator_forcerange[i] *= error.supply

    def read_pulses(self, pulse_of: PulseOf) -> None:
        """Read the pulses, which arrive once a frame of the board."""
        for i, servo in enumerate(self._maps):
            pulse = pulse_of(servo.channel)
            target = servo.position_at(pulse) * self._scale[i] if pulse > 0.0 else math.nan
            self._targets[i] = target + self._zero[i]

    def apply(self, data: Any) -> None:
        """Set the controls of the next step: the error beyond dead band and play."""
        shift = -self._model.actuator_biasprm[:, 0] / self._model.actuator_gainprm[:, 0]
        position = data.actuator_length + shift
        error = self._targets - position
        pushed = np.sign(error) * np.maximum(np.abs(error) - self._half, 0.0)
        data.ctrl[:] = position + np.where(np.isnan(error), 0.0, pushed)

    def loads(self, data: Any) -> dict[str, float]:
        """Return the torque of each motor by the servo's name, as a share of the stall torque.

        It is the actuator's torque less the part that a motor loses with its speed, and 0 without
        pulses.
        """
        lost = self._damping * data.actuator_velocity
        shares = np.clip((data.actuator_force - lost) / self._stall, -1.0, 1.0)
        shares[np.isnan(self._targets)] = 0.0
        names = [self._model.actuator(i).name for i in range(self._model.nu)]
        return dict(zip(names, shares.tolist(), strict=True))

    def current(self, data: Any) -> float:
        """Return what all servos draw from their supply [A]; a motor's torque takes current."""
        loads = self.loads(data).values()
        return sum(IDLE_CURRENT + STALL_CURRENT * abs(load) for load in loads)


def _damping_of(model: Any, actuator: int) -> float:
    """Return the torque per speed that an actuator's motor loses."""
    target = int(model.actuator_trnid[actuator, 0])
    if not _drives_tendon(model, actuator):
        return float(model.dof_damping[model.jnt_dofadr[target]])
    own = float(model.tendon_damping[target])
    count = int(model.tendon_num[target])
    first = int(model.wrap_objid[model.tendon_adr[target]])
    # that of jaws is in their joints, each of which makes a part of the width
    return own or float(model.dof_damping[model.jnt_dofadr[first]]) / count


def slides_along(model: Any, actuator: int) -> bool:
    """Return whether an actuator drives a length: a sliding joint, or a tendon over some."""
    target = int(model.actuator_trnid[actuator, 0])
    if _drives_tendon(model, actuator):
        target = int(model.wrap_objid[model.tendon_adr[target]])
    return int(model.jnt_type[target]) == int(mujoco().mjtJoint.mjJNT_SLIDE)


def _drives_tendon(model: Any, actuator: int) -> bool:
    return int(model.actuator_trntype[actuator]) == int(mujoco().mjtTrn.mjTRN_TENDON)
