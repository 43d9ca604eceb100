# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What differs between two calibrations of a servo, as the keys of its file."""

from __future__ import annotations

import math
from dataclasses import replace

from arm_hardware.calibration import Servo
from arm_hardware.calibration_file import TO_SI

DECIMALS = 3  # of deg, mm and us: finer than any board, protractor or ruler


def unit_of(servo: Servo) -> str:
    """Return the unit of a servo's positions in its file: "deg" or "mm"."""
    return "deg" if servo.unit == "rad" else "mm"


def within_reach(servo: Servo) -> Servo:
    """Return the servo with limits no wider than its points and pulse limits reach."""
    if math.isinf(servo.limits[0]):
        return servo
    reach = servo.map(1.0)
    limits = max(servo.limits[0], reach.lower), min(servo.limits[1], reach.upper)
    return replace(servo, limits=limits)


def changed_keys(old: Servo, new: Servo) -> dict[str, str]:
    """Return the YAML text of each key in which a servo has changed."""
    unit = unit_of(old)
    si = TO_SI[unit]
    values: dict[str, str] = {}
    if new.zero != old.zero:
        values[f"zero_{unit}"] = number(new.zero / si)
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


def number(value: float) -> str:
    """Return a number of the file."""
    return f"{round(value, DECIMALS) + 0.0:.12g}"


def _pair(low: float, high: float) -> str:
    return f"[{number(low)}, {number(high)}]"
