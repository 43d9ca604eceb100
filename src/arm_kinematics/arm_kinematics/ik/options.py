# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Options of a solution -> the flat array that the compiled search uses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from arm_common.jit import HAVE_NUMBA
from arm_common.transforms import Array

from arm_kinematics.arguments import one_of, positive, require, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels import residuals as k

_LEVER = 0.2
"""A turn of one radian counts like a way of this share of the arm's length."""
_AIM = 1e-2
"""Share of the tolerances that a descent goes on to: the last step squares the error anyway."""
_TIGHT = 1e-2
"""Tolerances below this [rad, or the length that amounts to it] leave nothing to yield."""
_STARTS_A_CALL = 32 if HAVE_NUMBA else 1
MODES = ("pose", "position", "position_axis")
AXES = ("target", "tool")
PREFERENCES = ("nearest", "centred")


class IkOptions(NamedTuple):
    """Options of a solution; see ``Chain.ik`` for each of these."""

    mode: str
    position_tolerance: float | Sequence[float]
    orientation_tolerance: float | Sequence[float]
    axis: Sequence[float] | None
    tolerance_axes: str
    weights: Mapping[str, float] | Sequence[float] | None
    prefer: str


def option_array(options: IkOptions, length: float, names: Sequence[str]) -> Array:
    """Return the flat options (see residuals.py), for an arm of some length [m].

    Errors weigh one over their tolerances, so that what is loose yields to what is tight. Where
    all are tight nothing has to yield: then lengths and angles are weighed as the arm's length
    suggests, which finds solutions faster, on arms of any size.
    """
    one_of(options.mode, "mode", MODES)
    opt = np.zeros(k.OPTIONS + len(names))
    opt[k.IN_TIP] = one_of(options.tolerance_axes, "tolerance_axes", AXES)
    opt[k.CENTRED] = one_of(options.prefer, "prefer", PREFERENCES)
    opt[k.AIM], opt[k.STARTS], opt[k.DEADLINE] = _AIM, _STARTS_A_CALL, math.inf
    opt[k.OPTIONS :] = _joint_weights(options.weights, names)
    _place(opt, options.position_tolerance)
    _turns(opt, options)
    opt[k.WEIGHTS : k.WEIGHTS + 6] = opt[k.BOUNDS : k.BOUNDS + 6]
    opt[k.EVEN : k.EVEN + 6] = opt[k.BOUNDS : k.BOUNDS + 6] > 0.0
    opt[k.EVEN : k.EVEN + 3] /= _LEVER * length
    _balance(opt, _LEVER * length)
    return opt


def _place(opt: Array, tolerance: Any) -> None:
    """Set what of the position counts."""
    place = _tolerances(tolerance, "position_tolerance")
    expected = "a positive number, or three of which some are inf to leave these components free"
    require(place != (math.inf,), "position_tolerance", tolerance, expected)
    opt[k.PLACE_BOX] = len(place) == 3
    opt[k.BOUNDS : k.BOUNDS + 3] = [1.0 / t for t in place]


def _turns(opt: Array, options: IkOptions) -> None:
    """Set what of the orientation counts."""
    turns = _tolerances(options.orientation_tolerance, "orientation_tolerance")
    given = (0.0, 0.0, 1.0) if options.axis is None else options.axis
    expected = "finite numbers, not all 0"
    axis = vector(given, 3, "axis", expected, lambda x: np.isfinite(x) & x.any())
    free = [i for i, t in enumerate(turns) if math.isinf(t)]
    opt[k.TURN_BOX] = len(turns) == 3
    if options.mode == "position" or len(free) == len(turns):
        opt[k.WHAT], opt[k.TURN_BOX] = k.NOTHING, 0.0
        return
    opt[k.BOUNDS + 3 : k.BOUNDS + 6] = [1.0 / t for t in turns]
    if options.mode == "position_axis":
        opt[k.WHAT] = k.AXIS_ONLY
        opt[k.TOOL : k.TOOL + 3] = axis / np.linalg.norm(axis)
    elif len(free) == 1:  # then the roll about that axis may be anything: only its tilt counts
        opt[k.WHAT] = k.AXIS_ONLY
        opt[k.TOOL + free[0]] = 1.0
    else:
        opt[k.WHAT] = k.ROTATION


def _balance(opt: Array, radian: float) -> None:
    """Weigh a length like the angle it amounts to, if the tolerances of both are tight."""
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
    """Return the weights (n,) of joints, given by name or in their order; 1 where not given."""
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
    """Return one tolerance or three, inf where there is none to keep."""
    if np.ndim(tolerance) == 0:
        return (positive(tolerance, what),)
    if len(tolerance) != 3:
        raise KinematicsError(
            f"{what}: expected one number or three, got {len(tolerance)}",
            what=what,
            value=tolerance,
        )
    return tuple(positive(t, what) for t in tolerance)
