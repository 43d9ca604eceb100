# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/closed_form/test_formulas.py
"""The steps for two joints that appear together in two equations: the roots of a quartic.

The equations are linear in the functions phi of both joints: cos u and sin u, or u and u^2 of a
slide. Solved for those of one joint they are linear functions of those of the other, and the
relation between the two (cos^2 + sin^2 = 1, or the second is the square of the first) is a
quartic in t = tan(u/2), or in u itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from arm_studio.closed_form.formulas import InverseStep
from arm_studio.closed_form.worksheet import Linear, Worksheet
from arm_studio.symbolic.local_frames import LocalJoint


def write_quartic(
    sheet: Worksheet,
    one: LocalJoint,
    root: LocalJoint,
    rows: Sequence[tuple[Linear, Linear]],
    text: str,
) -> None:
    """Append two joints.

    Args:
        sheet: The steps are appended to it.
        one: The joint that follows from the other one.
        root: The joint that is a root.
        rows: For each equation the side of ``one``, and the side of ``root``.
        text: Where the equations come from.
    """
    size, f, g = _solved(sheet, root.number, rows, text)
    t = root.q if root.slides else sheet.symbol(f"t_{root.number}")
    polynomial = _polynomial(one, root, size, (_numerator(root, f, t), _numerator(root, g, t)), t)
    if root.slides:
        sheet.add(root, polynomial, "Together they are a quartic for it.", unknown=t)
    else:
        half = f"tan(({root.q + root.shift})/2)" if root.shift else f"tan({root.q}/2)"
        sheet.steps.append(InverseStep(t, polynomial, f"A quartic for {t} = {half}:", unknown=t))
        text = "Each real root is a solution; half a turn is one if the first coefficient is 0."
        sheet.add(root, 2 * sp.atan(t) - root.shift, text)
    p, q = (root.q * root.sense, root.q**2) if root.slides else (root.cosine, root.sine)
    x, y = (h[0] + h[1] * p + h[2] * q for h in (f, g))
    value = x / size if one.slides else sp.atan2(y / size, x / size)
    free = () if sheet.frames.is_constant(size) else (size,)
    shift = 0 if one.slides else one.shift
    sheet.add(one, one.sense * value - shift, "Both equations give it.", free=free)


def _solved(
    sheet: Worksheet, number: str, rows: Sequence[tuple[Linear, Linear]], text: str
) -> tuple[sp.Expr, list[sp.Expr], list[sp.Expr]]:
    """Return E, f, g: E phi_1 = f . (1, phi) and E phi_2 = g . (1, phi) of the other joint."""
    left, right = (
        [
            [sheet.define(f"{name}_{row}{i}", c, text) for i, c in enumerate(pair[side])]
            for row, pair in enumerate(rows, start=1)
        ]
        for side, name in ((0, "l"), (1, "m"))
    )
    (k, a, b), (m, d, e) = left
    size = sheet.define(f"E_{number}", a * e - b * d, text)
    shifted = [[side[0] - start, *side[1:]] for start, side in zip((k, m), right, strict=True)]
    f, g = (
        [
            sheet.define(f"{name}_{i}", sheet.tidied(u * x + v * y), text)
            for i, (x, y) in enumerate(zip(*shifted, strict=True))
        ]
        for name, u, v in (("f", e, -b), ("g", -d, a))
    )
    return size, f, g


def _numerator(root: LocalJoint, h: Sequence[sp.Expr], t: sp.Symbol) -> sp.Expr:
    """Return h . (1, phi) as a polynomial in t, without its denominator 1 + t^2 of a turn."""
    u = root.sense * t
    if root.slides:
        return h[0] + h[1] * u + h[2] * u**2
    return (h[0] + h[1]) + 2 * h[2] * u + (h[0] - h[1]) * u**2


def _polynomial(
    one: LocalJoint,
    root: LocalJoint,
    size: sp.Expr,
    sides: tuple[sp.Expr, sp.Expr],
    t: sp.Symbol,
) -> sp.Expr:
    """Return the relation of the two functions of a joint, which is 0."""
    x, y = sides
    below = sp.Integer(1) if root.slides else 1 + t**2
    return x**2 - y * size * below if one.slides else x**2 + y**2 - size**2 * below**2
