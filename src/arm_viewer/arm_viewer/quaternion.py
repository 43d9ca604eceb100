# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rotation matrix to quaternion in scalar code: it runs for every frame of every picture."""

from __future__ import annotations

import math

from .shapes import Array

Quaternion = tuple[float, float, float, float]


def quaternion(pose: Array) -> Quaternion:
    """Return the unit quaternion w, x, y, z of a pose's rotation.

    Divides by the largest component, so that no rotation loses accuracy: Shepperd, "Quaternion
    from rotation matrix", Journal of Guidance and Control 1 (1978), 223-224.

    Args:
        pose: (4, 4) or (3, 3), with a rotation in its upper left corner.
    """
    (a, b, c), (d, e, f), (g, h, i) = pose[:3, :3].tolist()
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    largest = squares.index(max(squares))
    root = 2.0 * math.sqrt(squares[largest])
    rows = (
        (root / 4, (h - f) / root, (c - g) / root, (d - b) / root),
        ((h - f) / root, root / 4, (b + d) / root, (c + g) / root),
        ((c - g) / root, (b + d) / root, root / 4, (f + h) / root),
        ((d - b) / root, (c + g) / root, (f + h) / root, root / 4),
    )
    return rows[largest]
