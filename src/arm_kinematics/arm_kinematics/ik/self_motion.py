# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled tracing of a self-motion: the curve in the joint space of a 7R arm at one pose.

Predictor and corrector (Allgower and Georg, "Numerical Continuation Methods", 1990, ch. 2): a step
along the null vector of the Jacobian, then Newton's method on the pose and on the plane across the
step. It also passes points where a joint reverses, unlike a sweep of that joint.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from arm_common.jit import allocating_kernel, fix_types, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.general_6r.elimination import complement, copy
from arm_kinematics.ik.general_6r.refinement import distance, pose_error, solve_linear, wrap
from arm_kinematics.ik.general_6r.solver import prepare_general_6r
from arm_kinematics.kernels.forward import COLUMN, columns, place, work

JOINTS = 7
# Row 0 of a trace: number of points, which follow, and the reason of its end.
COUNT, ENDING = 0, 1
CLOSED, STUCK, FULL = 1.0, 2.0, 3.0
# Options: unit of length [m], largest motion of a joint in a step [rad], direction (1 or -1).
UNIT, STEP, DIRECTION = 0, 1, 2

CORRECTIONS = 8
ON_CURVE = 1e-12  # error of a point of the curve
MOST = 30  # points added by a call, so that time is looked at in between
SHORTEST = 1e-8  # share of the longest step
STRAIGHT = 0.95  # smallest cosine between null vectors of neighbours
MARGIN, GROWTH = 0.9, 1.5
SAME = 1e-6  # points nearer than this are the same [rad]


@allocating_kernel
def trace(c: Array, T: Array, start: Array, options: Array, out: Array) -> None:
    """Fill out (1 + points, 7) with the curve from start on, until it closes or gets stuck.

    A call adds at most MOST points, and the next one continues; row 0 is zero before the first.
    Neighbours differ by no more than STEP in each joint; angles may exceed a turn.
    """
    W, unit, longest = work(JOINTS), options[UNIT], options[STEP]
    q, new, t, t_new = np.empty(7), np.empty(7), np.empty((1, 7)), np.empty((1, 7))
    first = np.empty(7)  # a writable copy: one type, one compilation
    copy(start, first)
    count, ending, h = max(int(out[0, COUNT]), 1), FULL, MARGIN * longest
    if count == 1:
        copy(start, out[1])
    copy(out[count], q)
    null_vector(c, unit, q, W, t)
    ahead = options[DIRECTION]
    if count > 1:
        ahead = math.copysign(1.0, _dot(t[0], q) - _dot(t[0], out[count - 1]))
    for i in range(JOINTS):
        t[0, i] *= ahead
    end = min(out.shape[0], count + MOST)
    while 1 + count < end:
        fine = correct(c, T, unit, q, t[0], h, W, new) and _farthest(q, new) <= longest
        if fine:
            null_vector(c, unit, new, W, t_new)
            cosine = _dot(t[0], t_new[0])
            fine = abs(cosine) > STRAIGHT
            for i in range(JOINTS):
                t_new[0, i] *= 1.0 if cosine > 0.0 else -1.0
        if not fine:
            h *= 0.5
            if h < SHORTEST * longest:
                ending = STUCK
                break
            continue
        closed = count > 2 and _closes(c, T, unit, q, t[0], h, first, W, new)
        count += 1
        copy(new, out[count])
        if closed:
            ending = CLOSED
            break
        copy(new, q)
        copy(t_new[0], t[0])
        h = min(MARGIN * longest, GROWTH * h)
    out[0, COUNT], out[0, ENDING] = count, ending


@allocating_kernel
def correct(
    c: Array, T: Array, unit: float, q: Array, d: Array, h: float, W: Array, new: Array
) -> bool:
    """Fill new with the curve's point at distance h from q along d; False if none is found."""
    e, A, step = np.empty(6), np.empty((7, 8)), np.empty(7)
    for i in range(JOINTS):
        new[i] = q[i] + h * d[i]
    for _ in range(CORRECTIONS):
        place(c, new, W)
        error = pose_error(T, unit, W, e)
        ahead = h
        for i in range(JOINTS):
            ahead -= d[i] * (new[i] - q[i])
        if error < ON_CURVE and abs(ahead) < ON_CURVE:
            return True
        _jacobian(c, unit, W, A)
        for k in range(6):
            A[k, 7] = e[k]
        for i in range(JOINTS):
            A[6, i] = d[i]
        A[6, 7] = ahead
        scale = solve_linear(A, step)
        for i in range(JOINTS):
            new[i] += scale * step[i]
    return False


@allocating_kernel
def point_at(c: Array, T: Array, options: Array, near: Array, way: Array, q: Array) -> bool:
    """Fill q with the curve's point at a step (7,) from a near one; False if none is found."""
    d, start, h = np.empty(7), np.empty(7), 0.0
    copy(near, start)
    for i in range(JOINTS):
        h += way[i] * way[i]
    h = math.sqrt(h)
    for i in range(JOINTS):
        d[i] = way[i] / max(h, 1e-300)
    return correct(c, T, options[UNIT], start, d, h, work(JOINTS), q)


@allocating_kernel
def null_vector(c: Array, unit: float, q: Array, W: Array, t: Array) -> None:
    """Fill t (1, 7) with a unit vector of joint motion that leaves the tip at rest."""
    A = np.empty((6, 7))
    place(c, q, W)
    _jacobian(c, unit, W, A)
    complement(A, t)


@allocating_kernel
def passes(c: Array, T: Array, options: Array, curve: Array, q: Array) -> bool:
    """Return whether a traced curve (m, 7) passes through the point q of the same self-motion."""
    W, unit = work(JOINTS), options[UNIT]
    t, goal, near, new = np.empty((1, 7)), np.empty(7), np.empty(7), np.empty(7)
    copy(q, goal)
    nearest, gap = 0, 1e9
    for j in range(curve.shape[0]):
        copy(curve[j], near)
        apart = distance(near, goal)
        if apart < gap:
            nearest, gap = j, apart
    if gap > options[STEP]:
        return False
    copy(curve[nearest], near)
    null_vector(c, unit, near, W, t)
    return _closes(c, T, unit, near, t[0], -1.0, goal, W, new)


@allocating_kernel
def _closes(
    c: Array,
    T: Array,
    unit: float,
    q: Array,
    t: Array,
    h: float,
    goal: Array,
    W: Array,
    new: Array,
) -> bool:
    """Return whether the goal is on the curve near q, in direction t.

    With h > 0 it must lie ahead, no farther than h. Then new is the goal in the turns of q.
    """
    ahead, gap = 0.0, 0.0
    for i in range(JOINTS):
        way = wrap(goal[i] - q[i])
        ahead += t[i] * way
        gap = max(gap, abs(way))
    if h > 0.0 and (ahead <= 0.0 or ahead > h or gap > 2.0 * h):
        return False
    found = np.empty(7)
    if not correct(c, T, unit, q, t, ahead, W, found) or distance(found, goal) > SAME:
        return False
    for i in range(JOINTS):
        new[i] = q[i] + wrap(goal[i] - q[i])
    return True


@kernel
def _jacobian(c: Array, unit: float, W: Array, A: Array) -> None:
    """Fill the first 7 columns of A with the Jacobian at the pose in W, lengths over unit."""
    columns(c, W)
    for k in range(6):
        for i in range(JOINTS):
            A[k, i] = W[i, COLUMN + k] / (unit if k < 3 else 1.0)


@kernel
def _farthest(p: Array, q: Array) -> float:
    largest = 0.0
    for i in range(JOINTS):
        largest = max(largest, abs(p[i] - q[i]))
    return largest


@kernel
def _dot(p: Array, q: Array) -> float:
    total = 0.0
    for i in range(JOINTS):
        total += p[i] * q[i]
    return total


@lru_cache(maxsize=1)
def prepare_self_motion() -> None:
    """Compile the tracing of self-motions, unless compiled before."""
    prepare_general_6r()
    fix_types(trace, (2, 2, 1, 1), (2,))
    fix_types(passes, (2, 2, 1, 2, 1), ())
    fix_types(point_at, (2, 2, 1, 1, 1), (1,))
