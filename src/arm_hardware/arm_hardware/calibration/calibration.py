# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The calibration of one physical arm: servo channels or ids, and setpoints of positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from arm_common.suggestions import did_you_mean

from arm_hardware.bus.wiring import SerialBus, ServoBoard
from arm_hardware.calibration.axes import GRIPPER, Axes, Axis
from arm_hardware.calibration.servo_map import SLEW_US, JawMap, PointMap
from arm_hardware.errors import CalibrationError

if TYPE_CHECKING:
    from arm_description.model.gripper import Claw


MEASURED, LIMITED = "your measured points", "the servo file"  # whose limits hold
SAFE_PULSES_US = (400.0, 2600.0)  # tolerated by hobby servos; a file may set others


@dataclass(frozen=True)
class ServoCalibration:
    """One servo as measured on its arm: servo position = sign * axis position + zero."""

    channel: int  # of the board, or the servo's id
    unit: str  # "rad" or "m", of every position here; "rad" for a claw
    # pairs of servo position and setpoint (pulse [us], or count of a bus), positions increasing
    points: tuple[tuple[float, float], ...]
    setpoint_limits: tuple[float, float]  # (least, most) ever sent
    sign: int = 1  # 1 or -1
    zero: float = 0.0  # servo position where the axis is at 0
    # (lower, upper) of the axis, infinite if the file has none
    limits: tuple[float, float] = (-math.inf, math.inf)
    speed: float = math.inf  # of the servo [unit/s], infinite if the file has none
    calibrated: date | None = None  # day of its measurement, None if it was never measured
    homing_offset: int | None = None  # in the memory of a smart servo, None for any
    # load per deflection [N m/rad or N/m], infinite if it was not measured
    stiffness: float = math.inf

    def map(self, setpoint_per_count: float, claw: Claw | None = None) -> PointMap:
        """Return the map from axis positions to counts of a board or a bus.

        The axis of a claw is its width, the positions here are angles of its jaws.
        """
        placed = sorted(
            (self.sign * (place - self.zero), setpoint) for place, setpoint in self.points
        )
        positions, setpoints = zip(*placed, strict=True)
        slew = SLEW_US
        if math.isfinite(self.speed):
            slope = (setpoints[-1] - setpoints[0]) / (positions[-1] - positions[0])
            slew = self.speed * abs(slope)
        values = (
            self.channel,
            positions,
            setpoints,
            self.setpoint_limits,
            setpoint_per_count,
            slew,
        )
        return JawMap(*values, claw=claw) if claw else PointMap(*values)

    def reach(self, claw: Claw | None = None) -> tuple[tuple[float, float], float]:
        """Return limits and speed of the axis [unit, unit/s], for a claw of its width."""
        if claw is None:
            return self.limits, self.speed
        lower, upper = (min(max(x, claw.closed), claw.open) for x in self.limits)
        slowest = min(map(claw.slope, (claw.closed, claw.open)))  # metres a radian
        return (claw.width(lower), claw.width(upper)), self.speed * slowest


@dataclass(frozen=True)
class Calibration:
    """The content of a calibration file."""

    path: Path  # the file
    example: bool  # invented for simulation; real hardware is not armed with it
    robot: str  # name of the robot description that it belongs to
    board: ServoBoard | SerialBus  # what its servos are connected to
    servos: Mapping[str, ServoCalibration]  # by joint name, and "gripper"
    # (least, most) allowed as setpoint_limits of any servo
    safe_setpoints: tuple[float, float] = SAFE_PULSES_US

    @property
    def oldest(self) -> date | None:
        """The day of the oldest measurement, None if a servo was never measured."""
        days = [servo.calibrated for servo in self.servos.values()]
        known = [day for day in days if day is not None]
        return min(known) if known and len(known) == len(days) else None

    def maps(self, axes: Axes) -> tuple[PointMap, ...]:
        """Return a map for each actuator; raise CalibrationError for a missing or wrong entry."""
        names = [axis.name for axis in axes.actuators]
        unknown = sorted(set(self.servos) - set(names))
        if unknown:
            raise CalibrationError(
                f"'{unknown[0]}' is not {'a joint' if axes.coupling is None else 'an actuator'} "
                "of this robot",
                file=str(self.path),
                remedy=did_you_mean(unknown[0], names),
            )
        return tuple(
            self._servo(a, axes).map(self.board.setpoint_per_count, axes.claw(a))
            for a in axes.actuators
        )

    def stiffness(self, axes: Axes) -> list[float]:
        """Return the stiffness of the servos of the joints [N m/rad or N/m], inf if unknown."""
        servos = [axis for axis in axes.actuators if axis.name != GRIPPER]
        return [self._servo(axis, axes).stiffness for axis in servos]

    def narrowed(self, axes: Axes) -> Axes:
        """Return the axes limited to what their servos can reach; errors as in maps()."""
        narrow = []
        for axis, points in zip(axes.actuators, self.maps(axes), strict=True):
            limits, speed = self._servo(axis, axes).reach(axes.claw(axis))
            reach = max(points.lower, limits[0]), min(points.upper, limits[1])
            whose = LIMITED if reach == limits else MEASURED
            narrow.append(axis.narrowed(*reach, speed, whose))
        driven = axes.driven_by(narrow)
        for axis in (*driven.actuators, *driven.arm):
            if axis.lower > axis.upper:
                raise CalibrationError(
                    "points, pulse limits and limits of its servos have no position in common "
                    "with its limits in the robot description",
                    str(self.path),
                    key=axis.name,
                    remedy="check sign and zero, and measure again",
                )
        return driven

    def _servo(self, axis: Axis, axes: Axes) -> ServoCalibration:
        servo = self.servos.get(axis.name)
        if servo is None:
            raise CalibrationError(
                f"'{axis.name}' has no entry; a servo without calibration is not driven",
                file=str(self.path),
            )
        unit = "rad" if axes.claw(axis) else axis.unit
        if servo.unit != unit:
            per = "us" if isinstance(self.board, ServoBoard) else "counts"
            wanted = f"points_{'deg' if unit == 'rad' else 'mm'}_{per}"
            raise CalibrationError(f"this axis needs {wanted}", file=str(self.path), key=axis.name)
        return servo
