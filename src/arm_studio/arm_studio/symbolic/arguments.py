# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/symbolic/test_arm.py
"""The arguments of sines and cosines as whole multiples of a few angles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sympy as sp

_MOST_TIMES = 12  # largest multiple of an angle; sines of higher ones are long sums


def by_count(counts: Counter[sp.Expr]) -> list[sp.Expr]:
    """Return formulas by descending count, then by length."""
    return sorted(counts, key=lambda angle: (-counts[angle], len(str(angle)), str(angle)))


class Arguments:
    """The arguments of sines and cosines as whole multiples of a few angles.

    Args:
        arguments: The arguments, those first that should be angles.
        fixed: How many must be angles.

    Attributes:
        basis: These angles.
    """

    def __init__(self, arguments: Sequence[sp.Expr], fixed: int) -> None:
        self._multiples = _multiples(arguments)
        self._parts = sorted({angle for angle, _ in self._multiples.values()}, key=str)
        vectors = [self._vector(a)[0] for a in arguments]
        rows = _independent(vectors)
        B = np.array(rows, dtype=int).reshape(len(rows), len(self._parts))
        if not all(_whole(B, v) is not None for v in vectors):
            rows = _independent([*vectors[:fixed], *np.eye(len(self._parts), dtype=int).tolist()])
            B = np.array(rows, dtype=int)
        self._B = B
        self.basis = [
            sp.Add(*(int(x) * part for x, part in zip(row, self._parts, strict=True))) for row in B
        ]

    def _vector(self, argument: sp.Expr) -> tuple[list[int], int]:
        """Return the multiple of each part in an argument, and its quarter turns."""
        vector, quarters = [0] * len(self._parts), 0
        for term in sp.Add.make_args(sp.expand(argument)):
            if term in self._multiples:
                angle, multiple = self._multiples[term]
                vector[self._parts.index(angle)] += multiple
            else:
                quarters += int(term / (sp.pi / 2))
        return vector, quarters

    def of(self, argument: sp.Expr) -> tuple[list[int], int]:
        """Return the multiple of each angle in an argument, and its quarter turns."""
        vector, quarters = self._vector(argument)
        whole = _whole(self._B, vector)
        assert whole is not None, argument
        return whole, quarters


def _independent(vectors: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Return the first linearly independent vectors."""
    basis: list[Sequence[int]] = []
    for vector in vectors:
        if np.linalg.matrix_rank(np.array([*basis, vector], dtype=float)) > len(basis):
            basis.append(vector)
    return basis


def _whole(B: Any, vector: Sequence[int]) -> list[int] | None:
    """Return the integers x with x B = vector, None if there are none."""
    if not len(B):
        return None if any(vector) else []
    x = np.linalg.lstsq(B.T.astype(float), np.array(vector, dtype=float), rcond=None)[0]
    rounded = np.round(x).astype(int)
    return [int(k) for k in rounded] if np.array_equal(rounded @ B, vector) else None


def _multiples(arguments: Iterable[sp.Expr]) -> dict[sp.Expr, tuple[sp.Expr, int]]:
    """Return each term of arguments as an angle and its integer multiple.

    The angle is a part of a joint, such as q/2 of a joint that another follows by 3/2; of a ratio
    that is no simple fraction it is the term itself.
    """
    terms = {t for a in arguments for t in sp.Add.make_args(sp.expand(a))}
    by_symbol: dict[sp.Expr, set[sp.Expr]] = {}
    for term in terms:
        if not (term / (sp.pi / 2)).is_Integer:
            by_symbol.setdefault(term.as_coeff_Mul()[1], set()).add(term)
    multiples: dict[sp.Expr, tuple[sp.Expr, int]] = {}
    for symbol, group in by_symbol.items():
        ratios = {term: term.as_coeff_Mul()[0] for term in group}
        whole = 0
        if all(ratio.is_Rational for ratio in ratios.values()):
            whole = sp.ilcm(1, *(ratio.q for ratio in ratios.values()))
        counts = {term: int(ratio * whole) for term, ratio in ratios.items()}
        simple = whole > 0 and max(map(abs, counts.values())) <= _MOST_TIMES
        for term, ratio in ratios.items():
            alone = abs(ratio) * symbol, -1 if ratio < 0 else 1
            multiples[term] = (symbol / whole, counts[term]) if simple else alone
    return multiples
