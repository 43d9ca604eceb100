# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled error of a pose against a target; its derivative is in kernels_derivative.py.

Everything is seen from the target's frame (BASE holds inverse(target) B0), so that the pose of the
tip *is* the error: three entries of the position, three of the orientation. What counts of it is
said by one flat array of options:

    opt[WHAT]            NOTHING, AXIS_ONLY or ROTATION: what of the orientation counts
    opt[WEIGHTS : +6]    weights in the sum that a descent makes small [1/m], [1/rad]; 0 if free
    opt[BOUNDS : +6]     1 / tolerances [1/m], [1/rad]; 0 if free
    opt[EVEN : +6]       weights that know no tolerances, for a way along which no error changes
    opt[PLACE_BOX]       1 if each component of the position has its tolerance, 0 if the distance
    opt[TURN_BOX]        1 if each component of the orientation has its own, 0 if the angle has one
    opt[IN_TIP]          1 if these components lie along the tip's axes, 0 along the target's
    opt[ENOUGH]          weighed half squared error above which no tolerance can be met
    opt[TOOL : TOOL+3]   the axis whose direction counts (AXIS_ONLY), in tip and target frame
    opt[AIM]             share of the tolerances, or of the defaults if smaller, to be aimed at
    opt[PERSIST]         1 to go down to the very minimum even where it is no solution
    opt[STARTS]          how many starts a call of the search may use
    opt[SPARE]           if the joints can move while the error stays: the share of their squared
                         distance from where they are wanted that is worth a step; 0 if they can't
    opt[CENTRED]         1 if the middle of the joint ranges is preferred, 0 if the seed is
    opt[DEADLINE]        when to stop [s], on the monotonic clock (without Numba only)
    opt[OPTIONS + i]     weight of joint i in distances

The rotation vector of the tip against the target has the same components along the axes of both:
only the position and the tilt of one axis have to be told which axes are meant.
"""

from __future__ import annotations

import math

from arm_kinematics.jit import kernel
from arm_kinematics.kernels import TIP, Array
from arm_kinematics.kernels_rotation import rotation_vector, tilt, tilt_components

NOTHING, AXIS_ONLY, ROTATION = 0, 1, 2
WHAT, WEIGHTS, BOUNDS, EVEN = 0, 1, 7, 13
PLACE_BOX, TURN_BOX, IN_TIP, ENOUGH, TOOL, AIM, PERSIST, STARTS = 19, 20, 21, 22, 23, 26, 27, 28
SPARE, CENTRED, DEADLINE = 29, 30, 31
OPTIONS = 32

DEFAULT_POSITION_TOLERANCE = 1e-5  # [m]
DEFAULT_ORIENTATION_TOLERANCE = 1e-4  # [rad]
_P = 1.0 / DEFAULT_POSITION_TOLERANCE
_O = 1.0 / DEFAULT_ORIENTATION_TOLERANCE

FAILED, WITHIN, EXACT = 0, 1, 2


@kernel
def error(opt: Array, W: Array, at: int) -> float:
    """Fill the error at W[n, at : at + 6] where `move` has left the tip.

    Returns half the squared error, each component weighed by its weight.
    """
    n = W.shape[0] - 1
    px, py, pz = W[n, TIP + 9], W[n, TIP + 10], W[n, TIP + 11]
    W[n, at], W[n, at + 1], W[n, at + 2] = px, py, pz
    if opt[PLACE_BOX] != 0.0 and opt[IN_TIP] != 0.0:
        for k in range(3):
            W[n, at + k] = W[n, TIP + k] * px + W[n, TIP + 3 + k] * py + W[n, TIP + 6 + k] * pz
    if opt[WHAT] == ROTATION:
        rotation_vector(W, at + 3)
    elif opt[WHAT] == AXIS_ONLY:
        axis = opt[TOOL], opt[TOOL + 1], opt[TOOL + 2]
        if opt[TURN_BOX] != 0.0:
            tilt_components(axis, opt[IN_TIP] != 0.0, W, at + 3)
        else:
            tilt(axis, W, at + 3)
    else:
        W[n, at + 3] = W[n, at + 4] = W[n, at + 5] = 0.0
    square = 0.0
    for k in range(6):
        square += (opt[WEIGHTS + k] * W[n, at + k]) ** 2
    return 0.5 * square


@kernel
def quality(opt: Array, W: Array, at: int, cost: float) -> int:
    """Return EXACT, WITHIN (the tolerances, but more can be had) or FAILED."""
    if not cost <= opt[ENOUGH]:
        return FAILED
    place = _quality_of(opt, W, at, BOUNDS, opt[PLACE_BOX] != 0.0, _P)
    return min(place, _quality_of(opt, W, at + 3, BOUNDS + 3, opt[TURN_BOX] != 0.0, _O))


@kernel
def _quality_of(opt: Array, W: Array, at: int, bounds: int, box: bool, default: float) -> int:
    """Return the quality of three entries, each by itself (box) or their length."""
    n = W.shape[0] - 1
    aim = opt[AIM]
    if not box:
        size = math.sqrt(W[n, at] ** 2 + W[n, at + 1] ** 2 + W[n, at + 2] ** 2)
        bound = opt[bounds]
        if not size * bound <= 1.0:
            return FAILED
        return EXACT if bound == 0.0 or size * max(bound, default) <= aim else WITHIN
    state = EXACT
    for k in range(3):
        size, bound = abs(W[n, at + k]), opt[bounds + k]
        if not size * bound <= 1.0:
            return FAILED
        if not (bound == 0.0 or size * max(bound, default) <= aim):
            state = WITHIN
    return state
