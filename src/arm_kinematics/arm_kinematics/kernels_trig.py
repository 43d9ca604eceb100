# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled sine and cosine of one angle."""

from __future__ import annotations

import math

from arm_kinematics.jit import HAVE_NUMBA, kernel

# pi/2 in three parts of 33, 33 and 53 bits: the products with small integers are exact.
_HALF_PI_1 = 1.5707963267341256
_HALF_PI_2 = 6.077100506303966e-11
_HALF_PI_3 = 2.0222662487959506e-21


@kernel
def _sine_and_cosine(x: float) -> tuple[float, float]:
    """Return sin(x), cos(x) to about one unit in the last place; both for the price of half.

    Reduction to a quarter turn about 0 (Cody and Waite, 1980), then Taylor series, whose next
    terms are below 1e-17 there.
    """
    if not abs(x) < 1e5:
        return math.sin(x), math.cos(x)
    k = math.floor(x * (2.0 / math.pi) + 0.5)
    r = ((x - k * _HALF_PI_1) - k * _HALF_PI_2) - k * _HALF_PI_3
    z = r * r
    s = 1.0 / 6227020800.0 - z / 1307674368000.0
    s = s * z - 1.0 / 39916800.0
    s = s * z + 1.0 / 362880.0
    s = s * z - 1.0 / 5040.0
    s = s * z + 1.0 / 120.0
    s = s * z - 1.0 / 6.0
    s = s * z * r + r
    t = z / 20922789888000.0 - 1.0 / 87178291200.0
    t = t * z + 1.0 / 479001600.0
    t = t * z - 1.0 / 3628800.0
    t = t * z + 1.0 / 40320.0
    t = t * z - 1.0 / 720.0
    t = t * z + 1.0 / 24.0
    t = t * z - 0.5
    t = t * z + 1.0
    quarter = int(k) & 3
    sine = s if quarter & 1 == 0 else t
    cosine = t if quarter & 1 == 0 else s
    return (sine if quarter < 2 else -sine), (cosine if quarter == 0 or quarter == 3 else -cosine)


def _plain_sine_and_cosine(x: float) -> tuple[float, float]:
    return math.sin(x), math.cos(x)


sine_and_cosine = _sine_and_cosine if HAVE_NUMBA else _plain_sine_and_cosine
