# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled gathering: every eigenvalue's solution, once, and whether all of it adds up."""

from __future__ import annotations

import math

import numpy as np

from arm_kinematics.general_6r.kernels_candidates import (
    ALPHA_IM,
    BRANCHES,
    candidate,
    imaginary_part,
)
from arm_kinematics.general_6r.kernels_elimination import SIZE
from arm_kinematics.general_6r.kernels_lines import UNIT, copy
from arm_kinematics.general_6r.kernels_polish import SOLVED, is_same, newton
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import Array, work

# Row 0 of the result: number of solutions, which follow; and of the order that came last: how many
# it found, whether all adds up, the largest error of a real eigenvalue's candidate.
COUNT, FOUND, SOUND, WORST = 0, 1, 2, 3
CAPACITY = 64
NEARLY_REAL = 0.01  # imaginary part of an angle [rad] up to which rounding may have made it ...
CLOSE = (1e-4, 1e-2)  # error up to which a real, a nearly real eigenvalue's candidate is right
FAR = 0.2  # imaginary part of an angle [rad] from which on no real solution is near
WORTHWHILE = 0.03  # error up to which a complex one's is polished


@kernel
def collect(
    c: Array,
    T: Array,
    t: Array,
    lines: Array,
    Z: Array,
    values: Array,
    vectors: Array,
    out: Array,
) -> None:
    """Add the solutions that belong to the eigenvalues to those in out (1 + CAPACITY, 6).

    All adds up if each real eigenvalue's candidate nearly is a solution, these are all different,
    and further ones are even in number and come from complex pairs that rounding may have made of
    real ones. That is what a general arm does; it fails if the arm is special (the pencil is
    singular, or several solutions share the angle of the third joint), or its pose is singular.
    Then another order of the loop has to say.

    Args:
        c: Constants of the chain, see kernels.py of the package.
        T: Wanted pose of the tip (4, 4).
        t: The order of the loop (7, 8).
        lines: Filled by `eliminate`, like Z.
        Z: Null space (16, 28).
        values: Eigenvalues (3, 16), see `candidate`.
        vectors: Eigenvectors (16, 16).
        out: The result so far.
    """
    W, q, unit = work(6), np.empty(6), t[6, UNIT]
    mine = np.zeros((1 + 2 * SIZE, 6))
    real, nearly, worst, sound = 0, 0, 0.0, True
    i = 0
    while i < SIZE:
        is_real = values[ALPHA_IM, i] == 0.0
        off = 0.0 if is_real else imaginary_part(values, i)
        for branch in range(BRANCHES if off < FAR else 0):
            several = candidate(t, lines, Z, values, vectors, i, branch, q)
            first, last = newton(c, T, unit, math.inf if is_real else WORTHWHILE, q, W)
            if branch == 0 and is_real:
                real += 1
                worst = max(worst, first)
            elif branch == 0 and off < NEARLY_REAL:
                nearly += 2
                sound = sound and first < CLOSE[1]
            if last < SOLVED:
                _add(c, T, unit, q, W, mine)
            if not several:
                break
        i += 1 if is_real else 2
    found = int(mine[0, COUNT])
    for k in range(found):
        _add(c, T, unit, mine[1 + k], W, out)
    sound = sound and worst < CLOSE[0] and real <= found <= real + nearly and found % 2 == 0
    out[0, FOUND], out[0, SOUND], out[0, WORST] = found, 1.0 if sound else 0.0, worst


@kernel
def _add(c: Array, T: Array, unit: float, q: Array, W: Array, known: Array) -> None:
    """Append q to the known solutions unless it is one of them, or no room is left."""
    count = int(known[0, COUNT])
    for k in range(count):
        if is_same(c, T, unit, known[1 + k], q, W):
            return
    if 1 + count < known.shape[0]:
        copy(q, known[1 + count])
        known[0, COUNT] += 1.0
