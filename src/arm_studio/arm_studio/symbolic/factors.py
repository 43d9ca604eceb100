# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/symbolic/test_singularities.py
"""Factors of a polynomial in sines and cosines, each in its shortest form.

With s^2 + c^2 = 1 one polynomial has many forms, and not each of them can be factored:
1 - c^2 has other factors than s^2. Several forms are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, combinations

import sympy as sp
from sympy.polys.rings import PolyElement

from arm_studio.symbolic.polynomials import TrigRing

_FEW = 2  # fewest terms of a polynomial that may have factors
_HALVED = 100  # most terms of a polynomial that is written with half angles
_MOST = 400  # terms below which a polynomial is always factored
_ENOUGH = 4  # most terms of a factor that needs no other form
_SHORT = 40  # terms below which all sums of angles are tried


def factors_of(
    ring: TrigRing,
    polynomial: PolyElement,
    joints: Iterable[sp.Symbol],
    zeros: Iterable[sp.Expr] = (),
) -> list[sp.Expr]:
    """Return the factors of a polynomial that depend on the joints, as short formulas.

    Args:
        ring: Its ring.
        polynomial: The polynomial.
        joints: The symbols that vary.
        zeros: Sines and cosines that are 0.
    """
    joints = list(joints)
    best: list[PolyElement] = []
    for form in _forms(ring, polynomial):
        factors = _varying(ring, _split(ring, form, joints), joints)
        best = min(best or factors, factors, key=_size)
        if _size(best)[0] <= _ENOUGH:
            break
    parts = [part for factor in best for part in _by_half_angles(ring, factor, joints)]
    formulas = (shortest(ring, factor, joints, zeros) for factor in parts)
    return sorted(dict.fromkeys(formulas), key=lambda f: (len(terms(f)), str(f)))


def _size(factors: Sequence[PolyElement]) -> tuple[int, int]:
    return max(map(len, factors), default=0), sum(map(len, factors))


def _split(
    ring: TrigRing, polynomial: PolyElement, joints: Sequence[sp.Symbol]
) -> list[PolyElement]:
    """Return the distinct factors of a polynomial.

    With sines and cosines of one degree, all cosines may be 1 meanwhile. The lengths are numbers
    first: if there is one factor then, there is only one.
    """
    monomial, polynomial = ring.monomial_of(polynomial)
    flat, angles = ring.dehomogenized(polynomial)
    factors = [flat]
    if 1 < len(flat) < _MOST or (len(flat) > 1 and not ring.is_irreducible(flat, joints)):
        factors = [factor for factor, _ in flat.factor_list()[1]]
    return [*monomial, *(ring.rehomogenized(factor, angles) for factor in factors)]


def _varying(
    ring: TrigRing, factors: Iterable[PolyElement], joints: Iterable[sp.Symbol]
) -> list[PolyElement]:
    reduced = (ring.reduced(factor) for factor in factors)
    return [factor for factor in reduced if ring.depends(factor, joints)]


def terms(formula: sp.Expr) -> tuple[sp.Expr, ...]:
    """Return the terms of a formula that is a sum."""
    return sp.Add.make_args(formula)


def _forms(ring: TrigRing, polynomial: PolyElement) -> list[PolyElement]:
    reduced = ring.reduced(polynomial)
    forms = [ring.homogeneous(reduced), reduced, ring.reduced(polynomial, cosines=True)]
    return list(dict.fromkeys(forms))


def _by_half_angles(
    ring: TrigRing, polynomial: PolyElement, joints: Sequence[sp.Symbol]
) -> list[PolyElement]:
    """Return factors of a polynomial, found with sines and cosines of half angles.

    With c = C^2 - S^2, s = 2 S C and 1 = C^2 + S^2 all terms have one degree, and this form is
    unique; a factor of odd degree is multiplied by the others, or by itself.
    """
    mixed = ring.mixed(polynomial)
    if not mixed or not _FEW <= len(polynomial) <= _HALVED:
        return [polynomial]
    halved = ring.halved(polynomial, mixed)
    factors: list[PolyElement] = []
    odd: dict[tuple[int, ...], PolyElement] = {}
    for factor in _split(ring, halved, joints):
        parity = tuple(ring.degree(factor, i) % 2 for i in mixed)
        if any(parity):
            odd[parity] = odd.get(parity, ring.one) * factor
        else:
            factors.append(factor)
    for product in odd.values():
        degrees = [ring.degree(product, i) % 2 for i in mixed]
        factors.append(product**2 if any(degrees) else product)
    return _varying(ring, (ring.doubled(f, mixed) for f in factors), joints)


def shortest(
    ring: TrigRing,
    polynomial: PolyElement,
    joints: Iterable[sp.Symbol],
    zeros: Iterable[sp.Expr] = (),
) -> sp.Expr:
    """Return a polynomial as a formula, with sines and cosines of sums where that is shorter.

    Its sign and a number as a factor are left out. Some sines or cosines may be 0.
    """
    turning = [i for i, angle in enumerate(ring.angles) if angle.free_symbols & set(joints)]
    sizes = range(len(turning) + 1 if len(polynomial) < _SHORT else 2)
    choices = chain.from_iterable(combinations(turning, size) for size in sizes)
    sums = [sp.Add(*(c * f for f, c in ring.products(polynomial, w))) for w in choices]
    for zero in zeros:
        sums += [_merged(form, zero) for form in sums]
    return _plain(min(filter(None, sums), key=lambda f: (len(terms(f)), f.count_ops())))


def _plain(formula: sp.Expr) -> sp.Expr:
    """Return a sum without a common numerical factor, with mostly positive terms."""
    parts = [term.as_coeff_Mul() for term in terms(formula)]
    content = sp.gcd_list([abs(c) for c, _ in parts]) if len(parts) > 1 else abs(parts[0][0])
    parts = sorted(((c / content, f) for c, f in parts), key=lambda part: str(part[1]))
    negative = sum(1 if c < 0 else -1 for c, _ in parts)
    flip = negative > 0 or (negative == 0 and parts[0][0] < 0)
    return sp.Add(*((-c if flip else c) * f for c, f in parts))


def _merged(formula: sp.Expr, zero: sp.Expr) -> sp.Expr:
    """Merge an angle whose sine or cosine is 0 into another angle of a formula.

    Where sin b = 0, cos a cos b is cos(a + b) and cos(a - b).
    """
    b = zero.args[0]
    other = sp.cos(b) if isinstance(zero, sp.sin) else sp.sin(b)
    merged = []
    for term in terms(formula):
        rest, factor = term.as_independent(other)
        wave = next((w for w in _waves_of(rest) if len(w.args[0].free_symbols) > 0), None)
        if factor != other or wave is None:
            merged.append(term)
            continue
        a = wave.args[0]
        merged.append(rest / wave * min(_sums(wave, a, b, zero), key=lambda f: f.count_ops()))
    return sp.Add(*merged)


def _waves_of(formula: sp.Expr) -> list[sp.Expr]:
    return sorted(
        (f for f in sp.Mul.make_args(formula) if isinstance(f, sp.sin | sp.cos)), key=str
    )


def _sums(wave: sp.Expr, a: sp.Expr, b: sp.Expr, zero: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    if isinstance(zero, sp.sin):
        return wave.func(a + b), wave.func(a - b)
    if isinstance(wave, sp.cos):  # sin b cos a
        return sp.sin(a + b), -sp.sin(a - b)
    return -sp.cos(a + b), sp.cos(a - b)
