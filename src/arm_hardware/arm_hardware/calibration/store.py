# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Changes to calibration files: their difference, and the previous file kept as a backup."""

from __future__ import annotations

import difflib
import itertools
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from arm_common.atomic_file import write_bytes
from arm_common.yaml.editing import with_values

from arm_description import DescriptionError
from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import Calibration, ServoCalibration
from arm_hardware.calibration.file import TO_SI, parse_calibration
from arm_hardware.errors import CalibrationError


@dataclass(frozen=True)
class CalibrationChange:
    """A calibration file as it would be."""

    path: Path
    old: bytes  # its text; empty if it does not exist yet
    new: bytes
    calibration: Calibration  # what the new text means

    def diff(self) -> str:
        """Return what changes, as a unified diff; empty if nothing does."""
        old, new = (data.decode("utf-8-sig").splitlines(True) for data in (self.old, self.new))
        name = str(self.path)
        return "".join(difflib.unified_diff(old, new, name, f"{name} (new)", n=1))

    def write(self) -> Path | None:
        """Write the file whole or not at all; return the backup, None if there was no file."""
        backup = None
        try:
            if self.path.exists():
                backup = _free_backup(self.path)
                shutil.copy2(self.path, backup)
            write_bytes(self.new, str(self.path))
        except OSError as error:
            raise CalibrationError(
                f"no backup can be written beside it ({error.strerror})",
                str(self.path),
                remedy="copy the file to a folder of yours",
            ) from None
        except DescriptionError as error:
            raise CalibrationError(error.problem, error.file, remedy=error.remedy) from None
        return backup


def change(path: Path, text: bytes, values: Mapping[str, Mapping[str, str]]) -> CalibrationChange:
    """Return a file with keys of its servos set, or raise CalibrationError if it would be wrong.

    The values are YAML text by servo name and key; the text is that of the file, or of a new one.
    A file in which every servo then has its day of calibration is no example any more.
    """
    new = text
    for name, keys in values.items():
        section = (GRIPPER,) if name == GRIPPER else ("joints", name)
        new = with_values(new, section, keys)
    calibration = parse_calibration(new, path)
    if calibration.example and calibration.oldest is not None:
        new = with_values(new, (), {"example": "false"})
        calibration = parse_calibration(new, path)
    old = path.read_bytes() if path.exists() else b""
    return CalibrationChange(path, old, new, calibration)


def read_bytes(path: Path) -> bytes:
    """Return the text of a calibration file, or raise CalibrationError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CalibrationError(f"cannot be read ({error.strerror})", str(path)) from None


def _free_backup(path: Path) -> Path:
    """Return the first of ``<file>.1.bak``, ``<file>.2.bak``, ... that does not exist."""
    backups = (path.with_name(f"{path.name}.{number}.bak") for number in itertools.count(1))
    return next(backup for backup in backups if not backup.exists())


DECIMALS = 3  # of deg, mm and us: finer than any board, protractor or ruler


def unit_of(servo: ServoCalibration) -> str:
    """Return the unit of a servo's positions in its file: "deg" or "mm"."""
    return "deg" if servo.unit == "rad" else "mm"


def within_reach(servo: ServoCalibration) -> ServoCalibration:
    """Return the servo with limits no wider than its points and pulse limits reach."""
    if math.isinf(servo.limits[0]):
        return servo
    reach = servo.map(1.0)
    limits = max(servo.limits[0], reach.lower), min(servo.limits[1], reach.upper)
    return replace(servo, limits=limits)


def changed_keys(old: ServoCalibration, new: ServoCalibration) -> dict[str, str]:
    """Return the YAML text of each key in which a servo has changed."""
    unit = unit_of(old)
    si = TO_SI[unit]
    values: dict[str, str] = {}
    if new.zero != old.zero:
        values[f"zero_{unit}"] = _number(new.zero / si)
    if new.points != old.points:
        pairs = ", ".join(_pair(place / si, us) for place, us in new.points)
        values[f"points_{unit}_us"] = f"[{pairs}]"
    if new.pulse_limits_us != old.pulse_limits_us:
        values["pulse_limits_us"] = _pair(*new.pulse_limits_us)
    if new.limits != old.limits:
        lower, upper = (value / si * 10**DECIMALS for value in new.limits)
        inside = math.ceil(lower - 1e-6), math.floor(upper + 1e-6)
        values[f"limits_{unit}"] = _pair(*(value / 10**DECIMALS for value in inside))
    if new.calibrated and new.calibrated != old.calibrated:
        values["calibrated"] = new.calibrated.isoformat()
    return values


def _number(value: float) -> str:
    return f"{round(value, DECIMALS) + 0.0:.12g}"


def _pair(low: float, high: float) -> str:
    return f"[{_number(low)}, {_number(high)}]"
