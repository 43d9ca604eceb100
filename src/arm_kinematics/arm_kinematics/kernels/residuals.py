# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled error of a pose against a target, and its derivative by the joints.

Everything is expressed in the target's frame (BASE holds inverse(target) B0), so that the pose of
the tip *is* the error: three entries of the position, three of the orientation. One flat array of
options selects the components that count:

    opt[WHAT]            NOTHING, AXIS_ONLY or ROTATION: the part of the orientation that counts
    opt[WEIGHTS : +6]    weights in the sum that a descent minimises [1/m], [1/rad]; 0 if free
    opt[BOUNDS : +6]     1 / tolerances [1/m], [1/rad]; 0 if free
    opt[EVEN : +6]       weights without tolerances, for motion that changes no error
    opt[PLACE_BOX]       1 if each component of the position has its tolerance, 0 if the distance
    opt[TURN_BOX]        1 if each component of the orientation has its own, 0 if the angle has one
    opt[IN_TIP]          1 if these components lie along the tip's axes, 0 along the target's
    opt[ENOUGH]          weighted half squared error above which no tolerance can be met
    opt[TOOL : TOOL+3]   the axis whose direction counts (AXIS_ONLY), in tip and target frame
    opt[AIM]             target accuracy, as a share of the tolerances, or the defaults if smaller
    opt[PERSIST]         1 to descend to the exact minimum even if it is not a solution
    opt[STARTS]          number of starts that a call of the search may use
    opt[SPARE]           smallest decrease worth a null-space step, as a share of the squared
                         distance from the preferred posture; 0 without a null space
    opt[CENTRED]         1 if the middle of the joint ranges is preferred, 0 if the seed is
    opt[DEADLINE]        deadline [s] on the monotonic clock (without Numba only)
    opt[KEEP_SEED]       1 if a seed within the tolerances is the solution
    opt[OPTIONS + i]     weight of joint i in distances

The rotation vector of the tip against the target has the same components along the axes of both:
only the position and the tilt of one axis depend on the axes chosen.
"""

from __future__ import annotations

import math

from arm_common.jit import inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.kernels.forward import COLUMN, ERROR, TIP, columns
from arm_kinematics.kernels.vectors import (
    Vector,
    cross,
    dot,
    length,
    minus,
    plus,
    rotated,
    rotated_back,
    store,
    vector,
)


@inlined_kernel
def rotation_vector(W: Array, at: int) -> None:
    """Fill W[n, at : at + 3] with the logarithm of the tip's rotation.

    By the quaternion, from its largest component (Shepperd 1978): accurate at 0 and at pi.
    """
    n = W.shape[0] - 1
    r00, r01, r02 = vector(W, n, TIP)
    r10, r11, r12 = vector(W, n, TIP + 3)
    r20, r21, r22 = vector(W, n, TIP + 6)
    x, y, z = r21 - r12, r02 - r20, r10 - r01
    trace = r00 + r11 + r22
    if trace > 0.0:
        w = 1.0 + trace
    elif r00 >= r11 and r00 >= r22:
        w, x, y, z = x, 1.0 + 2.0 * r00 - trace, r01 + r10, r02 + r20
    elif r11 >= r22:
        w, x, y, z = y, r01 + r10, 1.0 + 2.0 * r11 - trace, r12 + r21
    else:
        w, x, y, z = z, r02 + r20, r12 + r21, 1.0 + 2.0 * r22 - trace
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(sine, w) / sine if sine > 1e-6 * w else 2.0 / w
    store((scale * x, scale * y, scale * z), W, n, at)


@kernel
def tilt(axis: Vector, box: bool, in_tip: bool, W: Array, at: int) -> None:
    """Fill the rotation from an axis of the target to the same axis of the tip.

    That is (angle, 0, 0), or for a box the shortest rotation vector, along the target's axes or
    along the tip's, with the opposite sign.
    """
    n = W.shape[0] - 1
    u, angle, _ = normal(axis, tipped(axis, box and in_tip, W))
    if not box:
        u = (1.0, 0.0, 0.0)
    elif in_tip:
        angle = -angle
    store((angle * u[0], angle * u[1], angle * u[2]), W, n, at)


@kernel
def tipped(axis: Vector, in_tip: bool, W: Array) -> Vector:
    """Return an axis of the tip in the target's frame, or of the target in the tip's."""
    n = W.shape[0] - 1
    R = vector(W, n, TIP), vector(W, n, TIP + 3), vector(W, n, TIP + 6)
    return rotated_back(R, axis) if in_tip else rotated(R, axis)


@kernel
def normal(a: Vector, b: Vector) -> tuple[Vector, float, float]:
    """Return the unit normal of two directions, and the angle from a to b and its sine."""
    u = cross(a, b)
    sine = length(u)
    angle = math.atan2(sine, dot(a, b))
    if sine > 1e-9:
        return (u[0] / sine, u[1] / sine, u[2] / sine), angle, sine
    x, y, z = (0.0, b[2], -b[1]) if abs(b[0]) < 0.6 else (-b[2], 0.0, b[0])
    size = math.sqrt(x * x + y * y + z * z)  # parallel or opposite: any normal will do
    return (x / size, y / size, z / size), angle, sine


NOTHING, AXIS_ONLY, ROTATION = 0, 1, 2
WHAT, WEIGHTS, BOUNDS, EVEN = 0, 1, 7, 13
PLACE_BOX, TURN_BOX, IN_TIP, ENOUGH, TOOL, AIM, PERSIST, STARTS = 19, 20, 21, 22, 23, 26, 27, 28
SPARE, CENTRED, DEADLINE, KEEP_SEED = 29, 30, 31, 32
OPTIONS = 33

DEFAULT_POSITION_TOLERANCE = 1e-5  # [m]
DEFAULT_ORIENTATION_TOLERANCE = 1e-4  # [rad]
_P = 1.0 / DEFAULT_POSITION_TOLERANCE
_O = 1.0 / DEFAULT_ORIENTATION_TOLERANCE

FAILED, WITHIN, EXACT = 0, 1, 2


@inlined_kernel
def error(opt: Array, W: Array, at: int) -> float:
    """Fill the error W[n, at : at + 6] of the tip pose left by `move`.

    Returns half the squared error, weighted by component.
    """
    n = W.shape[0] - 1
    place = vector(W, n, TIP + 9)
    if opt[PLACE_BOX] != 0.0 and opt[IN_TIP] != 0.0:
        place = tipped(place, True, W)
    store(place, W, n, at)
    if opt[WHAT] == ROTATION:
        rotation_vector(W, at + 3)
    elif opt[WHAT] == AXIS_ONLY:
        axis = opt[TOOL], opt[TOOL + 1], opt[TOOL + 2]
        tilt(axis, opt[TURN_BOX] != 0.0, opt[IN_TIP] != 0.0, W, at + 3)
    else:
        store((0.0, 0.0, 0.0), W, n, at + 3)
    square = 0.0
    for k in range(6):
        square += (opt[WEIGHTS + k] * W[n, at + k]) ** 2
    return 0.5 * square


@inlined_kernel
def quality(opt: Array, W: Array, at: int, cost: float) -> int:
    """Return EXACT (within AIM), WITHIN (the tolerances only) or FAILED."""
    if not cost <= opt[ENOUGH]:
        return FAILED
    place = _quality_of(opt, W, at, BOUNDS, opt[PLACE_BOX] != 0.0, _P)
    return min(place, _quality_of(opt, W, at + 3, BOUNDS + 3, opt[TURN_BOX] != 0.0, _O))


@kernel
def _quality_of(opt: Array, W: Array, at: int, bounds: int, box: bool, default: float) -> int:
    """Return the quality of three entries, separately (box) or by their length."""
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


INSIDE = 1.0 - 1e-6  # share of the tolerances outside which an error counts as excess


@kernel
def half_square_of_excess(opt: Array, W: Array, at: int) -> float:
    """Return half the squared excess of the error W[n, at : at + 6] over the tolerances.

    Weighted by component, as `error` is.
    """
    square = 0.0
    for k in range(6):
        square += (
            opt[WEIGHTS + k] * _excess_share(opt, W, at, k) * W[W.shape[0] - 1, at + k]
        ) ** 2
    return 0.5 * square


@kernel
def _excess_share(opt: Array, W: Array, at: int, k: int) -> float:
    """Return the share of component k of an error that is outside the tolerances."""
    n = W.shape[0] - 1
    bound, first = opt[BOUNDS + k], at + k - k % 3
    size = abs(W[n, at + k])
    if opt[PLACE_BOX if k < 3 else TURN_BOX] == 0.0:
        size = math.sqrt(W[n, first] ** 2 + W[n, first + 1] ** 2 + W[n, first + 2] ** 2)
    return 1.0 - INSIDE / (size * bound) if size * bound > INSIDE else 0.0


@kernel
def keep_excess(opt: Array, W: Array) -> None:
    """Replace the error by its excess over the tolerances, and COLUMN by its derivative.

    The derivative is a root of the Hessian of the squared distance from the tolerances: for a
    bound of the length, tangential motion counts by the share of the excess.
    """
    n = W.shape[0] - 1
    for first in (0, 3):
        box = opt[PLACE_BOX if first == 0 else TURN_BOX] != 0.0
        s0 = _excess_share(opt, W, ERROR, first)
        s1 = _excess_share(opt, W, ERROR, first + 1)
        s2 = _excess_share(opt, W, ERROR, first + 2)
        e = vector(W, n, ERROR + first)
        size = length(e)
        u = (e[0] / size, e[1] / size, e[2] / size) if size > 0.0 else e
        for i in range(n):
            x, y, z = vector(W, i, COLUMN + first)
            if box:
                x, y, z = x * (s0 > 0.0), y * (s1 > 0.0), z * (s2 > 0.0)
            else:
                root = math.sqrt(s0)
                along = (1.0 - root) * (s0 > 0.0) * dot(u, (x, y, z))
                x, y, z = root * x + along * u[0], root * y + along * u[1], root * z + along * u[2]
            store((x, y, z), W, i, COLUMN + first)
        store((s0 * e[0], s1 * e[1], s2 * e[2]), W, n, ERROR + first)


_STEEPEST = 3.0  # bound of the sideways rate of a tilt, which diverges near half a turn


@kernel
def derive(c: Array, opt: Array, W: Array) -> None:
    """Fill COLUMN with the derivative of the error at W[n, ERROR...]."""
    columns(c, W)
    if opt[PLACE_BOX] != 0.0 and opt[IN_TIP] != 0.0:
        _position_in_tip(W)
    if opt[WHAT] == ROTATION:
        if opt[TURN_BOX] != 0.0:
            _rotation_vector(W)
    elif opt[WHAT] == AXIS_ONLY:
        axis = opt[TOOL], opt[TOOL + 1], opt[TOOL + 2]
        _tilt(axis, opt[TURN_BOX] != 0.0, opt[IN_TIP] != 0.0, W)


@kernel
def _position_in_tip(W: Array) -> None:
    """Fill the derivative of the position along the tip's axes, which turn with the tip."""
    n = W.shape[0] - 1
    p = vector(W, n, TIP + 9)
    for i in range(n):
        back = cross(vector(W, i, COLUMN + 3), p)
        store(minus(vector(W, i, COLUMN), back), W, i, COLUMN)
    _turn_into_tip(W, COLUMN)


@kernel
def _rotation_vector(W: Array) -> None:
    """Apply the inverse left Jacobian (Barfoot, "State Estimation for Robotics", 2017, 7.1).

    Only needed if the components have different weights: otherwise the gradient is the same.
    """
    n = W.shape[0] - 1
    e = vector(W, n, ERROR + 3)
    square = dot(e, e)
    if square < 1e-16:
        return
    k = 1.0 / 12.0 + square / 720.0
    if square > 1e-3:
        half = 0.5 * math.sqrt(square)
        k = (1.0 - half * math.cos(half) / math.sin(half)) / square
    for i in range(n):
        w = vector(W, i, COLUMN + 3)
        once = cross(e, w)
        store(plus(plus(w, -0.5, once), k, cross(e, once)), W, i, COLUMN + 3)


@kernel
def _tilt(axis: Vector, box: bool, in_tip: bool, W: Array) -> None:
    """Fill the derivative of a tilt: the angular velocity about the common normal u.

    The second component is the sideways rate on the sphere of directions, which keeps the step
    from overshooting the target. In a box, both are resolved along the axes.
    """
    n = W.shape[0] - 1
    b = tipped(axis, box and in_tip, W)
    u, angle, sine = normal(axis, b)
    v, s = cross(b, u), cross(axis, u)
    sideways = min(angle / sine, _STEEPEST) if sine > 1e-9 else 1.0
    if box and in_tip:
        _turn_into_tip(W, COLUMN + 3)
    for i in range(n):
        w = vector(W, i, COLUMN + 3)
        rate, swing = dot(u, w), sideways * dot(v, w)
        if box:
            along_u = rate * u[0], rate * u[1], rate * u[2]
            store(plus(along_u, swing, s), W, i, COLUMN + 3)
        else:
            store((rate, swing, 0.0), W, i, COLUMN + 3)


@kernel
def _turn_into_tip(W: Array, column: int) -> None:
    """Turn three entries of each joint's row from the target's axes to the tip's."""
    for i in range(W.shape[0] - 1):
        store(tipped(vector(W, i, column), True, W), W, i, column)
