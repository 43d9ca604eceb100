# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The sentences that refuse a position or a speed."""

from __future__ import annotations

import math

from arm_hardware.axes import Axis
from arm_hardware.errors import INVALID_GOAL, CommandError

LIMIT_TOLERANCE = 1e-6  # [rad or m] rounding at a position limit


def check_position(axis: Axis, value: float, where: str = "") -> None:
    """Refuse a position that is not finite or outside of the axis' limits.

    Args:
        axis: Its limits.
        value: Position [rad or m].
        where: Said after the number.

    Raises:
        CommandError: With the amount beyond the limit.
    """
    if not math.isfinite(value):
        raise CommandError(f"{axis.name}: the position{where} is {value}.", joint=axis.name)
    beyond = max(value - axis.upper, axis.lower - value)
    if beyond > LIMIT_TOLERANCE:
        raise CommandError(
            f"{axis.name}: {value:.4g} {axis.unit}{where} is {beyond:.3g} {axis.unit} outside of "
            f"its limits {axis.lower:.4g} to {axis.upper:.4g} {axis.unit}.",
            INVALID_GOAL,
            axis.name,
            beyond,
        )


def check_speed(axis: Axis, speed: float, margin: float, where: str) -> None:
    """Refuse a speed above the axis' limit.

    Args:
        axis: Its limits.
        speed: Not negative [rad/s or m/s].
        margin: Factor on the limit that is let pass: rounding by planners.
        where: Said after the number.

    Raises:
        CommandError: With the amount above the limit.
    """
    if speed > margin * axis.velocity:
        raise CommandError(
            f"{axis.name}: {speed:.4g} {axis.unit}/s {where} is faster than its limit "
            f"{axis.velocity:.4g} {axis.unit}/s; allow more time.",
            INVALID_GOAL,
            axis.name,
            speed - axis.velocity,
        )
