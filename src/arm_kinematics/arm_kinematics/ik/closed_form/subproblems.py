# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled subproblems: up to three joints place a point (`place`) or make a rotation (`turn`).

Joints of any kind bring a point c to its place c'. With x = e2 y(q3) = z(q1), y = e3 c and
z = inverse(e1) c', the invariants of joint 2 are equal for y and z. If it turns about w through p
they are w . (x - p) and |x - p|^2 (Pieper, "The kinematics of manipulators under computer
control", Stanford 1968), if it slides, two coordinates across it. All four are linear in phi(q),
see roots.py:

    r1 + R1 phi(q1) = r3 + R3 phi(q3)      s1 + S1 phi(q1) = s3 + S3 phi(q3)

Where neighbouring axes are parallel or meet, one of R1, S1, R3, S3 vanishes for a suitable p: then
one joint is alone in an equation, and the other follows from the other equation. Otherwise phi(q1)
is a linear function of phi(q3). With t = tan(q3 / 2), or t = q3 if it slides, both parts are
quadratics over 1 + t^2, or over 1, and their relation (c^2 + s^2 = 1, or the second is the
square of the first) is a quartic. Joint 2 follows last.

A rotation R is R4, R4 R5 or R4 R5 R6 about given axes. With three the polar angle of R w6 from w4
is that of R5 w6, which gives q5 by the spherical law of cosines, in the half-angle form that keeps
its digits where the wrist is straight. The rest is subproblem 1 of Paden and Kahan (Murray, Li and
Sastry, "A Mathematical Introduction to Robotic Manipulation", 1994, section 3.3.2): q4 turns R5 w6
to R w6, and since R5 w5 = w5, q6 turns R' R4 w5 to w5.
"""

from __future__ import annotations

import math

from arm_common.jit import allocating_kernel, inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form.invariants import (
    BEND_4,
    BEND_6,
    BOTH,
    DIRECTION,
    FIRST,
    INVARIANT,
    JOINTS,
    NORMAL_0,
    ORIGIN,
    PARALLEL,
    SLIDES,
    UNSURE,
    VALUES,
    ZERO,
    Path,
    copy_row,
    invariant,
    on_path,
    path,
    size_of,
    swing,
)
from arm_kinematics.ik.closed_form.roots import (
    DEGREE,
    FREE,
    LOST,
    VANISHED,
    phi,
    real_roots,
    roots,
    tables,
)
from arm_kinematics.kernels.vectors import (
    Rotation,
    Vector,
    angle_of,
    angle_to,
    cross,
    dot,
    length,
    minus,
    plus,
    rotated,
    rotated_back,
    turned,
    vector,
)

Linear = tuple[float, float, float]


@kernel
def quartic_branches(plan: Array, on_1: Path, on_3: Path, B: Array, source: int, row: int) -> int:
    """Fill in three joints from the paths of z and y; arguments and result as for ``place``."""
    k1, a1, b1 = invariant(plan, 0, 1, 0, on_1)
    m1, d1, e1 = invariant(plan, 1, 1, 0, on_1)
    r3 = invariant(plan, 0, 1, 2, on_3)
    s3 = invariant(plan, 1, 1, 2, on_3)
    size = size_of(plan, 0, 1) * size_of(plan, 1, 1)
    if plan[JOINTS, SLIDES] != 0.0:
        size /= size_of(plan, 0, 1)
    det = a1 * e1 - b1 * d1
    if abs(det) <= VANISHED * size:
        found = _third_alone(plan, r3[0] - k1, r3[1], r3[2], B, source, row)
    else:
        r3, s3 = (r3[0] - k1, r3[1], r3[2]), (s3[0] - m1, s3[1], s3[2])
        f = _combined(e1 / det, r3, -b1 / det, s3)
        g = _combined(-d1 / det, r3, a1 / det, s3)
        found = _both(plan, 0, 2, f, g, B, source, row)
    for i in range(row, row + found):
        f0, f1 = phi(plan[JOINTS + 2, SLIDES] != 0.0, B[i, VALUES + 2])
        y = on_path(on_3, f0, f1)
        f0, f1 = phi(plan[JOINTS, SLIDES] != 0.0, B[i, VALUES])
        swing(plan, 1, y, on_path(on_1, f0, f1), B, i)
    return found


@kernel
def _combined(k: float, a: Linear, m: float, b: Linear) -> Linear:
    return k * a[0] + m * b[0], k * a[1] + m * b[1], k * a[2] + m * b[2]


@kernel
def _third_alone(
    plan: Array, k: float, a: float, b: float, B: Array, source: int, row: int
) -> int:
    """Solve for joint 3 alone; joint 1 does not move the target and stays at the seed."""
    sliding = plan[JOINTS + 2, SLIDES] != 0.0
    found, q0, q1 = roots(sliding, a, b, -k, size_of(plan, 0, 1))
    for i in range(abs(found)):
        copy_row(B, source, row + i)
        B[row + i, UNSURE] = 1.0
        if found != FREE:
            B[row + i, VALUES + 2] = q0 if i == 0 else q1
    return abs(found)


@kernel
def both_ends(plan: Array, R: Rotation, t: Vector, B: Array, source: int, row: int) -> int:
    """Fill in the joint before parallel axes and the first of two behind them; return the number.

    A point p and the direction w of the last axis keep their components along the parallel axes:
    h . e5 p = h . inverse(e1) Q p and h . R5 w = h . inverse(R1) R w, with Q = (R, t).
    """
    h, five = vector(plan, 2, NORMAL_0), 1 + int(plan[0, PARALLEL])
    w, p = vector(plan, JOINTS + five + 1, DIRECTION), vector(plan, JOINTS + five + 1, ORIGIN)
    k, a, b = _along(h, path(plan, five, p, 1.0))
    r0, r1, r2 = _along(h, path(plan, 0, plus(rotated(R, p), 1.0, t), -1.0))
    m, d, e = _along(h, _turning(plan, five, w, 1.0))
    s0, s1, s2 = _along(h, _turning(plan, 0, rotated(R, w), -1.0))
    det = a * e - b * d  # a property of the arm, far from 0
    r, s = (r0 - k, r1, r2), (s0 - m, s1, s2)
    f, g = _combined(e / det, r, -b / det, s), _combined(-d / det, r, a / det, s)
    return _both(plan, five, 0, f, g, B, source, row)


@kernel
def _along(h: Vector, on: Path) -> Linear:
    return dot(h, on[0]), dot(h, on[1]), dot(h, on[2])


@kernel
def _turning(plan: Array, joint: int, v: Vector, sense: float) -> Path:
    """Return the path, as of a point, of a direction turned by a joint, or back."""
    nothing = (0.0, 0.0, 0.0)
    if plan[JOINTS + joint, SLIDES] != 0.0:
        return v, nothing, nothing
    w = vector(plan, JOINTS + joint, DIRECTION)
    foot = plus(nothing, dot(w, v), w)
    C = minus(v, foot)
    return foot, C, plus(nothing, sense, cross(w, C))


@allocating_kernel
def _both(
    plan: Array, one: int, three: int, f: Linear, g: Linear, B: Array, source: int, row: int
) -> int:
    """Fill in joints ``one`` and ``three`` from phi(q1) = (f, g) . (1, phi(q3))."""
    slides_1, slides_3 = plan[JOINTS + one, SLIDES] != 0.0, plan[JOINTS + three, SLIDES] != 0.0
    start = 0.0
    if not slides_3:
        start = _away_from_roots(slides_1, f, g)
        f, g = _started(f, start), _started(g, start)
    P, X = tables()
    _fill_quartic(slides_1, slides_3, f, g, P)
    found = min(real_roots(P, X), DEGREE)
    for i in range(found):
        t = X[DEGREE, i]
        q = t if slides_3 else 2.0 * math.atan(t)
        p0, p1 = phi(slides_3, q)
        u, v = f[0] + f[1] * p0 + f[2] * p1, g[0] + g[1] * p0 + g[2] * p1
        copy_row(B, source, row + i)
        B[row + i, VALUES + three] = start + q
        B[row + i, VALUES + one] = u if slides_1 else math.atan2(v, u)
    return found


@kernel
def _away_from_roots(slides_1: bool, f: Linear, g: Linear) -> float:
    """Return the quarter turn q3 opposite to which the equation is farthest from holding.

    There t is infinite, so it must not be a root.
    """
    best, start = -1.0, 0.0
    for quarter in range(4):
        k, s = (1.0 - quarter, 0.0) if quarter % 2 == 0 else (0.0, 2.0 - quarter)
        u, v = f[0] - f[1] * k - f[2] * s, g[0] - g[1] * k - g[2] * s
        off = abs(u * u - v) if slides_1 else abs(u * u + v * v - 1.0)
        if off > best:
            best, start = off, 0.5 * math.pi * quarter
    return start


@kernel
def _started(f: Linear, start: float) -> Linear:
    """Return f with q3 counted from ``start``."""
    k, s = math.cos(start), math.sin(start)
    return f[0], f[1] * k + f[2] * s, f[2] * k - f[1] * s


@kernel
def _fill_quartic(slides_1: bool, slides_3: bool, f: Linear, g: Linear, P: Array) -> None:
    """Fill P[DEGREE] with the coefficients in t."""
    d2 = 0.0 if slides_3 else 1.0  # d = 1 + d2 t^2
    if slides_3:
        x0, x1, x2 = f
        y0, y1, y2 = g
    else:
        x0, x1, x2 = f[0] + f[1], 2.0 * f[2], f[0] - f[1]
        y0, y1, y2 = g[0] + g[1], 2.0 * g[2], g[0] - g[1]
    P[DEGREE, 0], P[DEGREE, 1] = x0 * x0, 2.0 * x0 * x1
    P[DEGREE, 2] = x1 * x1 + 2.0 * x0 * x2
    P[DEGREE, 3], P[DEGREE, 4] = 2.0 * x1 * x2, x2 * x2
    if slides_1:  # x^2 = y d
        P[DEGREE, 0] -= y0
        P[DEGREE, 1] -= y1
        P[DEGREE, 2] -= y2 + y0 * d2
        P[DEGREE, 3] -= y1 * d2
        P[DEGREE, 4] -= y2 * d2
    else:  # x^2 + y^2 = d^2
        P[DEGREE, 0] += y0 * y0 - 1.0
        P[DEGREE, 1] += 2.0 * y0 * y1
        P[DEGREE, 2] += y1 * y1 + 2.0 * y0 * y2 - 2.0 * d2
        P[DEGREE, 3] += 2.0 * y1 * y2
        P[DEGREE, 4] += y2 * y2 - d2 * d2


@inlined_kernel
def place(
    plan: Array, joints: int, c: Vector, target: Vector, B: Array, source: int, row: int
) -> int:
    """Solve for the first 0 to 3 joints, which bring the point c (at joints 0) to target.

    Returns the number of solutions. Each becomes a row of B from ``row`` on, a copy of the partial
    branch in row ``source`` with these joints filled in.
    """
    if joints == 3:
        return _by_three(plan, c, target, B, source, row)
    if joints == 2:
        return place_by_two(plan, 0, c, target, B, source, row)
    copy_row(B, source, row)
    if joints == 1:
        swing(plan, 0, c, target, B, row)
    return 1


@kernel
def place_by_two(
    plan: Array, at: int, c: Vector, target: Vector, B: Array, source: int, row: int
) -> int:
    """Solve like ``place`` for joints ``at`` and ``at + 1``, the second by an invariant."""
    which, second = int(plan[0, INVARIANT]), at + 1
    on = path(plan, second, c, 1.0)
    k, a, b = invariant(plan, which, at, second, on)
    nowhere = (0.0, 0.0, 0.0)
    wanted, _, _ = invariant(plan, which, at, at, (target, nowhere, nowhere))
    sliding = plan[JOINTS + second, SLIDES] != 0.0
    found, q0, q1 = roots(sliding, a, b, wanted - k, size_of(plan, which, at))
    for i in range(row, row + abs(found)):
        copy_row(B, source, i)
        if found == FREE:
            B[i, UNSURE] = 1.0
        else:
            B[i, VALUES + second] = q0 if i == row else q1
        f0, f1 = phi(sliding, B[i, VALUES + second])
        swing(plan, at, on_path(on, f0, f1), target, B, i)
    return abs(found)


@inlined_kernel
def _by_three(plan: Array, c: Vector, target: Vector, B: Array, source: int, row: int) -> int:
    """Solve for the outer joint alone in an equation, then the other one, then the middle one."""
    lead, middle, follow = 0, 1, 2
    on_lead, on_follow = path(plan, 0, target, -1.0), path(plan, 2, c, 1.0)
    if plan[0, FIRST] == BOTH:
        return quartic_branches(plan, on_lead, on_follow, B, source, row)
    if plan[0, FIRST] != 0.0:
        lead, follow = follow, lead
        on_lead, on_follow = on_follow, on_lead
    r, s = int(plan[0, INVARIANT]), 1 - int(plan[0, INVARIANT])
    k, a, b = invariant(plan, r, middle, lead, on_lead)
    wanted, _, _ = invariant(plan, r, middle, follow, on_follow)
    k1, a1, b1 = invariant(plan, s, middle, lead, on_lead)
    k2, a2, b2 = invariant(plan, s, middle, follow, on_follow)
    slides, slides_2 = plan[JOINTS + lead, SLIDES] != 0.0, plan[JOINTS + follow, SLIDES] != 0.0
    found, u0, u1 = roots(slides, a, b, wanted - k, size_of(plan, r, middle))
    end = row
    for i in range(abs(found)):
        u = B[source, VALUES + lead] if found == FREE else (u0 if i == 0 else u1)
        f0, f1 = phi(slides, u)
        x = on_path(on_lead, f0, f1)
        rest = k1 + a1 * f0 + b1 * f1 - k2
        found_2, v0, v1 = roots(slides_2, a2, b2, rest, size_of(plan, s, middle))
        for m in range(abs(found_2)):
            copy_row(B, source, end)
            B[end, VALUES + lead] = u
            if found_2 != FREE:
                B[end, VALUES + follow] = v0 if m == 0 else v1
            if found == FREE or found_2 == FREE:
                B[end, UNSURE] = 1.0
            f0, f1 = phi(slides_2, B[end, VALUES + follow])
            y = on_path(on_follow, f0, f1)
            if lead < follow:
                swing(plan, middle, y, x, B, end)
            else:
                swing(plan, middle, x, y, B, end)
            end += 1
    return end - row


STRAIGHT = 1e-10
"""Sine of the angle below which two axes count as aligned."""


@inlined_kernel
def turn(
    plan: Array, w: Vector, at: int, more: int, R: Rotation, B: Array, source: int, row: int
) -> int:
    """Decompose R into turns about w and the last 0 to 2 (more) joints; return how many ways.

    Column ``at`` of B is for the turn about w. Each solution becomes a row of B from ``row`` on, a
    copy of the partial branch in row ``source`` with these joints filled in.
    """
    if more == 2:
        return _three_turns(plan, w, at, R, B, source, row)
    copy_row(B, source, row)
    if more == 0:
        B[row, at] = angle_of(w, R)
        return 1
    five = plan.shape[0] - 1
    w5 = vector(plan, five, DIRECTION)
    B[row, VALUES - JOINTS + five] = angle_to(w5, rotated_back(R, w), w)
    B[row, at] = angle_to(w, w5, rotated(R, w5))
    return 1


@inlined_kernel
def _three_turns(
    plan: Array, w: Vector, at: int, R: Rotation, B: Array, source: int, row: int
) -> int:
    five = plan.shape[0] - 2
    v = rotated(R, vector(plan, five + 1, DIRECTION))
    five += VALUES - JOINTS
    aside = length(cross(w, v))
    square = plan[3, BEND_4] == 0.5 * math.pi and plan[3, BEND_6] == 0.5 * math.pi
    bend = math.atan2(aside, dot(w, v))
    if not square:
        bend = _bend(bend, plan[3, BEND_4], plan[3, BEND_6])
        if bend < 0.0:
            return 0
    ways = 1 if bend <= STRAIGHT or math.pi - bend <= STRAIGHT else 2
    for i in range(row, row + ways):
        copy_row(B, source, i)
        B[i, five] = plan[3, ZERO] + (bend if i == row else -bend)
        if i > row and square:  # the same wrist, turned over
            B[i, at], B[i, five + 1] = B[row, at] + math.pi, B[row, five + 1] + math.pi
            break
        outer_turns(plan, w, at, R, B, i)
    return ways


@inlined_kernel
def outer_turns(plan: Array, w: Vector, at: int, R: Rotation, B: Array, row: int) -> None:
    """Fill in the turn about w and the last joint; the one between them is known."""
    five = plan.shape[0] - 2
    w5, w6 = vector(plan, five, DIRECTION), vector(plan, five + 1, DIRECTION)
    five += VALUES - JOINTS
    v = rotated(R, w6)
    if length(cross(w, v)) > STRAIGHT:
        B[row, at] = angle_to(w, turned(w5, B[row, five], w6), v)
    else:  # the outer axes are aligned, so one of them is kept at the seed
        B[row, UNSURE] = 1.0
        if at < VALUES:
            B[row, at] = angle_to(w, w5, rotated(R, turned(w6, -B[row, five + 1], w5)))
    B[row, five + 1] = angle_to(w6, rotated_back(R, turned(w, B[row, at], w5)), w5)


@kernel
def _bend(polar: float, b4: float, b6: float) -> float:
    """Return the angle at joint 5 of the triangle on the sphere with sides b4, b6 and ``polar``.

    tan^2(x/2) = sin((c-a+b)/2) sin((c+a-b)/2) / (sin((a+b-c)/2) sin((a+b+c)/2)); -1 if there is no
    such triangle.
    """
    over = math.sin(0.5 * (polar - b4 + b6)) * math.sin(0.5 * (polar + b4 - b6))
    under = math.sin(0.5 * (b4 + b6 - polar)) * math.sin(0.5 * (b4 + b6 + polar))
    if over < -LOST or under < -LOST:
        return -1.0
    return 2.0 * math.atan2(math.sqrt(max(over, 0.0)), math.sqrt(max(under, 0.0)))
