# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Changes calibration files: shows the difference and keeps the previous file as a backup."""

from __future__ import annotations

import difflib
import itertools
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from arm_common.files import write_bytes
from arm_common.yaml.editing import with_values

from arm_description import DescriptionError
from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import Calibration, ServoCalibration
from arm_hardware.calibration.file import TO_SI, parse_calibration
from arm_hardware.errors import CalibrationError


@dataclass(frozen=True)
class CalibrationChange:
    """A proposed change to a calibration file."""

    path: Path
    old: bytes  # its text; empty if it does not exist yet
    new: bytes
    calibration: Calibration  # parsed from the new text

    def diff(self) -> str:
        """Return the change as a unified diff, empty if there is none."""
        old, new = (data.decode("utf-8-sig").splitlines(True) for data in (self.old, self.new))
        name = str(self.path)
        return "".join(difflib.unified_diff(old, new, name, f"{name} (new)", n=1))

    def write(self) -> Path | None:
        """Write the file atomically; return the path of the backup, None if the file is new."""
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
    """Return a file with keys of its servos set, or raise CalibrationError if it is invalid.

    ``values`` holds YAML text by servo name and key; ``text`` is that of the file or of a new one.
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


DECIMALS = 3  # of deg, mm and us: finer than any board or measuring tool


def file_unit(servo: ServoCalibration) -> str:
    """Return the unit of a servo's positions in its file: "deg" or "mm"."""
    return "deg" if servo.unit == "rad" else "mm"


def within_reach(servo: ServoCalibration) -> ServoCalibration:
    """Return the servo with limits reduced to what its points and pulse limits reach."""
    if math.isinf(servo.limits[0]):
        return servo
    reach = servo.map(1.0)
    limits = max(servo.limits[0], reach.lower), min(servo.limits[1], reach.upper)
    return replace(servo, limits=limits)


def changed_keys(old: ServoCalibration, new: ServoCalibration) -> dict[str, str]:
    """Return the YAML text of each key whose value differs between two servos."""
    unit = file_unit(old)
    si = TO_SI[unit]
    values: dict[str, str] = {}
    if new.channel != old.channel:
        values["channel"] = str(new.channel)
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
