# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The calibration of one physical arm: servo channels, and the pulse for each position."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from arm_common.files import share_folders
from arm_common.suggestions import did_you_mean

from arm_hardware.calibration.axes import Axes, Axis
from arm_hardware.calibration.servo_map import SLEW_US, PointMap, count_us
from arm_hardware.errors import CalibrationError

SAFE_PULSES_US = (400.0, 2600.0)  # tolerated by hobby servos; a file may set others


@dataclass(frozen=True)
class ServoBoard:
    """The servo board."""

    address: int = 0x40  # 7-bit I2C address
    frequency_hz: float = 50.0  # pulses per second
    reference_clock_hz: float = 25e6  # its oscillator

    @property
    def count_us(self) -> float:
        """Length of one count [us]."""
        return count_us(self.frequency_hz, self.reference_clock_hz)


@dataclass(frozen=True)
class ServoCalibration:
    """One servo as measured on its arm: servo position = sign * axis position + zero."""

    channel: int  # of the board
    unit: str  # "rad" or "m", of its axis and of every position here
    # pairs of servo position and pulse [us], positions increasing
    points: tuple[tuple[float, float], ...]
    pulse_limits_us: tuple[float, float]  # (least, most) pulse that may ever be sent
    sign: int = 1  # 1 or -1
    zero: float = 0.0  # servo position where the axis is at 0
    # (lower, upper) of the axis, infinite if the file has none
    limits: tuple[float, float] = (-math.inf, math.inf)
    speed: float = math.inf  # of the servo [unit/s], infinite if the file has none
    calibrated: date | None = None  # day of its measurement, None if it was never measured

    def map(self, count_us: float) -> PointMap:
        """Return the map from axis positions to counts of this length [us]."""
        placed = sorted((self.sign * (place - self.zero), pulse) for place, pulse in self.points)
        positions, pulses = zip(*placed, strict=True)
        slew_us = SLEW_US
        if math.isfinite(self.speed):
            slope = (pulses[-1] - pulses[0]) / (positions[-1] - positions[0])
            slew_us = self.speed * abs(slope)
        return PointMap(self.channel, positions, pulses, self.pulse_limits_us, count_us, slew_us)


@dataclass(frozen=True)
class Calibration:
    """The content of a calibration file."""

    path: Path  # the file
    example: bool  # invented for simulation; real hardware is not armed with it
    robot: str  # name of the robot description that it belongs to
    board: ServoBoard  # the servo board
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
        """Return a map for each axis; raise CalibrationError for a missing or wrong entry."""
        names = [axis.name for axis in axes]
        unknown = sorted(set(self.servos) - set(names))
        if unknown:
            raise CalibrationError(
                f"'{unknown[0]}' is not a joint of this robot",
                file=str(self.path),
                remedy=did_you_mean(unknown[0], names),
            )
        return tuple(self._servo(axis).map(self.board.count_us) for axis in axes)

    def narrowed(self, axes: Axes) -> Axes:
        """Return the axes limited to what their servos can reach; errors as in maps()."""
        narrow = [
            axis.narrowed(max(m.lower, s.limits[0]), min(m.upper, s.limits[1]), s.speed)
            for axis, m, s in zip(axes, self.maps(axes), map(self._servo, axes), strict=True)
        ]
        n = len(axes.arm)
        return Axes(tuple(narrow[:n]), narrow[n] if axes.gripper else None, axes.fingers)

    def _servo(self, axis: Axis) -> ServoCalibration:
        servo = self.servos.get(axis.name)
        if servo is None:
            raise CalibrationError(
                f"'{axis.name}' has no entry; a servo without calibration is not driven",
                file=str(self.path),
            )
        if servo.unit != axis.unit:
            wanted = "points_deg_us" if axis.unit == "rad" else "points_mm_us"
            raise CalibrationError(f"this axis needs {wanted}", file=str(self.path), key=axis.name)
        return servo


def calibration_path(name: str, robot: str, folder: Path) -> Path:
    """Return the path of a calibration file, or raise CalibrationError.

    ``name`` is a path, the stem of a shipped file in ``folder``, or empty for the file shipped
    for the robot.
    """
    if name and Path(name).is_file():
        return Path(name)
    found = folder / f"{name or f'{robot}_servos'}.yaml"
    if found.is_file():
        return found
    shipped = ", ".join(sorted(p.stem for p in folder.glob("*_servos.yaml"))) or "none"
    what = f"'{name}'" if name else f"for robot '{robot}'"
    raise CalibrationError(f"There is no calibration {what}; give a path, or one of: {shipped}")


def config_folder() -> Path:
    """Return the folder of shipped calibrations, in the source tree or under share/."""
    folders = [share / "config" for share in share_folders("arm_hardware")]
    return next(filter(Path.is_dir, folders), folders[0])
