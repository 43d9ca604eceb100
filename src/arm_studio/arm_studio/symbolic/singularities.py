# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions under which a matrix of formulas loses rank, each a few factors that are 0.

Entries that are never 0 are eliminated first, and a block triangular matrix is taken apart: that
of an arm with a spherical wrist has the wrist's determinant as a factor. The determinant of what
remains is factored. A matrix that is not square loses rank where all its largest minors vanish:
each factor of one of them is set to 0, and the others are tried there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import sympy as sp
from arm_common.transforms import Array
from sympy.core.random import seed

from arm_studio.symbolic.elimination import ReducedMatrix, Rows, blocks_of, determinant_of
from arm_studio.symbolic.factors import factors_of
from arm_studio.symbolic.polynomials import TrigRing

LONGEST = 12  # terms of a factor that can be read
_DEPTH = 4  # factors of a condition
_SAMPLES = 12
_STARTS = 40
_ITERATIONS = 40
_REGULAR = 1e-9  # determinant of a part of a matrix with entries up to 1
_LISTED = 1e-7  # of a factor that is 0
_RANK = 1e-5  # fraction of the largest singular value below which one is 0
_ZERO = 1e-11
_SHORT = 4  # terms of a factor that need not be shorter
_MINORS = 8  # that are factored to find the shortest

Condition = tuple[sp.Expr, ...]


@dataclass
class RankLoss:
    """Where a matrix of formulas has less than its usual rank.

    Attributes:
        rank: The usual rank.
        conditions: Where one of them holds, that is all its factors are 0, the rank is less.
        long: More such conditions, in which a factor is too long to read.
        complete: True if it is less nowhere else.
    """

    rank: int
    conditions: list[Condition] = field(default_factory=list)
    long: list[Condition] = field(default_factory=list)
    complete: bool = True


class _Numbers:
    """Evaluates a matrix at points where some formulas are 0."""

    def __init__(
        self, matrix: sp.Matrix, joints: Sequence[sp.Symbol], values: Mapping[sp.Symbol, float]
    ) -> None:
        self._symbols, self._values = [*joints, *values], list(values.values())
        self._rng = np.random.default_rng(1)
        self._length = max(map(abs, self._values), default=1.0)
        angles = {s for f in matrix.atoms(sp.sin, sp.cos) for s in f.free_symbols}
        self._range = np.where([q in angles for q in joints], np.pi, 2.0 * self._length)
        self.function = cache(self._function)
        self._matrix = sp.ImmutableMatrix(matrix)
        self._largest = max(self._sizes(q)[0] for q in self.points(()))

    def points(self, zeros: Condition) -> list[Array]:
        """Return joint positions (n,) at which some formulas are 0; empty if there are none."""
        f = self.function(zeros)
        points = []
        for _ in range(_STARTS):
            q = self._rng.uniform(-self._range, self._range)
            if not zeros or self._solved(f, q):
                points.append(q)
            if len(points) == _SAMPLES:
                break
        return points

    def ranks(self, points: Iterable[Array]) -> list[int]:
        """Return the rank of the matrix at each point."""
        return [int((self._sizes(q) > _RANK * self._largest).sum()) for q in points]

    def _sizes(self, q: Array) -> Array:
        return np.asarray(np.linalg.svd(self.function(self._matrix)(q), compute_uv=False))

    def _function(self, formulas: sp.ImmutableMatrix | Condition) -> Any:
        f = sp.lambdify(self._symbols, formulas, cse=True)
        return lambda q: np.array(f(*q, *self._values), dtype=float)

    def _solved(self, f: Any, q: Array) -> bool:
        """Move a point onto the zeros of formulas by Newton's method; return True on success."""
        step = 1e-7
        for _ in range(_ITERATIONS):
            value = f(q)
            if np.abs(value).max() < _ZERO * self._length:
                return True
            shifted = [f(q + step * e) - f(q - step * e) for e in np.eye(len(q))]
            J = np.transpose(shifted) / (2.0 * step)
            q -= np.clip(np.linalg.lstsq(J, value, rcond=1e-8)[0], -1.0, 1.0)
        return False


def rank_loss(
    forms: Sequence[sp.Matrix],
    joints: Iterable[sp.Symbol],
    values: Mapping[sp.Symbol, float],
    seconds: float = np.inf,
) -> RankLoss:
    """Return where a matrix loses rank.

    Args:
        forms: Matrices of the same rank, such as the screws seen from several frames.
        joints: The symbols that vary.
        values: Values of the other ones.
        seconds: Time after which the search ends [s].

    Raises:
        TooLongError: A determinant has too many terms.
    """
    deadline = time.monotonic() + seconds
    seed(1)  # of SymPy: the time of factoring otherwise depends on earlier calls
    matrix = min(forms, key=lambda form: ReducedMatrix(form, list(joints), values).size)
    return _Search(matrix, list(joints), values, deadline).run()


class _Search:
    """Finds the conditions of one matrix, those with fewer factors first."""

    def __init__(
        self,
        matrix: sp.Matrix,
        joints: list[sp.Symbol],
        values: Mapping[sp.Symbol, float],
        deadline: float,
    ) -> None:
        self._matrix, self._joints, self._values = matrix, joints, values
        self._numbers = _Numbers(matrix, joints, values)
        ranks = self._numbers.ranks(self._numbers.points(()))
        self._loss = RankLoss(max(ranks))
        self._seen: set[frozenset[sp.Expr]] = set()
        self._deadline = deadline

    def run(self) -> RankLoss:
        """Return the conditions found before the deadline."""
        queue: list[Condition] = [()]
        while queue:
            if time.monotonic() > self._deadline:
                self._loss.complete = False
                break
            zeros = queue.pop(0)
            queue += [(*zeros, f) for f in self._next(zeros)]
        return self._loss

    def _next(self, zeros: Condition) -> list[sp.Expr]:
        """Return factors of which one is 0 where the rank is less and a condition holds.

        Empty if the condition suffices, holds nowhere, or holds only where others hold.
        """
        key = frozenset(zeros)
        if key in self._seen:
            return []
        self._seen.add(key)
        points = [q for q in self._numbers.points(zeros) if not self._is_listed(q)]
        ranks = self._numbers.ranks(points)
        full = [q for q, rank in zip(points, ranks, strict=True) if rank == self._loss.rank]
        if not points:
            return []
        if not full:
            self._emit(zeros)
            return []
        if len(zeros) == _DEPTH or any(_is_long(z) for z in zeros):
            self._loss.complete = False
            return []
        factors = self._factors(zeros, full)
        new = [factor for factor in factors if factor not in zeros]
        self._loss.complete &= len(new) == len(factors)
        return new

    def _emit(self, zeros: Condition) -> None:
        for factor in zeros if len(zeros) > 1 else ():
            fewer = tuple(z for z in zeros if z != factor)
            if self._is_enough(fewer):
                self._emit(fewer)
                return
        if any(_is_long(z) for z in zeros):
            self._loss.long.append(zeros)
            return
        remaining = [c for c in self._loss.conditions if not set(zeros) <= set(c)]
        self._loss.conditions = [*remaining, zeros]

    def _is_enough(self, zeros: Condition) -> bool:
        """Return True if the rank is less at all points where some factors are 0."""
        points = self._numbers.points(zeros)
        ranks = self._numbers.ranks(points)
        return bool(ranks) and max(ranks) < self._loss.rank

    def _is_listed(self, q: Array) -> bool:
        conditions = (*self._loss.conditions, *self._loss.long)
        return any(np.abs(self._numbers.function(c)(q)).max() < _LISTED for c in conditions)

    def _factors(self, zeros: Condition, points: list[Array]) -> list[sp.Expr]:
        pins = [z for z in zeros if z.is_Symbol or isinstance(z, sp.sin | sp.cos)]
        reduced = ReducedMatrix(self._matrix, self._joints, self._values, pins)
        rank = self._loss.rank - reduced.pivots
        determinants, rows = blocks_of(reduced.rows, rank)
        rank -= sum(len(block) for block in determinants)
        factors: dict[sp.Expr, None] = {}
        for block in determinants:
            factors |= dict.fromkeys(self._factored(reduced.ring, block, pins))
        if rank:
            factors |= dict.fromkeys(self._minor(reduced, rows, rank, points))
        other_zeros = [zero for zero in zeros if zero not in pins]
        return [f for factor in factors for f in self._shortened(factor, pins, other_zeros)]

    def _shortened(
        self, factor: sp.Expr, pins: list[sp.Expr], zeros: list[sp.Expr]
    ) -> list[sp.Expr]:
        """Return the factors of a factor without multiples of formulas that are 0, if shorter."""
        if not zeros:
            return [factor]
        ring = TrigRing(sp.Matrix([*zeros, factor]), zeros=pins)
        polynomial, *divisors = (ring.reduced(ring.polynomial(f)) for f in (factor, *zeros))
        remainder = ring.reduced(polynomial.rem(divisors))
        if not remainder or len(remainder) >= len(polynomial):
            return [factor]
        angles = [pin for pin in pins if pin.args]
        return factors_of(ring, remainder, self._joints, angles) or [factor]

    def _factored(self, ring: TrigRing, block: Rows, pins: list[sp.Expr]) -> list[sp.Expr]:
        angles = [pin for pin in pins if pin.args]
        return factors_of(ring, determinant_of(ring, block), self._joints, angles)

    def _minor(
        self, reduced: ReducedMatrix, rows: Rows, rank: int, points: list[Array]
    ) -> list[sp.Expr]:
        """Return the factors of the minor that has the shortest ones."""
        ring = reduced.ring
        formulas = [[ring.formula(entry) for entry in row] for row in rows]
        f = self._numbers.function(sp.ImmutableMatrix(formulas))
        numbers = [f(q) for q in points]
        sizes = [float(np.abs(A).max()) for A in numbers]
        choices = []
        for i in combinations(range(len(rows)), rank):
            for j in combinations(range(len(rows[0])), rank):
                parts = [A[np.ix_(i, j)] for A in numbers]
                if all(map(_is_regular, parts, sizes)):
                    choices.append([[rows[a][b] for b in j] for a in i])
        choices.sort(key=lambda block: sum(len(entry) for row in block for entry in row))
        candidates = []
        for block in choices[:_MINORS]:
            inner, _ = blocks_of(block, rank)
            candidates.append(
                [f for part in inner for f in self._factored(ring, part, reduced.zeros)]
            )
            short = max(map(_length, candidates[-1]), default=0) <= _SHORT
            if short or time.monotonic() > self._deadline:
                break
        if not candidates:
            self._loss.complete = False
            return []
        return min(candidates, key=lambda fs: (sum(map(_is_long, fs)), sum(map(_length, fs))))


def _is_regular(part: Array, size: float) -> bool:
    """Return True if a part of a matrix with entries up to a size is regular.

    Scaled by its own entries, a single entry that is 0 up to rounding would be regular.
    """
    return bool(size > 0.0 and abs(np.linalg.det(part / size)) > _REGULAR)


def _length(factor: sp.Expr) -> int:
    return len(sp.Add.make_args(factor))


def _is_long(factor: sp.Expr) -> bool:
    return _length(factor) > LONGEST
