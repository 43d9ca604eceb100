# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Mode and tolerances -> the array of options that the compiled search uses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from arm_kinematics.errors import KinematicsError
from arm_kinematics.jit import HAVE_NUMBA
from arm_kinematics.kernels_error import (
    AIM,
    AXIS_ONLY,
    BOX,
    ENOUGH,
    METRES,
    NOTHING,
    OPTIONS,
    POSITION,
    RADIANS,
    ROTATION,
    STARTS,
    TOOL,
    TURN,
    WHAT,
)
from arm_kinematics.lie import Array

_LEVER = 0.2
"""A turn of one radian counts like a way of this share of the arm's length."""
_AIM = 1e-2
"""Share of the tolerances that a descent goes on to: the last step squares the error anyway."""
_TIGHT = 1e-2
"""Tolerances below this [rad, or the length that amounts to it] leave nothing to yield."""
MODES = ("pose", "position", "position_axis")
_STARTS_A_CALL = 8 if HAVE_NUMBA else 1


def options(
    mode: str,
    position_tolerance: float,
    orientation_tolerance: float | Sequence[float],
    length: float,
) -> Array:
    """Return the options (see kernels_error.py) of a mode with its tolerances [m], [rad].

    Errors weigh one over their tolerances, so that what is loose yields to what is tight. Where
    all are tight nothing has to yield: then lengths and angles are weighed as the arm's length
    suggests, which finds solutions faster, on arms of any size.

    Raises:
        KinematicsError: Unknown mode; a tolerance that is not positive; three where one is meant.
    """
    if mode not in MODES:
        raise KinematicsError(
            f"mode is {mode!r}; expected one of {', '.join(MODES)}", what="mode", value=mode
        )
    turns = _turns(orientation_tolerance)
    opt = np.zeros(OPTIONS)
    tolerance = _positive(position_tolerance, "position_tolerance", math.isfinite)
    opt[POSITION] = opt[METRES] = 1.0 / tolerance
    opt[TOOL + 2] = 1.0
    opt[AIM] = _AIM
    opt[STARTS] = _STARTS_A_CALL
    if mode == "position" or all(math.isinf(t) for t in turns):
        opt[WHAT] = NOTHING
    elif mode == "position_axis":
        if len(turns) != 1:
            raise KinematicsError(
                "orientation_tolerance: mode position_axis takes one angle, not three",
                what="orientation_tolerance",
                value=orientation_tolerance,
            )
        _axis_only(opt, 2, turns[0])
    elif len(turns) == 1:
        opt[WHAT] = ROTATION
        opt[TURN : TURN + 3] = 1.0 / turns[0]
    else:
        _box(opt, turns)
    opt[RADIANS : RADIANS + 3] = opt[TURN : TURN + 3]
    _balance(opt, tolerance, min(turns), _LEVER * length)
    return opt


def _balance(opt: Array, position: float, turn: float, radian: float) -> None:
    """Weigh a length like the angle it amounts to, if the tolerances of both are tight."""
    if opt[WHAT] != NOTHING and position < _TIGHT * radian and turn < _TIGHT:
        opt[POSITION] = 1.0 / (radian * turn)
    within = (opt[POSITION] * position) ** 2
    within += sum((opt[TURN + k] / opt[RADIANS + k]) ** 2 for k in range(3) if opt[RADIANS + k])
    opt[ENOUGH] = 0.5 * within * (1.0 + 1e-9)


def _box(opt: Array, turns: tuple[float, ...]) -> None:
    """Three tolerances: if one is free and the others agree, only a direction counts."""
    free = [k for k in range(3) if math.isinf(turns[k])]
    bound = [t for t in turns if math.isfinite(t)]
    if len(free) == 1 and bound[0] == bound[1]:
        _axis_only(opt, free[0], bound[0])
        return
    opt[WHAT] = ROTATION
    opt[BOX] = 1.0
    opt[TURN : TURN + 3] = [1.0 / t for t in turns]


def _axis_only(opt: Array, axis: int, tolerance: float) -> None:
    opt[WHAT] = AXIS_ONLY
    opt[TURN : TURN + 3] = 1.0 / tolerance
    opt[TOOL : TOOL + 3] = 0.0
    opt[TOOL + axis] = 1.0


def _turns(tolerance: Any) -> tuple[float, ...]:
    values = tolerance if np.ndim(tolerance) == 1 else (tolerance,)
    if len(values) not in (1, 3):
        raise KinematicsError(
            f"orientation_tolerance: expected one angle or three, got {len(values)}",
            what="orientation_tolerance",
            value=tolerance,
        )
    return tuple(_positive(v, "orientation_tolerance", lambda _: True) for v in values)


def _positive(value: Any, what: str, accept: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number > 0.0 or not accept(number):
        raise KinematicsError(
            f"{what} is {value!r}; expected a positive number", what=what, value=value
        )
    return number
