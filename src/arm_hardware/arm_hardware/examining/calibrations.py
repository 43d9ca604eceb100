# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Calibration files: readable, measured, and not too long ago."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from arm_hardware.calibration import Calibration
from arm_hardware.calibration_file import load_calibration
from arm_hardware.errors import CalibrationError
from arm_hardware.examining.finding import Finding

OLD = 365  # [days] gears wear, horns slip, servos are replaced


def calibration(path: Path, must_be_real: bool, today: date) -> tuple[Finding, Calibration | None]:
    """Look at a file; return what it says too, None if it cannot be read.

    Args:
        path: The file.
        must_be_real: Whether real servos are to be driven with it.
        today: Today.
    """
    what = f"calibration {path.name}"
    try:
        read = load_calibration(path)
    except CalibrationError as error:
        return Finding(what, False, str(error).rstrip("."), "correct the file"), None
    servos = f"{len(read.servos)} servos"
    if read.example:
        fix = "ros2 run arm_hardware calibrate" if must_be_real else ""
        return Finding(what, not must_be_real, f"{servos}, an example, for sim only", fix), read
    return _aged(what, servos, read, today), read


def _aged(what: str, servos: str, read: Calibration, today: date) -> Finding:
    undated = [name for name, servo in read.servos.items() if servo.calibrated is None]
    if undated or read.oldest is None:
        return Finding(
            what,
            False,
            f"{servos}, without a day of calibration: {', '.join(undated)}",
            "ros2 run arm_hardware calibrate, or write `calibrated: DATE` at these",
            needed=False,
        )
    ahead = [n for n, s in read.servos.items() if s.calibrated and s.calibrated > today]
    if ahead:
        fix = "set the computer's clock, or correct the date"
        return Finding(what, False, f"{servos}, measured in the future: {', '.join(ahead)}", fix)
    days = (today - read.oldest).days
    detail = f"{servos}, the oldest measured {days} days ago"
    if days > OLD:
        return Finding(what, False, detail, "ros2 run arm_hardware verify", needed=False)
    return Finding(what, True, detail)
