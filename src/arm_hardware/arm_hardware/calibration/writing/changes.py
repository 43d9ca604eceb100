# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Changes calibration files: shows the difference and keeps a backup."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from arm_common.errors import InputError
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
    parse_calibration,
)
from arm_hardware.errors import CalibrationError


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
            raise CalibrationError(error.problem, error.file, remedy=error.remedy) from None


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
        raise CalibrationError(f"cannot be read ({error.strerror})", str(path)) from None


DECIMALS = 3  # of deg, mm and us: finer than any board or measuring tool


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
    return f"{round(value, DECIMALS) + 0.0:.12g}"


def _pair(low: float, high: float) -> str:
    return f"[{_number(low)}, {_number(high)}]"
