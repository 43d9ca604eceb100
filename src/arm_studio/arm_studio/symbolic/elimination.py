# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/symbolic/test_singularities.py
"""Matrices of polynomials: elimination of entries that are never 0, blocks, determinants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import sympy as sp
from sympy.polys.rings import PolyElement

from arm_studio.symbolic.polynomials import TrigRing

Rows = list[list[PolyElement]]
_TERMS = 4000  # of a determinant that is not worth factoring
_ZERO = 1e-11


class TooLongError(Exception):
    """A determinant has too many terms."""


class ReducedMatrix:
    """A matrix after the elimination of entries that are never 0.

    Attributes:
        rows: The remaining rows, without zero rows and columns.
        pivots: The number of eliminated entries, by which the rank is larger.
    """

    def __init__(
        self,
        matrix: sp.Matrix,
        joints: Sequence[sp.Symbol],
        values: Mapping[sp.Symbol, float],
        zeros: Sequence[sp.Expr] = (),
    ) -> None:
        self.ring, self.zeros = TrigRing(matrix, zeros=zeros), list(zeros)
        self._joints, self._values = set(joints), values
        rows = self.ring.matrix(matrix).to_list()
        self.rows: Rows = [[self.ring.reduced(entry) for entry in row] for row in rows]
        self.pivots = 0
        while self._eliminate():
            self.pivots += 1
        self._drop_zeros()

    @property
    def size(self) -> int:
        """The number of terms."""
        return sum(len(entry) for row in self.rows for entry in row)

    def never_zero(self, entry: PolyElement) -> bool:
        """Return True if an entry is a nonzero constant."""
        if not entry or self.ring.depends(entry, self._joints):
            return False
        return abs(float(self.ring.formula(entry).subs(self._values))) > _ZERO

    def _eliminate(self) -> bool:
        """Eliminate the column of an entry that is never 0, and drop its row."""
        choices = []
        for i, row in enumerate(self.rows):
            for j, entry in enumerate(row):
                if self.never_zero(entry):
                    column_count = sum(bool(r[j]) for r in self.rows) - 1
                    choices.append((len(entry) * column_count * (sum(map(bool, row)) - 1), i, j))
        if not choices:
            return False
        _, i, j = min(choices)
        pivot_row = self.rows.pop(i)
        pivot = pivot_row[j]
        self.rows = [self._cleared(row, pivot_row, pivot, j) for row in self.rows]
        return True

    def _cleared(
        self, row: list[PolyElement], pivot_row: list[PolyElement], pivot: PolyElement, j: int
    ) -> list[PolyElement]:
        head = row[j]
        if head:
            row = [
                self.ring.reduced(pivot * x - head * y)
                for x, y in zip(row, pivot_row, strict=True)
            ]
        return self._without_content(row[:j] + row[j + 1 :])

    def _without_content(self, row: list[PolyElement]) -> list[PolyElement]:
        """Return a row without a common factor that is never 0."""
        entries = [entry for entry in row if entry]
        if not entries:
            return row
        content = entries[0]
        for entry in entries[1:]:
            content = content.gcd(entry)
        _, factors = content.factor_list()
        for factor, times in factors:
            if self.never_zero(factor):
                row = [entry.exquo(factor**times) if entry else entry for entry in row]
        return row

    def _drop_zeros(self) -> None:
        self.rows = [row for row in self.rows if any(row)]
        columns = [j for j in range(len(self.rows[0]) if self.rows else 0)]
        used = [j for j in columns if any(row[j] for row in self.rows)]
        self.rows = [[row[j] for j in used] for row in self.rows]


def blocks_of(rows: Rows, rank: int) -> tuple[list[Rows], Rows]:
    """Return the square blocks of a block triangular matrix, and the remaining rows.

    The matrix loses rank only where one of the determinants is 0 or what remains loses rank.
    """
    blocks: list[Rows] = []
    while rows and rank in (len(rows), len(rows[0])):
        split = _block(rows, rank == len(rows), rank == len(rows[0]))
        if split is None:
            break
        block, rows = split
        blocks.append(block)
        rank -= len(block)
    return blocks, rows


def _block(rows: Rows, by_rows: bool, by_columns: bool) -> tuple[Rows, Rows] | None:
    """Return the smallest square block with only zeros beside it, and the remaining rows."""
    m, n = len(rows), len(rows[0])
    for size in range(1, min(m, n) + 1):
        for selected in combinations(range(m), size) if by_rows else ():
            beside = tuple(j for j in range(n) if any(rows[i][j] for i in selected))
            if len(beside) == size:
                return _split(rows, selected, beside)
        for selected in combinations(range(n), size) if by_columns else ():
            beside = tuple(i for i in range(m) if any(rows[i][j] for j in selected))
            if len(beside) == size:
                return _split(rows, beside, selected)
    return None


def _split(rows: Rows, i: Sequence[int], j: Sequence[int]) -> tuple[Rows, Rows]:
    block = [[rows[a][b] for b in j] for a in i]
    rest = [
        [entry for b, entry in enumerate(row) if b not in j]
        for a, row in enumerate(rows)
        if a not in i
    ]
    return block, rest


def determinant_of(ring: TrigRing, rows: Rows) -> PolyElement:
    """Return a determinant by expansion along its rows, each minor once."""
    n = len(rows)
    minors: dict[tuple[int, ...], PolyElement] = {(): ring.one}
    for k in range(1, n + 1):
        row, new = rows[n - k], {}
        for columns in combinations(range(n), k):
            total = ring.zero
            for at, j in enumerate(columns):
                minor = minors[columns[:at] + columns[at + 1 :]]
                if row[j] and minor:
                    total += (-1) ** at * row[j] * minor
            new[columns] = ring.reduced(total)
            if len(new[columns]) > _TERMS:
                raise TooLongError
        minors = new
    return minors[tuple(range(n))]
