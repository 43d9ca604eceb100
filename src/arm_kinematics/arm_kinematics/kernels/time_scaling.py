# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled time law along a path: as fast as velocity and acceleration limits allow.

Reachability analysis in the plane of x = (ds/dt)^2 and u = d2s/dt2, which is constant between two
points of the grid (Pham and Pham, "A new approach to time-optimal path parameterization based on
reachability analysis", IEEE Trans. Robotics 34(3), 2018). The limits are kept at both ends of each
interval, where the second derivative of a piecewise cubic path is largest.
"""

from __future__ import annotations

import math
from functools import lru_cache

from arm_common.jit import fix_types, kernel

from arm_kinematics.kernels.forward import Array

_HALVINGS = 200


@kernel
def fastest(
    ds: Array, first: Array, left: Array, right: Array, limit: Array, cap: Array, x: Array
) -> None:
    """Fill x (m,) with the squared path speed at each point, zero at both ends.

    Args:
        ds: Lengths of the intervals, (m - 1,).
        first: dq/ds at the points, (m, n).
        left: d2q/ds2 at the start of each interval, (m - 1, n).
        right: The same at its end, (m - 1, n).
        limit: Acceleration limits, (n,).
        cap: Largest squared path speed at each point, (m,).
        x: Result, (m,).
    """
    last = ds.shape[0]
    x[last] = 0.0
    for i in range(last - 1, -1, -1):  # the largest speed from which the rest can be done
        low, high = 0.0, cap[i]
        for _ in range(_HALVINGS):
            if high - low <= 1e-9 * high:
                break
            middle = 0.5 * (low + high)
            least, most = _accelerations(i, ds, first, left, right, limit, middle, x[i + 1])
            if least <= most:
                low = middle
            else:
                high = middle
        x[i] = low
    x[0] = 0.0
    for i in range(last):  # the largest speed that can be had from the start
        least, most = _accelerations(i, ds, first, left, right, limit, x[i], x[i + 1])
        u = most if least <= most else 0.5 * (least + most)
        x[i + 1] = min(max(x[i] + 2.0 * ds[i] * u, 0.0), x[i + 1])


@kernel
def _accelerations(
    i: int,
    ds: Array,
    first: Array,
    left: Array,
    right: Array,
    limit: Array,
    x: float,
    x_next: float,
) -> tuple[float, float]:
    """Return the least and the largest u with which interval i can be passed from x."""
    least = -x / (2.0 * ds[i])
    most = (x_next - x) / (2.0 * ds[i])
    for j in range(first.shape[1]):
        for end in range(2):
            bend = left[i, j] if end == 0 else right[i, j]
            slope = first[i, j] if end == 0 else first[i + 1, j] + 2.0 * ds[i] * bend
            rest = bend * x
            if abs(slope) < 1e-12:
                if abs(rest) > limit[j]:
                    return math.inf, -math.inf
                continue
            a, b = (-limit[j] - rest) / slope, (limit[j] - rest) / slope
            least = max(least, min(a, b))
            most = min(most, max(a, b))
    return least, most


@lru_cache(maxsize=1)
def prepare_timing() -> None:
    """Compile the time scaling, unless it is compiled."""
    fix_types(fastest, (1, 2, 2, 2, 1, 1), (1,))
