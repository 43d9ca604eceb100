# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/wizard/test_session.py
"""Changes calibration files: collects measured values, shows the difference, keeps a backup."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from arm_common.errors import InputError, number_text
from arm_common.files.saving import save_edit
from arm_common.yaml.editing import with_values

from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import Calibration, ServoCalibration
from arm_hardware.calibration.file import (
    STIFFNESS,
    STIFFNESS_SI,
    TO_SI,
    Wires,
    file_unit,
    monotonic,
    parse_calibration,
)
from arm_hardware.errors import CalibrationError

DECIMALS = 3  # of deg, mm and us: finer than any board or measuring tool


@dataclass(frozen=True)
class CalibrationChange:
    """A proposed change to a calibration file."""

    path: Path
    old: bytes | None  # the text that was read; None if it did not exist yet
    new: bytes
    calibration: Calibration  # parsed from the new text

    def diff(self) -> str:
        """Return the change as a unified diff, empty if there is none."""
        old, new = (
            data.decode("utf-8-sig").splitlines(True) for data in (self.old or b"", self.new)
        )
        name = str(self.path)
        return "".join(difflib.unified_diff(old, new, name, f"{name} (new)", n=1))

    def write(self) -> Path | None:
        """Save the file; return the path of the former one, None if the file is new."""
        try:
            return save_edit(self.new, self.path, self.old, numbered=True)
        except InputError as error:
            raise CalibrationError(error.problem, file=error.file, remedy=error.remedy) from None


def change(
    path: Path, text: bytes, values: Mapping[str, Mapping[str, str]], read: bytes | None
) -> CalibrationChange:
    """Return a file with keys of its servos set, or raise CalibrationError if it is invalid.

    ``values`` holds YAML text by servo name and key; ``text`` is that of the file or of a new one;
    ``read`` is what the file contained when it was read, None without a file.
    Once every servo has its day of calibration, the file is no longer an example.
    """
    new = text
    for name, keys in values.items():
        section = (GRIPPER,) if name == GRIPPER else ("joints", name)
        new = with_values(new, section, keys)
    calibration = parse_calibration(new, path)
    if calibration.example and calibration.oldest is not None:
        new = with_values(new, (), {"example": "false"})
        calibration = parse_calibration(new, path)
    return CalibrationChange(path, read, new, calibration)


def read_bytes(path: Path) -> bytes:
    """Return the text of a calibration file, or raise CalibrationError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CalibrationError(f"cannot be read ({error.strerror})", file=str(path)) from None


def within_reach(servo: ServoCalibration) -> ServoCalibration:
    """Return the servo with limits reduced to what its points and pulse limits reach."""
    if math.isinf(servo.limits[0]):
        return servo
    reach = servo.map(1.0)
    limits = max(servo.limits[0], reach.lower), min(servo.limits[1], reach.upper)
    return replace(servo, limits=limits)


def changed_keys(old: ServoCalibration, new: ServoCalibration, wires: Wires) -> dict[str, str]:
    """Return the YAML text of each key whose value differs between two servos."""
    unit = file_unit(old)
    si = TO_SI[unit]
    values: dict[str, str] = {}
    if new.channel != old.channel:
        values[wires.channel] = str(new.channel)
    if new.zero != old.zero:
        values[f"zero_{unit}"] = _number(new.zero / si)
    if new.points != old.points:
        pairs = ", ".join(_pair(place / si, us) for place, us in new.points)
        values[f"points_{unit}_{wires.setpoint}"] = f"[{pairs}]"
    if new.setpoint_limits != old.setpoint_limits:
        values[wires.limits] = _pair(*new.setpoint_limits)
    if new.limits != old.limits:
        lower, upper = (value / si * 10**DECIMALS for value in new.limits)
        inside = math.ceil(lower - 1e-6), math.floor(upper + 1e-6)
        values[f"limits_{unit}"] = _pair(*(value / 10**DECIMALS for value in inside))
    if new.stiffness != old.stiffness:
        values[STIFFNESS[unit]] = f"{new.stiffness / STIFFNESS_SI[unit]:.4g}"
    if new.calibrated and new.calibrated != old.calibrated:
        values["calibrated"] = new.calibrated.isoformat()
    return values


def _number(value: float) -> str:
    return number_text(value, 12, DECIMALS)


def _pair(low: float, high: float) -> str:
    return f"[{_number(low)}, {_number(high)}]"


class MeasuredPoint(NamedTuple):
    """Positions of a joint and of its servo [deg or mm], and the setpoint there."""

    joint: float
    place: float
    setpoint: float


class CalibrationDraft:
    """New points and pulse limits of a servo; positions in deg or mm."""

    def __init__(self, servo: ServoCalibration, wires: Wires) -> None:
        self.servo = servo  # as in the file
        self._wires = wires
        self.unit = file_unit(servo)
        self._si = TO_SI[self.unit]
        # Position of the servo -> setpoint, in order of measurement.
        self.points: dict[float, float] = {}
        self.channel = servo.channel
        # New (least, most) setpoint, None if not set.
        self.clamp: list[float | None] = [None, None]
        self.compliances: list[float] = []  # readings of 1 / stiffness [rad/(N m) or m/N]

    def point(self, joint: float, position: float, setpoint: float) -> MeasuredPoint:
        """Return a point measured at a joint's and at its actuator's position, not yet added.

        Raises:
            ValueError: It contradicts the other points.
        """
        place = round(self.servo.sign * position + self.servo.zero / self._si, DECIMALS)
        setpoint = round(setpoint, DECIMALS)
        points = dict(sorted({**self.points, place: setpoint}.items()))
        if not monotonic(list(points.values())):
            raise ValueError(
                "with the other points, pulses would neither rise nor fall throughout"
            )
        return MeasuredPoint(joint, place, setpoint)

    def add(self, point: MeasuredPoint) -> None:
        """Add a measured point as the last one."""
        self.points.pop(point.place, None)
        self.points[point.place] = point.setpoint

    def keep_file_points(self) -> None:
        """Add the file's points to the new ones."""
        old = {round(place / self._si, DECIMALS): us for place, us in self.servo.points}
        self.points = {**old, **self.points}

    def undo(self) -> None:
        """Remove the last point."""
        if self.points:
            self.points.popitem()

    def joint_position(self, place: float) -> float:
        """Return the joint position at a servo position."""
        return self.servo.sign * (place - self.servo.zero / self._si)

    def result(self, today: date) -> ServoCalibration:
        """Return the updated servo; the old points remain until there are two new ones."""
        servo, old = replace(self.servo, channel=self.channel), self.servo.setpoint_limits
        if len(self.points) >= 2:
            rows = tuple(sorted((place * self._si, us) for place, us in self.points.items()))
            servo = replace(servo, points=rows, calibrated=today)
            old = min(self.points.values()), max(self.points.values())
        least, most = self.clamp
        clamp = (old[0] if least is None else least, old[1] if most is None else most)
        if self.compliances:
            servo = replace(servo, stiffness=len(self.compliances) / sum(self.compliances))
        return within_reach(replace(servo, setpoint_limits=clamp))

    def values(self, today: date) -> Mapping[str, str]:
        """Return the keys of the file that change, as YAML."""
        return changed_keys(self.servo, self.result(today), self._wires)
