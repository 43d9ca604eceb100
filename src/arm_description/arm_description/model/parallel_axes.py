# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of a DH table whose axes are nearly parallel: their common normal is far away."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from arm_description.model.elements import Convention, DhRow

NEARLY_PARALLEL = 0.02  # [rad]
# A link that is longer than this, and than FAR times the distance of the joints, is none that an
# arm has [m].
LONG_LINK, FAR = 1.0, 10.0
MAX_OFFSET = 1e6  # of axes that are nearly parallel, for digits to be left [m]


def parallel_runs(rows: Sequence[DhRow], convention: Convention) -> Iterator[tuple[range, float]]:
    """Yield the indices of successive rows with nearly parallel axes, and the sum of their d.

    A d counts negative in the sum where its axis points against the first one.
    """
    first = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows):
            alpha = rows[end - (convention == "standard")].alpha
            if abs(math.sin(alpha)) < NEARLY_PARALLEL:
                continue
        total, sign = 0.0, 1.0
        for i in range(first, end):
            if i > first:
                sign *= math.copysign(1.0, math.cos(rows[i - (convention == "standard")].alpha))
            total += sign * rows[i].d
        yield range(first, end), total
        first = end


def has_far_frames(rows: Sequence[DhRow], convention: Convention) -> bool:
    """Return whether frames are far from the arm.

    Those of an arm calibrated at a factory are hundreds of metres away where axes are nearly
    parallel; the offsets d of such rows cancel.
    """
    return any(
        max(abs(rows[i].d) for i in run) > max(LONG_LINK, FAR * abs(total))
        for run, total in parallel_runs(rows, convention)
        if len(run) > 1
    )
