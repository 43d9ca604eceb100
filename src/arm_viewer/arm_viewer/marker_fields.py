# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Checked access to a marker's scale, points and colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import MarkerError
from .shapes import Array, frozen

Scale = tuple[float, float, float]


def require(marker: Any, holds: bool, problem: str) -> None:
    """Raise a MarkerError that names the marker unless the condition holds."""
    if not holds:
        raise MarkerError(marker.ns, marker.id, problem)


def positive(marker: Any, count: int) -> Any:
    """Return the first `count` of scale.x, scale.y, scale.z; all must be positive [m].

    Raises:
        MarkerError: If one of them is zero, negative or not finite.
    """
    values = (float(marker.scale.x), float(marker.scale.y), float(marker.scale.z))[:count]
    for axis, value in zip("xyz", values, strict=False):
        require(
            marker,
            bool(np.isfinite(value)) and value > 0.0,
            f"scale.{axis} is {value:g}; it must be a positive length in metres",
        )
    return values


def points_of(marker: Any, at_least: int = 1) -> Array:
    """Return the points as (n, 3), read-only.

    Raises:
        MarkerError: If there are too few or one is not finite.
    """
    count = len(marker.points)
    require(marker, count >= at_least, f"it has {count} points and needs {at_least} or more")
    points = frozen([(p.x, p.y, p.z) for p in marker.points], (-1, 3))
    require(marker, bool(np.isfinite(points).all()), "one of its points is not finite")
    return points


def colours_of(marker: Any, groups: int = 1) -> Array | None:
    """Return a colour for each point as (n, 3), 0 to 1, or None if the marker has one colour.

    Args:
        marker: The marker.
        groups: Points that may share one entry of `colors` (3: one colour a triangle).

    Raises:
        MarkerError: If the number of colours does not fit the number of points.
    """
    count, points = len(marker.colors), len(marker.points)
    if count == 0:
        return None
    fits = count == points or count * groups == points
    require(marker, fits, f"it has {count} colors for {points} points; give none, or one each")
    colours = np.array([(c.r, c.g, c.b) for c in marker.colors], dtype=float)
    require(marker, bool(np.isfinite(colours).all()), "one of its colors is not finite")
    return frozen(np.repeat(np.clip(colours, 0, 1), points // count, axis=0), (-1, 3))
