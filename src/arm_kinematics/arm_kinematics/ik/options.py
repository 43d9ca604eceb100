# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Options of inverse kinematics, the modes among them, and their record for the kernels.

A mode says what of a target pose counts; `CONTRIBUTING.md` lists what else a mode needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from arm_common.transforms import Array
from arm_description.model.elements import TOLERANCE_AXES

from arm_kinematics.arguments import one_of, positive, require, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels.layout import (
    DEFAULT_ORIENTATION_TOLERANCE,
    DEFAULT_POSITION_TOLERANCE,
    Orientation,
    Records,
    options_dtype,
)


class IkMode(NamedTuple):
    """One mode."""

    name: str  # its name in ``Chain.ik``; in capitals, its constant in arm_interfaces/srv/SolveIK
    title: str  # its name in drop-downs and menus
    # the orientation of a step of a task that needs it: "full", "axis" or "any"
    step: Literal["full", "axis", "any"]
    orientation: Orientation  # the part of the orientation that counts


_DECLARED = (  # in the order of the constants of SolveIK
    IkMode("pose", "Pose", "full", Orientation.ROTATION),
    IkMode("position", "Position", "any", Orientation.NOTHING),
    IkMode("position_axis", "Position and axis", "axis", Orientation.AXIS),
)
MODES = {mode.name: mode for mode in _DECLARED}
# Of several modes with the same part of the orientation, the first one.
OF_ORIENTATION = {mode.orientation: mode.name for mode in reversed(_DECLARED)}
OF_STEP = {mode.step: mode.name for mode in reversed(_DECLARED)}


def constants(names: tuple[str, ...]) -> str:
    """Return the constants of a service field as text: POSE=0, POSITION=1 or POSITION_AXIS=2."""
    *most, last = (f"{name.upper()}={code}" for code, name in enumerate(names))
    return f"{', '.join(most)} or {last}"


_LEVER = 0.2
"""Share of the arm's length that one radian is equivalent to."""
_AIM = 1e-2
"""Share of the tolerances that a descent aims at: the last step squares the error anyway."""
_TIGHT = 1e-2
"""Tolerances below this [rad, or the equivalent length] count as tight."""
_STARTS_PER_CALL = 32
_TURN = DEFAULT_ORIENTATION_TOLERANCE
_DEFAULT_BOUNDS = np.repeat([1.0 / DEFAULT_POSITION_TOLERANCE, 1.0 / _TURN], 3)
_LOOSEST = 175.0
"""Errors with tolerances beyond this multiple of the defaults (1.75 mm, 1 degree) are weighted
alike, so that a wider tolerance does not change the posture that a narrower one allows."""
AXES_CONSTANTS = ("TARGET_AXES", "TIP_AXES")  # of SolveIK, in its order
PREFERENCES = ("nearest", "centred", "torque", "accurate")
# The constants of SolveIK, in its order, by the preference; it offers no "accurate".
PREFERENCE_CONSTANTS = {"nearest": "NEAREST", "centred": "CENTRED", "torque": "LEAST_TORQUE"}


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

    @property
    def part(self) -> Orientation:
        """The part of the orientation that counts in the mode."""
        return MODES[self.mode].orientation


def option_record(options: IkOptions, length: float, names: Sequence[str]) -> Records:
    """Return the options (see cpp/residuals.hpp) for an arm of the given length [m].

    Errors are weighted by one over their tolerances, so that loose ones yield to tight ones. If
    all are tight, lengths and angles are weighted by the arm's length instead, which finds
    solutions faster on arms of any size.
    """
    one_of(options.mode, "mode", tuple(MODES))
    opt = np.zeros((), options_dtype(len(names)))
    opt["in_tip"] = one_of(options.tolerance_axes, "tolerance_axes", TOLERANCE_AXES)
    opt["centred"] = PREFERENCES[one_of(options.prefer, "prefer", PREFERENCES)] == "centred"
    opt["aim"], opt["starts"], opt["time_limit"] = _AIM, _STARTS_PER_CALL, math.inf
    opt["joint_weights"] = _joint_weights(options.weights, names)
    _set_position(opt, options.position_tolerance)
    _set_orientation(opt, options)
    bounds = opt["bounds"]
    weights = np.maximum(bounds, _DEFAULT_BOUNDS / _LOOSEST)
    opt["weights"] = np.where(bounds > 0.0, weights, 0.0)
    is_loose = ((bounds > 0.0) & (bounds < _DEFAULT_BOUNDS * (1.0 - 1e-9))).any()
    opt["keep_seed"] = options.prefer == "nearest" and is_loose
    opt["even"] = bounds > 0.0
    opt["even"][:3] /= _LEVER * length
    _balance(opt, _LEVER * length)
    return opt


def _set_position(opt: Records, tolerance: Any) -> None:
    """Set the components of the position that count, and their tolerances."""
    place = _tolerances(tolerance, "position_tolerance")
    expected = "a positive number, or three of which some are inf to leave these components free"
    require(place != (math.inf,), "position_tolerance", tolerance, expected)
    opt["position_box"] = len(place) == 3
    opt["bounds"][:3] = [1.0 / t for t in place]


def _set_orientation(opt: Records, options: IkOptions) -> None:
    """Set the components of the orientation that count, and their tolerances."""
    turns = _tolerances(options.orientation_tolerance, "orientation_tolerance")
    direction = (0.0, 0.0, 1.0) if options.axis is None else options.axis
    expected = "finite numbers, not all 0"
    axis = vector(direction, 3, "axis", expected, lambda x: np.isfinite(x) & x.any())
    _check_meaning(options, turns)
    free = [i for i, t in enumerate(turns) if math.isinf(t)]
    opt["orientation_box"] = len(turns) == 3
    part = options.part
    if part == Orientation.NOTHING or len(free) == len(turns):
        opt["orientation"], opt["orientation_box"] = Orientation.NOTHING, 0.0
        return
    opt["bounds"][3:] = [1.0 / t for t in turns]
    opt["orientation"] = part
    if part == Orientation.AXIS:
        opt["axis"] = axis / np.linalg.norm(axis)
    elif part == Orientation.ROTATION and len(free) == 1:
        opt["orientation"] = Orientation.AXIS  # the roll about it is free: only its tilt counts
        opt["axis"][free[0]] = 1.0


def _check_meaning(options: IkOptions, turns: tuple[float, ...]) -> None:
    """Raise KinematicsError for an argument that has no meaning in the mode."""
    unused, parts = "", [Orientation.AXIS]
    if options.axis is not None and options.part != Orientation.AXIS:
        unused = "axis"
    elif options.part == Orientation.NOTHING and turns not in ((_TURN,), (math.inf,)):
        unused, parts = "orientation_tolerance", [Orientation.ROTATION, Orientation.AXIS]
    if unused:
        use = " or ".join(f"'{OF_ORIENTATION[part]}'" for part in parts)
        raise KinematicsError(
            f"{unused} has no meaning in mode '{options.mode}'; leave it out, or use {use}",
            what=unused,
            value=getattr(options, unused),
        )


def _balance(opt: Records, radian: float) -> None:
    """Weight lengths like equivalent angles if the tolerances of both are tight."""
    place, turns = opt["bounds"][:3], opt["bounds"][3:]
    tight = place[place > 0.0].min(initial=math.inf) * _TIGHT * radian > 1.0
    if turns.max() * _TIGHT > 1.0 and place.any() and tight:
        opt["weights"][:3][place > 0.0] = turns.max() / radian
    within = 0.0
    for at, box in ((0, opt["position_box"]), (3, opt["orientation_box"])):
        bound, weight = opt["bounds"][at : at + 3], opt["weights"][at : at + 3]
        shares = (weight[bound > 0.0] / bound[bound > 0.0]) ** 2
        within += float(shares.sum() if box else shares.max(initial=0.0))
    opt["reachable_cost"] = 0.5 * within * (1.0 + 1e-9)


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
