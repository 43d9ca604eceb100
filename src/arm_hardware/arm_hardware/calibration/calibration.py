# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The calibration of one physical arm: servo channels or ids, and the pulse for each position."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from arm_common.files.access import share_folders
from arm_common.suggestions import did_you_mean

from arm_hardware.calibration.axes import GRIPPER, Axes, Axis
from arm_hardware.calibration.servo_map import SLEW_US, JawMap, PointMap, count_us
from arm_hardware.errors import CalibrationError

if TYPE_CHECKING:
    from arm_description.model.gripper import Claw


BACKENDS = ("servokit", "i2c_dev")  # Adafruit's library; the kernel's interface alone
FEETECH = "feetech"  # the backend of servos that answer
MEASURED, LIMITED = "your measured points", "the servo file"  # whose limits hold
SAFE_PULSES_US = (400.0, 2600.0)  # tolerated by hobby servos; a file may set others


@dataclass(frozen=True)
class ServoBoard:
    """The servo board."""

    address: int = 0x40  # 7-bit I2C address
    frequency_hz: float = 50.0  # pulses per second
    reference_clock_hz: float = 25e6  # its oscillator

    @property
    def pulse_per_count(self) -> float:
        """Length of one count [us]."""
        return count_us(self.frequency_hz, self.reference_clock_hz)


@dataclass(frozen=True)
class BusServo:
    """A servo on a serial bus."""

    name: str  # of its joint
    homing_offset: int | None = None  # that its memory must have [counts], None for any
    counts: tuple[int, int] | None = None  # least and greatest that it will be sent, if known
    torque: float = 0.0  # that holds the arm in the worst posture, 0 if unknown [N m]
    acceleration: float = 0.0  # at which its joint may be moved, 0 if unknown [counts/s^2]


@dataclass(frozen=True)
class SerialBus:
    """A serial bus of servos that answer; their counts stand where a board has pulses in us."""

    port: str  # device node
    baud_rate: int = 1_000_000
    servos: Mapping[int, BusServo] = field(default_factory=dict)  # by id
    calibration: str = ""  # path of the file, "" if there is none
    pulse_per_count: float = field(default=1.0, init=False)  # its pulses are counts


@dataclass(frozen=True)
class ServoCalibration:
    """One servo as measured on its arm: servo position = sign * axis position + zero."""

    channel: int  # of the board, or the servo's id
    unit: str  # "rad" or "m", of every position here; "rad" for a claw
    # pairs of servo position and pulse [us, or counts of a bus], positions increasing
    points: tuple[tuple[float, float], ...]
    pulse_limits: tuple[float, float]  # (least, most) pulse, or count of a bus, ever sent
    sign: int = 1  # 1 or -1
    zero: float = 0.0  # servo position where the axis is at 0
    # (lower, upper) of the axis, infinite if the file has none
    limits: tuple[float, float] = (-math.inf, math.inf)
    speed: float = math.inf  # of the servo [unit/s], infinite if the file has none
    calibrated: date | None = None  # day of its measurement, None if it was never measured
    homing_offset: int | None = None  # in the memory of a servo that answers, None for any
    # load per deflection [N m/rad or N/m], infinite if it was not measured
    stiffness: float = math.inf

    def map(self, pulse_per_count: float, claw: Claw | None = None) -> PointMap:
        """Return the map from axis positions to counts of a board or a bus.

        The axis of a claw is its width, the positions here are angles of its jaws.
        """
        placed = sorted((self.sign * (place - self.zero), pulse) for place, pulse in self.points)
        positions, pulses = zip(*placed, strict=True)
        slew_us = SLEW_US
        if math.isfinite(self.speed):
            slope = (pulses[-1] - pulses[0]) / (positions[-1] - positions[0])
            slew_us = self.speed * abs(slope)
        values = (self.channel, positions, pulses, self.pulse_limits, pulse_per_count, slew_us)
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
    # (least, most) allowed as pulse limits of any servo
    safe_pulses_us: tuple[float, float] = SAFE_PULSES_US

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
            self._servo(a, axes).map(self.board.pulse_per_count, axes.claw(a))
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
            pulse = "us" if isinstance(self.board, ServoBoard) else "counts"
            wanted = f"points_{'deg' if unit == 'rad' else 'mm'}_{pulse}"
            raise CalibrationError(f"this axis needs {wanted}", file=str(self.path), key=axis.name)
        return servo


def calibration_path(name: str, robot: str, folder: Path) -> Path:
    """Return the path of a calibration file, or raise CalibrationError.

    ``name`` is a path, the stem of a shipped file in ``folder``, or empty for the file shipped
    for the robot.
    """
    if name and Path(name).is_file():
        return Path(name)
    found = folder / f"{name}.yaml" if name else own_calibration(robot, folder)
    if found.is_file():
        return found
    shipped = ", ".join(sorted(p.stem for p in folder.glob("*_servos.yaml"))) or "none"
    what = f"'{name}'" if name else f"for robot '{robot}'"
    raise CalibrationError(f"There is no calibration {what}; give a path, or one of: {shipped}")


def own_calibration(robot: str, folder: Path) -> Path:
    """Return the path of the calibration shipped for a robot, if there is one."""
    return folder / f"{robot}_servos.yaml"


def config_folder() -> Path:
    """Return the folder of shipped calibrations, in the source tree or under share/."""
    folders = [share / "config" for share in share_folders("arm_hardware")]
    return next(filter(Path.is_dir, folders), folders[0])
