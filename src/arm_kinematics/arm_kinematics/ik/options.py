# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of IK options into the flat array of the compiled search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from arm_common.jit import HAVE_NUMBA
from arm_common.transforms import Array

from arm_kinematics.arguments import one_of, positive, require, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels import residuals as k

_LEVER = 0.2
"""Share of the arm's length that one radian is equivalent to."""
_AIM = 1e-2
"""Share of the tolerances that a descent aims at: the last step squares the error anyway."""
_TIGHT = 1e-2
"""Tolerances below this [rad, or the equivalent length] count as tight."""
_STARTS_PER_CALL = 32 if HAVE_NUMBA else 1
_TURN = k.DEFAULT_ORIENTATION_TOLERANCE
_DEFAULT_BOUNDS = np.repeat([1.0 / k.DEFAULT_POSITION_TOLERANCE, 1.0 / _TURN], 3)
_LOOSEST = 175.0
"""Errors with tolerances beyond this multiple of the defaults (1.75 mm, 1 degree) are weighted
alike, so that a wider tolerance does not change the posture that a narrower one allows."""
MODES = ("pose", "position", "position_axis")
AXES = ("target", "tool")
PREFERENCES = ("nearest", "centred", "torque", "accurate")


Tolerance: TypeAlias = float | Sequence[float]
Axis: TypeAlias = Sequence[float] | None
Weights: TypeAlias = Mapping[str, float] | Sequence[float] | None
# The fields of IkOptions: a plain tuple is built several times faster at each call.
OptionKey: TypeAlias = tuple[str, Tolerance, Tolerance, Axis, str, Weights, str]


class IkOptions(NamedTuple):
    """Options of inverse kinematics; see ``Chain.ik`` for each of them."""

    mode: str
    position_tolerance: Tolerance
    orientation_tolerance: Tolerance
    axis: Axis
    tolerance_axes: str
    weights: Weights
    prefer: str


def option_array(options: IkOptions, length: float, names: Sequence[str]) -> Array:
    """Return the flat options (see residuals.py) for an arm of the given length [m].

    Errors are weighted by one over their tolerances, so that loose ones yield to tight ones. If
    all are tight, lengths and angles are weighted by the arm's length instead, which finds
    solutions faster on arms of any size.
    """
    one_of(options.mode, "mode", MODES)
    opt = np.zeros(k.OPTIONS + len(names))
    opt[k.IN_TIP] = one_of(options.tolerance_axes, "tolerance_axes", AXES)
    opt[k.CENTRED] = PREFERENCES[one_of(options.prefer, "prefer", PREFERENCES)] == "centred"
    opt[k.AIM], opt[k.STARTS], opt[k.DEADLINE] = _AIM, _STARTS_PER_CALL, math.inf
    opt[k.OPTIONS :] = _joint_weights(options.weights, names)
    _set_position(opt, options.position_tolerance)
    _set_orientation(opt, options)
    bounds = opt[k.BOUNDS : k.BOUNDS + 6]
    weights = np.maximum(bounds, _DEFAULT_BOUNDS / _LOOSEST)
    opt[k.WEIGHTS : k.WEIGHTS + 6] = np.where(bounds > 0.0, weights, 0.0)
    is_loose = ((bounds > 0.0) & (bounds < _DEFAULT_BOUNDS * (1.0 - 1e-9))).any()
    opt[k.KEEP_SEED] = options.prefer == "nearest" and is_loose
    opt[k.EVEN : k.EVEN + 6] = opt[k.BOUNDS : k.BOUNDS + 6] > 0.0
    opt[k.EVEN : k.EVEN + 3] /= _LEVER * length
    _balance(opt, _LEVER * length)
    return opt


def _set_position(opt: Array, tolerance: Any) -> None:
    """Set the components of the position that count, and their tolerances."""
    place = _tolerances(tolerance, "position_tolerance")
    expected = "a positive number, or three of which some are inf to leave these components free"
    require(place != (math.inf,), "position_tolerance", tolerance, expected)
    opt[k.PLACE_BOX] = len(place) == 3
    opt[k.BOUNDS : k.BOUNDS + 3] = [1.0 / t for t in place]


def _set_orientation(opt: Array, options: IkOptions) -> None:
    """Set the components of the orientation that count, and their tolerances."""
    turns = _tolerances(options.orientation_tolerance, "orientation_tolerance")
    direction = (0.0, 0.0, 1.0) if options.axis is None else options.axis
    expected = "finite numbers, not all 0"
    axis = vector(direction, 3, "axis", expected, lambda x: np.isfinite(x) & x.any())
    _check_meaning(options, turns)
    free = [i for i, t in enumerate(turns) if math.isinf(t)]
    opt[k.TURN_BOX] = len(turns) == 3
    if options.mode == "position" or len(free) == len(turns):
        opt[k.WHAT], opt[k.TURN_BOX] = k.NOTHING, 0.0
        return
    opt[k.BOUNDS + 3 : k.BOUNDS + 6] = [1.0 / t for t in turns]
    if options.mode == "position_axis":
        opt[k.WHAT] = k.AXIS_ONLY
        opt[k.TOOL : k.TOOL + 3] = axis / np.linalg.norm(axis)
    elif len(free) == 1:  # the roll about that axis is free: only its tilt counts
        opt[k.WHAT] = k.AXIS_ONLY
        opt[k.TOOL + free[0]] = 1.0
    else:
        opt[k.WHAT] = k.ROTATION


def _check_meaning(options: IkOptions, turns: tuple[float, ...]) -> None:
    """Raise KinematicsError for an argument that has no meaning in the mode."""
    unused, only = "", "position_axis"
    if options.axis is not None and options.mode != only:
        unused = "axis"
    elif options.mode == "position" and turns not in ((_TURN,), (math.inf,)):
        unused, only = "orientation_tolerance", "pose' or 'position_axis"
    if unused:
        raise KinematicsError(
            f"{unused} has no meaning in mode '{options.mode}'; leave it out, or use '{only}'",
            what=unused,
            value=getattr(options, unused),
        )


def _balance(opt: Array, radian: float) -> None:
    """Weight lengths like equivalent angles if the tolerances of both are tight."""
    place, turns = opt[k.BOUNDS : k.BOUNDS + 3], opt[k.BOUNDS + 3 : k.BOUNDS + 6]
    tight = place[place > 0.0].min(initial=math.inf) * _TIGHT * radian > 1.0
    if turns.max() * _TIGHT > 1.0 and place.any() and tight:
        opt[k.WEIGHTS : k.WEIGHTS + 3][place > 0.0] = turns.max() / radian
    within = 0.0
    for at, box in ((0, opt[k.PLACE_BOX]), (3, opt[k.TURN_BOX])):
        bound, weight = opt[k.BOUNDS + at :][:3], opt[k.WEIGHTS + at :][:3]
        shares = (weight[bound > 0.0] / bound[bound > 0.0]) ** 2
        within += float(shares.sum() if box else shares.max(initial=0.0))
    opt[k.ENOUGH] = 0.5 * within * (1.0 + 1e-9)


def _joint_weights(weights: Any, names: Sequence[str]) -> Array:
    """Return the joint weights (n,), given by name or in order; 1 where not given."""
    values: Any = [1.0] * len(names)
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                raise KinematicsError(
                    f"weights: there is no joint '{name}'; expected some of {', '.join(names)}",
                    what="weights",
                )
        values = [weights.get(name, 1.0) for name in names]
    elif weights is not None:
        values = weights
    expected = "finite numbers, 0 or more"
    return vector(values, len(names), "weights", expected, lambda x: np.isfinite(x) & (x >= 0.0))


def _tolerances(tolerance: Any, what: str) -> tuple[float, ...]:
    """Return one tolerance or three, inf for free components."""
    if np.ndim(tolerance) == 0:
        return (positive(tolerance, what),)
    if len(tolerance) != 3:
        raise KinematicsError(
            f"{what}: expected one number or three, got {len(tolerance)}",
            what=what,
            value=tolerance,
        )
    return tuple(positive(t, what) for t in tolerance)
