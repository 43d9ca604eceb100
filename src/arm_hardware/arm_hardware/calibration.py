# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The calibration of one physical arm: which servo, which pulse for which position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arm_hardware.axes import Axes, Axis
from arm_hardware.errors import CalibrationError
from arm_hardware.servo_map import PointMap, count_us


@dataclass(frozen=True)
class Board:
    """The servo board.

    Attributes:
        address: 7-bit I2C address.
        frequency_hz: Pulses per second.
        reference_clock_hz: Its oscillator.
    """

    address: int = 0x40
    frequency_hz: float = 50.0
    reference_clock_hz: float = 25e6

    @property
    def count_us(self) -> float:
        """Length of one count [us]."""
        return count_us(self.frequency_hz, self.reference_clock_hz)


@dataclass(frozen=True)
class Servo:
    """One servo: channel, calibrated points in SI units, and the pulses that may be sent [us]."""

    channel: int
    unit: str
    points: tuple[tuple[float, float], ...]
    pulse_limits_us: tuple[float, float]


@dataclass(frozen=True)
class Calibration:
    """A file's content.

    Attributes:
        path: The file.
        example: Made up for the simulation; real hardware is not armed with it.
        robot: Name of the robot description that it belongs to.
        board: The servo board.
        servos: By joint name, and "gripper".
    """

    path: Path
    example: bool
    robot: str
    board: Board
    servos: Mapping[str, Servo]

    def maps(self, axes: Axes) -> tuple[PointMap, ...]:
        """Return a map for each axis of ``axes.all``.

        Raises:
            CalibrationError: An axis has no entry, or one of the wrong unit.
        """
        unknown = sorted(set(self.servos) - {axis.name for axis in axes})
        if unknown:
            raise CalibrationError(f"'{unknown[0]}' is not a joint of this robot", str(self.path))
        return tuple(self._map(axis) for axis in axes)

    def _map(self, axis: Axis) -> PointMap:
        servo = self.servos.get(axis.name)
        if servo is None:
            raise CalibrationError(
                f"'{axis.name}' has no entry; a servo without calibration is not driven",
                str(self.path),
            )
        if servo.unit != axis.unit:
            wanted = "points_deg_us" if axis.unit == "rad" else "points_mm_us"
            raise CalibrationError(f"this axis needs {wanted}", str(self.path), key=axis.name)
        positions, pulses = zip(*servo.points, strict=True)
        return PointMap(
            servo.channel, positions, pulses, servo.pulse_limits_us, self.board.count_us
        )


def calibration_path(name: str, robot: str, folder: Path) -> Path:
    """Return the file of a calibration.

    Args:
        name: Path of a file, name of a shipped one, or empty for the shipped one of the robot.
        robot: Name of the robot.
        folder: Where the shipped ones are.

    Raises:
        CalibrationError: There is none.
    """
    if name and Path(name).is_file():
        return Path(name)
    for stem in (name,) if name else (f"{robot}_servos",):
        if (folder / f"{stem}.yaml").is_file():
            return folder / f"{stem}.yaml"
    shipped = ", ".join(sorted(p.stem for p in folder.glob("*.yaml"))) or "none"
    what = f"'{name}'" if name else f"for robot '{robot}'"
    raise CalibrationError(f"There is no calibration {what}; give a path, or one of: {shipped}")
