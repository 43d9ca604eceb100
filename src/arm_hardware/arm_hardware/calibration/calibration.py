# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/test_file.py
"""The calibration of one physical arm: servo channels or ids, and setpoints of positions.

Its servos drive the axes of a robot description within narrower limits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from arm_common.suggestions import did_you_mean
from arm_description.model.elements import ActuatorLimits, mimic_names
from arm_description.model.transmissions.transmission import (
    Drivetrain,
    SeveralActuatorsTransmission,
)
from arm_description.robot_model import RobotModel

from arm_hardware.bus.interface import SerialBus, ServoBoard
from arm_hardware.calibration.axes import (
    GRIPPER,
    UNITS,
    Axes,
    Axis,
    Coupling,
    DependentAxis,
    narrowed_by_actuators,
    written,
)
from arm_hardware.calibration.servo_map import SLEW_US, JawMap, PointMap, ServoMap, resolution
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
                    file=str(self.path),
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


def _coupling_of(model: RobotModel) -> Coupling | None:
    """Return the coupling of a robot description, None if it has none."""
    drivetrain = Drivetrain.of(model)
    if drivetrain.is_identity and not model.constraints:
        return None
    units = {joint.name: UNITS[joint.type] for joint in model.joints}
    actuators = tuple(
        Axis(
            name, units[t.joints[0]], limit.lower, limit.upper, limit.velocity, limit.acceleration
        )
        for name, (t, _) in drivetrain.drives().items()
        for limit in (t.limits,)
    )
    own = tuple(joint.constraint for joint in model.joints if joint.constraint)
    return Coupling(drivetrain, actuators, model.constraint_set, own)


def _dependents_of(model: RobotModel) -> tuple[DependentAxis, ...]:
    return tuple(
        DependentAxis(name, leader, ratio)
        for joint in model.dependents
        for name, (leader, ratio) in zip(
            mimic_names(joint.name, joint.terms), joint.terms, strict=True
        )
    )


def axes_of(model: RobotModel) -> Axes:
    """Return the axes of a robot description."""
    arm = tuple(
        Axis(j.name, UNITS[j.type], j.lower, j.upper, j.velocity, j.acceleration)
        for j in model.joints
    )
    coupling = _coupling_of(model)
    if coupling is not None:
        arm, coupling = narrowed_by_actuators(arm, coupling, "the linkage allows")
    grip, dependents = model.gripper, _dependents_of(model)
    if grip is None:
        return Axes(arm, coupling=coupling, dependents=dependents)
    width = Axis(GRIPPER, "m", grip.min_width, grip.max_width, grip.velocity, grip.acceleration)
    return Axes(arm, width, grip, coupling, dependents)


def driven_axes(
    model: RobotModel, calibration: Calibration | None, dt: float
) -> tuple[Axes, tuple[ServoMap, ...]]:
    """Return the axes as a driver with ticks of dt [s] moves them, and a map for each servo.

    Without a calibration, as of fake hardware, the limits are those of the robot description.

    Raises:
        CalibrationError: The calibration does not suit the robot.
    """
    axes = axes_of(model)
    if calibration is None:
        return axes, ()
    maps = calibration.maps(axes)
    return kept_together(calibration.narrowed(axes), maps, dt), maps


def driven_model(model: RobotModel, axes: Axes) -> RobotModel:
    """Return the robot with the limits of its axes, which those of its servos narrow."""
    gripper, coupling = axes.gripper, axes.coupling
    return model.limited(
        {axis.name: _limits(axis) for axis in axes.arm},
        {axis.name: _limits(axis) for axis in coupling.actuators} if coupling else None,
        None if gripper is None else _limits(gripper),
    )


def _limits(axis: Axis) -> ActuatorLimits:
    return ActuatorLimits(axis.lower, axis.upper, axis.velocity, axis.acceleration)


def kept_together(axes: Axes, maps: Sequence[ServoMap], dt: float) -> Axes:
    """Return axes on which several servos move at most their allowed difference in a tick.

    The bus may be lost when one of them has moved by a tick of dt [s] and its partner has not.

    Raises:
        CalibrationError: Servos are allowed to differ by less than a count.
    """
    if axes.coupling is None:
        return axes
    actuators = list(axes.actuators)
    for i, (transmission, _) in enumerate(axes.coupling.drivetrain.drives().values()):
        if not isinstance(transmission, SeveralActuatorsTransmission):
            continue
        allowed, count = transmission.allowed_difference, resolution(maps[i], None)
        if allowed <= count:
            raise CalibrationError(
                f"{transmission.joints[0]}: its servos may differ by "
                f"{written(allowed, actuators[i])}, no more than one count of "
                f"{actuators[i].name}, {written(count, actuators[i])}",
                remedy="set a larger allowed_difference in the robot file",
            )
        speed = (allowed - count) / dt
        actuators[i] = actuators[i].narrowed(-math.inf, math.inf, speed)
    return axes.driven_by(actuators)
