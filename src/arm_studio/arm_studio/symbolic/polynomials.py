# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/symbolic/test_arm.py
"""Formulas as polynomials in lengths, cosines and sines: exact and fast.

Every entry of the kinematics is such a polynomial once sums of angles are expanded. Two of them
are equal if their difference, with s^2 = 1 - c^2 for every angle, is zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.simplify.fu import TR10i

_MOST_TIMES = 12  # an angle in an argument; sines of more are long sums
_SHORT = 40  # operations of a factor in which sums of angles are looked for


class TrigRing:
    """Polynomials over all symbols of some formulas."""

    def __init__(self, *formulas: sp.Matrix | sp.Expr) -> None:
        parts = [sp.Matrix([f]) if isinstance(f, sp.Expr) else f for f in formulas]
        arguments = {f.args[0] for part in parts for f in part.atoms(sp.sin, sp.cos)}
        self._multiples = _multiples(arguments)
        self._angles = sorted({angle for angle, _ in self._multiples.values()}, key=str)
        self._units = {a: sp.Symbol(f"u.{a}", real=True) for a in self._angles}
        self._cosines = {a: sp.Symbol(f"c.{a}", real=True) for a in self._angles}
        self._sines = {a: sp.Symbol(f"s.{a}", real=True) for a in self._angles}
        lengths = {s for part in parts for s in part.free_symbols}
        pairs = [x for a in self._angles for x in (self._sines[a], self._cosines[a])]
        self._gens = [*pairs, *sorted(lengths, key=str)]
        self._domain: Any = sp.QQ[tuple(self._gens)] if self._gens else sp.QQ

    def matrix(self, formulas: sp.Matrix) -> DomainMatrix:
        """Return formulas as a matrix of polynomials."""
        plain = formulas.applyfunc(self._algebraic)
        return DomainMatrix.from_Matrix(plain).convert_to(self._domain)

    def _algebraic(self, formula: sp.Expr) -> sp.Expr:
        names = {sp.cos(self._units[a]): c for a, c in self._cosines.items()}
        names |= {sp.sin(self._units[a]): s for a, s in self._sines.items()}
        whole = {f: f.func(self._whole(f.args[0])) for f in formula.atoms(sp.sin, sp.cos)}
        return sp.expand_trig(formula.xreplace(whole)).subs(names)

    def _whole(self, argument: sp.Expr) -> sp.Expr:
        """Return the argument of a sine or cosine as a sum of whole multiples of angles."""
        total = sp.Integer(0)
        for term in sp.Add.make_args(sp.expand(argument)):
            angle, multiple = self._multiples.get(term, (None, 0))
            total += term if angle is None else multiple * self._units[angle]
        return total

    def reduced(self, polynomial: Any) -> sp.Expr:
        """Return a polynomial as an expression in which each sine appears at most once."""
        return self._remainder(self._domain.to_sympy(polynomial))

    def is_zero(self, matrix: DomainMatrix) -> bool:
        """Return whether every entry of a matrix of polynomials vanishes identically."""
        return all(self.reduced(entry) == 0 for entry in matrix.to_list_flat())

    def factors_of(self, polynomial: Any) -> list[sp.Expr]:
        """Return the factors of a polynomial, reduced or as it is: whichever are more."""
        ways = [self.reduced(polynomial), self._domain.to_sympy(polynomial)]
        if ways[0] == 0:
            return [sp.Integer(0)]
        found = [self.factors(way) for way in ways]
        return max(found, key=lambda factors: (len(factors), -sum(f.count_ops() for f in factors)))

    def factors(self, expression: sp.Expr) -> list[sp.Expr]:
        """Return the factors of a reduced polynomial that are not constant, as formulas."""
        if expression == 0:
            return [sp.Integer(0)]
        _, factors = sp.factor_list(expression, *self._gens)
        return [self.formula(factor) for factor, _ in factors if self._varies(factor)]

    def _remainder(self, expression: sp.Expr) -> sp.Expr:
        relations = [self._sines[a] ** 2 + self._cosines[a] ** 2 - 1 for a in self._angles]
        if not relations or expression == 0:
            return expression
        return sp.reduced(expression, relations, *self._gens, order="lex", polys=False)[1]

    def _varies(self, factor: sp.Expr) -> bool:
        """Return whether a factor depends on an angle, which s^2 + c^2 does not."""
        trigonometric = {*self._cosines.values(), *self._sines.values()}
        if not factor.free_symbols & trigonometric:
            return False
        return bool(self._remainder(factor).free_symbols & trigonometric)

    def formula(self, expression: sp.Expr) -> sp.Expr:
        """Return a polynomial with cosines and sines, of sums of angles where that is shorter."""
        back = {c: sp.cos(a) for a, c in self._cosines.items()}
        back |= {s: sp.sin(a) for a, s in self._sines.items()}
        found = expression.subs(back)
        if found.count_ops() > _SHORT:
            return found
        return min((found, TR10i(sp.expand(found))), key=lambda e: e.count_ops())


def _multiples(arguments: Iterable[sp.Expr]) -> dict[sp.Expr, tuple[sp.Expr, int]]:
    """Return each term of arguments as an angle and how many times it is that angle.

    The angle is a part of a joint, such as q/2 of a joint that another follows by 3/2; of a ratio
    that is no simple fraction it is the term itself.
    """
    terms = {t for a in arguments for t in sp.Add.make_args(sp.expand(a)) if t.free_symbols}
    by_symbol: dict[sp.Expr, set[sp.Expr]] = {}
    for term in terms:
        by_symbol.setdefault(term.as_coeff_Mul()[1], set()).add(term)
    found: dict[sp.Expr, tuple[sp.Expr, int]] = {}
    for symbol, own in by_symbol.items():
        ratios = {term: term.as_coeff_Mul()[0] for term in own}
        whole = 0
        if all(ratio.is_Rational for ratio in ratios.values()):
            whole = sp.ilcm(1, *(ratio.q for ratio in ratios.values()))
        counts = {term: int(ratio * whole) for term, ratio in ratios.items()}
        simple = whole > 0 and max(map(abs, counts.values())) <= _MOST_TIMES
        for term, ratio in ratios.items():
            alone = abs(ratio) * symbol, -1 if ratio < 0 else 1
            found[term] = (symbol / whole, counts[term]) if simple else alone
    return found


def singular_where(jacobian: sp.Matrix) -> tuple[list[sp.Expr], bool]:
    """Return factors whose zeros make a Jacobian (m, n) lose rank, and whether there are others.

    For a square Jacobian they are the factors of its determinant: it loses rank exactly where one
    is zero. Otherwise they are the common factors of all its largest minors, and the true flag
    says that the minors may also vanish together elsewhere.
    """
    m, n = jacobian.shape
    ring = TrigRing(jacobian)
    polynomials = ring.matrix(jacobian)
    if m == n:
        return ring.factors_of(polynomials.charpoly()[-1]), False
    size = min(m, n)
    common: sp.Expr = sp.Integer(0)
    for chosen in combinations(range(max(m, n)), size):
        every = list(range(size))
        part = polynomials.extract(*((list(chosen), every) if m > n else (every, list(chosen))))
        common = sp.gcd(common, ring.reduced(part.charpoly()[-1]))
        if common.is_number and common != 0:
            return [], True
    return ring.factors(common), True


def equal(a: sp.Matrix, b: Sequence[sp.Matrix]) -> bool:
    """Return whether a matrix equals the product of others, identically."""
    ring = TrigRing(a, *b)
    product = ring.matrix(b[0])
    for factor in b[1:]:
        product = product * ring.matrix(factor)
    return ring.is_zero(product - ring.matrix(a))
