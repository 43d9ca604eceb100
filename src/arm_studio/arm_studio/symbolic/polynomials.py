# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/symbolic/test_arm.py
"""Formulas as polynomials in lengths, cosines and sines: exact and fast.

Every entry of the kinematics is such a polynomial once sums of angles are expanded. Two of them
are equal if their difference, with s^2 = 1 - c^2 for every angle, is zero.

The angles are those of which most arguments consist: over parallel axes q_2, q_2 + q_3 and
q_2 + q_3 + q_4 rather than q_2, q_3 and q_4, since cos(q_2 + q_3) is then one generator instead of
two products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement, PolyRing

from arm_studio.symbolic.arguments import Arguments, by_count

_QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # cosine and sine of quarter turns


class TrigRing:
    """Polynomials over all symbols of some formulas.

    Args:
        formulas: The formulas.
        zeros: Sines and cosines, or symbols, that are 0 in every polynomial of the ring.

    Attributes:
        angles: Angles whose sines and cosines are generators.
        sines, cosines: These generators, in the order of the angles.
    """

    def __init__(self, *formulas: sp.Matrix | sp.Expr, zeros: Sequence[sp.Expr] = ()) -> None:
        parts = [sp.Matrix([f]) if isinstance(f, sp.Expr) else f for f in formulas]
        pinned = [f.args[0] for f in zeros if f.args]
        entries = [entry for part in parts for entry in part]
        counts = Counter(f.args[0] for e in entries for f in e.atoms(sp.sin, sp.cos))
        self._arguments = Arguments([*pinned, *by_count(counts)], len(pinned))
        self.angles = self._arguments.basis
        used = {s for entry in entries for s in entry.free_symbols}
        self._lengths = sorted(used, key=str)
        names = [sp.Symbol(f"{f}{i}") for i in range(len(self.angles)) for f in "sc"]
        self._ring = PolyRing([*names, *self._lengths], sp.QQ, sp.lex)
        gens = self._ring.gens
        self.sines, self.cosines = gens[: len(names) : 2], gens[1 : len(names) : 2]
        self._symbols = dict(zip(self._lengths, gens[len(names) :], strict=True))
        self._pairs = range(0, len(names), 2)
        self.one, self.zero = self._ring.one, self._ring.zero
        self._wave = cache(self._wave_of)
        self._zeros = self._indices_of_zeros(zeros)

    def _indices_of_zeros(self, zeros: Sequence[sp.Expr]) -> set[int]:
        """Return the indices of the generators that are 0."""
        gens, indices = list(self._ring.gens), set()
        for zero in zeros:
            generator = self._symbols.get(zero, 0) if not zero.args else self.polynomial(zero)
            indices |= {gens.index(g) for g in gens if generator in (g, -g)}
        return indices

    def matrix(self, formulas: sp.Matrix) -> DomainMatrix:
        """Return formulas as a matrix of polynomials."""
        rows = [[self.polynomial(entry) for entry in formulas[i, :]] for i in range(formulas.rows)]
        return DomainMatrix(rows, formulas.shape, self._ring.to_domain())

    def polynomial(self, formula: sp.Expr) -> PolyElement:
        """Return a formula as a polynomial."""
        match formula:
            case sp.Add():
                return sum(map(self.polynomial, formula.args), self._ring.zero)
            case sp.Mul():
                product = self._ring.one
                for factor in formula.args:
                    product *= self.polynomial(factor)
                return product
            case sp.Pow() if formula.exp.is_Integer and formula.exp > 0:
                return self.polynomial(formula.base) ** int(formula.exp)
            case sp.cos() | sp.sin():
                return self._wave(formula.args[0])[isinstance(formula, sp.sin)]
            case sp.Symbol():
                return self._symbols[formula]
        return self._ring.ground_new(sp.QQ.from_sympy(sp.nsimplify(formula, rational=True)))

    def _wave_of(self, argument: sp.Expr) -> tuple[PolyElement, PolyElement]:
        """Return cosine and sine of an argument."""
        multiples, quarters = self._arguments.of(argument)
        c, s = (self._ring.ground_new(x) for x in _QUARTERS[quarters % 4])
        for count, ck, sk in zip(multiples, self.cosines, self.sines, strict=True):
            sign = 1 if count > 0 else -1
            for _ in range(abs(count)):
                c, s = c * ck - sign * s * sk, s * ck + sign * c * sk
        return c, s

    def reduced(self, polynomial: PolyElement, cosines: bool = False) -> PolyElement:
        """Return a polynomial in which each sine (or cosine) appears at most once."""
        coefficients: dict[tuple[int, ...], Any] = {}
        zeros = self._zeros
        pairs = 2 * len(self.angles)
        for monomial, coefficient in polynomial.terms():
            if any(monomial[i] for i in zeros):
                continue
            for powers, factor in _spread(monomial, pairs, int(cosines), zeros):
                coefficients[powers] = coefficients.get(powers, 0) + factor * coefficient
        return self._ring.from_dict({m: x for m, x in coefficients.items() if x})

    def homogeneous(self, polynomial: PolyElement) -> PolyElement:
        """Return a reduced polynomial with all terms of one degree in c and s of each angle.

        The missing degree is made up by c^2 + s^2; angles with terms of odd and of even degree
        stay as they are. This form is unique, and so are its factors.
        """
        for i, (s, c) in enumerate(zip(self.sines, self.cosines, strict=True)):
            degrees = {m[2 * i] + m[2 * i + 1] for m in polynomial.monoms()}
            if len(degrees) < 2 or len({degree % 2 for degree in degrees}) > 1:
                continue
            highest, total = max(degrees), self._ring.zero
            for monomial, coefficient in polynomial.terms():
                lacking = highest - monomial[2 * i] - monomial[2 * i + 1]
                term = self._ring.from_dict({monomial: coefficient})
                total += term * (s**2 + c**2) ** (lacking // 2)
            polynomial = total
        return polynomial

    def degree(self, polynomial: PolyElement, angle: int) -> int:
        """Return the largest degree of a polynomial in the sine and cosine of an angle."""
        return max((m[2 * angle] + m[2 * angle + 1] for m in polynomial.monoms()), default=0)

    def monomial_of(self, polynomial: PolyElement) -> tuple[list[PolyElement], PolyElement]:
        """Return the generators that divide a polynomial, and the quotient."""
        common = [min(powers) for powers in zip(*polynomial.monoms(), strict=True)]
        divided = {
            tuple(x - y for x, y in zip(m, common, strict=True)): c for m, c in polynomial.terms()
        }
        generators = [g for g, power in zip(self._ring.gens, common, strict=True) if power]
        return generators, self._ring.from_dict(divided)

    def dehomogenized(self, polynomial: PolyElement) -> tuple[PolyElement, list[int]]:
        """Return a polynomial with 1 for the cosines of angles in which it is homogeneous."""
        monomials = polynomial.monoms()
        angles = [i for i in self._pairs if len({m[i] + m[i + 1] for m in monomials}) == 1]
        ones = {i + 1 for i in angles}
        flat = {
            tuple(0 if i in ones else x for i, x in enumerate(m)): c for m, c in polynomial.terms()
        }
        return self._ring.from_dict(flat), [i // 2 for i in angles]

    def rehomogenized(self, polynomial: PolyElement, angles: Sequence[int]) -> PolyElement:
        """Undo `dehomogenized`."""
        degrees = {i: self.degree(polynomial, i) for i in angles}
        coefficients = {}
        for m, c in polynomial.terms():
            powers = list(m)
            for i, degree in degrees.items():
                powers[2 * i + 1] += degree - m[2 * i] - m[2 * i + 1]
            coefficients[tuple(powers)] = c
        return self._ring.from_dict(coefficients)

    def is_irreducible(self, polynomial: PolyElement, joints: Iterable[sp.Symbol]) -> bool:
        """Return True if a polynomial has one factor that depends on the joints.

        Symbols other than these are replaced by numbers, which cannot join factors.
        """
        wanted = set(joints)
        fixed = [
            (g, 7 + 5 * i % 31)
            for i, g in enumerate(self._ring.gens)
            if not self._meaning(i).free_symbols & wanted
        ]
        numbers = polynomial.subs(fixed) if fixed else polynomial
        same = all(
            numbers.degree(g) == polynomial.degree(g)
            for i, g in enumerate(self._ring.gens)
            if self._meaning(i).free_symbols & wanted
        )
        return same and sum(times for _, times in numbers.factor_list()[1]) == 1

    def mixed(self, polynomial: PolyElement) -> list[int]:
        """Return the angles in which some terms have an odd and some an even degree."""
        monomials = polynomial.monoms()
        parities = [{(m[i] + m[i + 1]) % 2 for m in monomials} for i in self._pairs]
        return [k for k, parity in enumerate(parities) if len(parity) > 1]

    def halved(self, polynomial: PolyElement, angles: Sequence[int]) -> PolyElement:
        """Return a polynomial in which the generators of some angles are those of their halves.

        All its terms have one degree in these.
        """
        for i in angles:
            s, c = self.sines[i], self.cosines[i]
            highest, total = self.degree(polynomial, i), self._ring.zero
            for m, coefficient in polynomial.terms():
                a, b = m[2 * i : 2 * i + 2]
                rest = self._ring.from_dict({_put(m, 2 * i, 0, 2 * i + 1, 0): coefficient})
                waves = (2 * s * c) ** a * (c**2 - s**2) ** b * (c**2 + s**2) ** (highest - a - b)
                total += rest * waves
            polynomial = total
        return self.homogeneous(polynomial)

    def doubled(self, polynomial: PolyElement, angles: Sequence[int]) -> PolyElement:
        """Undo `halved`."""
        for i in angles:
            s, c = self.sines[i], self.cosines[i]
            total = self._ring.zero
            for m, coefficient in polynomial.terms():
                a, b = m[2 * i : 2 * i + 2]
                rest = self._ring.from_dict({_put(m, 2 * i, 0, 2 * i + 1, 0): coefficient})
                total += rest * s ** (a % 2) * (1 - c) ** (a // 2) * (1 + c) ** (b // 2)
            polynomial = total
        return polynomial

    def is_zero(self, matrix: DomainMatrix) -> bool:
        """Return whether every entry of a matrix of polynomials vanishes identically."""
        return all(self.reduced(entry) == 0 for entry in matrix.to_list_flat())

    def depends(self, polynomial: PolyElement, symbols: Iterable[sp.Symbol]) -> bool:
        """Return True if a polynomial depends on any of the symbols."""
        wanted = set(symbols)
        used = {i for monomial in polynomial.monoms() for i, power in enumerate(monomial) if power}
        return any(wanted & self._meaning(i).free_symbols for i in used)

    def _meaning(self, generator: int) -> sp.Expr:
        """Return the angle or symbol of a generator."""
        pairs = 2 * len(self.angles)
        return (
            self.angles[generator // 2] if generator < pairs else self._lengths[generator - pairs]
        )

    def formula(self, polynomial: PolyElement) -> sp.Expr:
        """Return a polynomial as a formula: a sum of products of the ring's sines and cosines."""
        return sp.Add(*(c * m for m, c in self.products(polynomial, ())))

    def products(
        self, polynomial: PolyElement, waves: Sequence[int]
    ) -> list[tuple[sp.Expr, sp.Rational]]:
        """Return the terms of a polynomial and their coefficients.

        Args:
            polynomial: The polynomial.
            waves: Indices of angles whose products of sines and cosines become sines and cosines
                of sums of angles.
        """
        amplitudes: dict[Any, tuple[Any, Any]] = {}
        for monomial, coefficient in polynomial.terms():
            remaining = list(monomial)
            powers: dict[tuple[int, ...], tuple[Any, Any]] = {(): (coefficient, sp.QQ(0))}
            for k in waves:
                s, c = remaining[2 * k : 2 * k + 2]
                remaining[2 * k : 2 * k + 2] = 0, 0
                powers = _times(powers, s, c)
            for vector, (real, imaginary) in powers.items():
                at = amplitudes.get((tuple(remaining), vector), (0, 0))
                amplitudes[tuple(remaining), vector] = at[0] + real, at[1] + imaginary
        return list(self._waves(amplitudes, waves))

    def _waves(
        self, amplitudes: dict[Any, tuple[Any, Any]], waves: Sequence[int]
    ) -> Iterator[tuple[sp.Expr, sp.Rational]]:
        for (remaining, vector), (real, imaginary) in amplitudes.items():
            first = next((x for x in vector if x), 0)
            if first < 0:  # it repeats the positive one
                continue
            factor = self._monomial(remaining)
            scale = 1 if first == 0 else 2
            angle = sp.expand(sum(x * self.angles[k] for x, k in zip(vector, waves, strict=True)))
            for size, wave in ((real, sp.cos(angle)), (-imaginary, sp.sin(angle))):
                if size and wave:
                    sign, plain = wave.as_coeff_Mul()
                    yield factor * plain, sp.QQ.to_sympy(scale * size) * sign

    def _monomial(self, powers: Sequence[int]) -> sp.Expr:
        factors = []
        for i, power in enumerate(powers):
            if power:
                meaning = self._meaning(i)
                if i < 2 * len(self.angles):
                    meaning = (sp.sin, sp.cos)[i % 2](meaning)
                factors.append(meaning**power)
        return sp.Mul(*factors)


def _spread(
    monomial: tuple[int, ...], pairs: int, which: int, zeros: set[int]
) -> list[tuple[tuple[int, ...], int]]:
    """Return terms whose sum equals a monomial, with each sine (0) or cosine (1) at most once."""
    terms = [(monomial, 1)]
    for i in range(0, pairs, 2):
        index, other = i + which, i + 1 - which
        if i in zeros or i + 1 in zeros:  # then the square of the other one is 1
            terms = [(_put(m, index, m[index] % 2, other, m[other] % 2), x) for m, x in terms]
            continue
        squares = monomial[index] // 2
        if squares == 0:
            continue
        terms = [
            (_put(m, index, m[index] % 2, other, m[other] + 2 * k), x * _binomial(squares, k))
            for m, x in terms
            for k in range(squares + 1)
        ]
    return terms


def _put(m: tuple[int, ...], i: int, x: int, j: int, y: int) -> tuple[int, ...]:
    powers = list(m)
    powers[i], powers[j] = x, y
    return tuple(powers)


def _binomial(n: int, k: int) -> int:
    """Return the coefficient of c^2k in (1 - c^2)^n."""
    return int((-1) ** k * sp.binomial(n, k))


def _times(powers: dict[Any, tuple[Any, Any]], s: int, c: int) -> dict[Any, tuple[Any, Any]]:
    """Multiply a sum of exponentials of angles by sin^s cos^c of one more angle."""
    amplitudes: dict[Any, tuple[Any, Any]] = {}
    half = sp.QQ(1, 2)
    wave: dict[int, tuple[Any, Any]] = {0: (sp.QQ(1), sp.QQ(0))}
    for sine in (1,) * s + (0,) * c:
        new: dict[int, tuple[Any, Any]] = {}
        for n, (a, b) in wave.items():
            up, down = ((b, -a), (-b, a)) if sine else ((a, b), (a, b))
            for at, (x, y) in ((n + 1, up), (n - 1, down)):
                old = new.get(at, (0, 0))
                new[at] = old[0] + half * x, old[1] + half * y
        wave = new
    for vector, (real, imaginary) in powers.items():
        for n, (a, b) in wave.items():
            exponents = (*vector, n)
            amplitudes[exponents] = real * a - imaginary * b, real * b + imaginary * a
    return amplitudes


def equal(a: sp.Matrix, b: Sequence[sp.Matrix]) -> bool:
    """Return whether a matrix equals the product of others, identically."""
    ring = TrigRing(a, *b)
    product = ring.matrix(b[0])
    for factor in b[1:]:
        product = product * ring.matrix(factor)
    return ring.is_zero(product - ring.matrix(a))
