# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The quotients in the formulae of SO(3) and SE(3), without cancellation at small angles.

Each is its power series up to 1 rad, where the quotient has lost at most one digit in a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

_TERMS = 11
_SERIES_UP_TO = 1.0  # [rad]


def _coefficients(term: Callable[[int], float]) -> tuple[float, ...]:
    return tuple((-1.0) ** k * term(k) for k in range(_TERMS))


def _bernoulli_over_factorial(terms: int) -> tuple[float, ...]:
    """Return |B(2k)| / (2k)! for k = 1, 2, ...: 2 zeta(2k) / (2 pi)^2k."""
    zeta = [math.pi**2 / 6.0, math.pi**4 / 90.0]
    zeta += [sum(j ** (-2.0 * k) for j in range(400, 0, -1)) for k in range(3, terms + 1)]
    return tuple(2.0 * z / (2.0 * math.pi) ** (2 * k) for k, z in enumerate(zeta, start=1))


_SINC_REST = _coefficients(lambda k: 1.0 / math.factorial(2 * k + 3))
_COSC_REST = _coefficients(lambda k: 1.0 / math.factorial(2 * k + 4))
_SINC_REST_REST = _coefficients(lambda k: (k + 1.0) / math.factorial(2 * k + 5))
_COT_REST = _bernoulli_over_factorial(_TERMS)


def sinc(x: float) -> float:
    """Return sin(x)/x."""
    return 1.0 - x * x / 6.0 if x < 1e-4 else math.sin(x) / x


def cosc(x: float) -> float:
    """Return (1 - cos(x))/x^2, by the half angle, which does not cancel."""
    return 0.5 * sinc(0.5 * x) ** 2


def sinc_rest(x: float) -> float:
    """Return (x - sin(x))/x^3."""
    if x < _SERIES_UP_TO:
        return _sum(_SINC_REST, x)
    return (x - math.sin(x)) / x**3


def cosc_rest(x: float) -> float:
    """Return (x^2 + 2 cos(x) - 2)/(2 x^4)."""
    if x < _SERIES_UP_TO:
        return _sum(_COSC_REST, x)
    return (x * x + 2.0 * math.cos(x) - 2.0) / (2.0 * x**4)


def sinc_rest_rest(x: float) -> float:
    """Return (2 x - 3 sin(x) + x cos(x))/(2 x^5)."""
    if x < _SERIES_UP_TO:
        return _sum(_SINC_REST_REST, x)
    return (2.0 * x - 3.0 * math.sin(x) + x * math.cos(x)) / (2.0 * x**5)


def cot_rest(x: float) -> float:
    """Return (1 - (x/2) cot(x/2))/x^2."""
    if x < _SERIES_UP_TO:
        return _sum(_COT_REST, x)
    return (1.0 - 0.5 * x / math.tan(0.5 * x)) / (x * x)


def _sum(coefficients: Sequence[float], x: float) -> float:
    """Return the sum of c[k] x^2k."""
    total = 0.0
    for c in reversed(coefficients):
        total = total * x * x + c
    return total
