# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: up to three joints of any kind bring a point c to its place c'.

With x = e2 y(q3) = z(q1), y = e3 c and z = inverse(e1) c', what joint 2 leaves alone is equal for
y and z. If it turns about w through p these are w . (x - p) and |x - p|^2 (Pieper, "The kinematics
of manipulators under computer control", Stanford 1968), if it slides two coordinates across it.
All four are linear in phi(q), see kernels_equations.py:

    r1 + R1 phi(q1) = r3 + R3 phi(q3)      s1 + S1 phi(q1) = s3 + S3 phi(q3)

Where neighbouring axes are parallel or meet, one of R1, S1, R3, S3 vanishes for a suitable p: then
one joint is alone in an equation, and the other follows from the other equation. Otherwise phi(q1)
comes from both, and the equation between its two parts is a quartic. Joint 2 follows in the end.
"""

from __future__ import annotations

from arm_kinematics.closed_form.kernels_equations import FREE, phi, roots
from arm_kinematics.closed_form.kernels_invariants import (
    copy_row,
    invariant,
    on_path,
    path,
    size_of,
    swing,
)
from arm_kinematics.closed_form.kernels_plan import (
    BOTH,
    FIRST,
    INVARIANT,
    JOINTS,
    SLIDES,
    UNSURE,
    VALUES,
)
from arm_kinematics.closed_form.kernels_quartic import quartic_branches
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import Array
from arm_kinematics.kernels_vectors import Vector


@kernel
def place(
    plan: Array, joints: int, c: Vector, target: Vector, B: Array, source: int, row: int
) -> int:
    """Let the first joints bring c to target; return how many ways there are.

    Args:
        plan: See kernels_plan.py.
        joints: How many they are, 0 to 3.
        c: Where the point is with these joints at zero.
        target: Where it is wanted.
        B: Branches; each way becomes a row, from ``row`` on.
        source: The row of B that has been found so far.
        row: See B.
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
    """The same for joints ``at`` and ``at + 1``: the second from an invariant, then the first."""
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


@kernel
def _by_three(plan: Array, c: Vector, target: Vector, B: Array, source: int, row: int) -> int:
    """The outer joint that is alone in an equation, the other one, and the one between them."""
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
