# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a threaded bolt and nut: few triangles, as messages carry them.

The rows of points follow the helix, a row for each direction of a turn.
"""

from __future__ import annotations

import math

import numpy as np
from arm_common.transforms import Array

from arm_tasks.scene.screw_thread import COUNTERSINK_SLOPE, ScrewThread, ThreadSizes

_COARSE = 24  # points around the axis


def bolt_picture(thread: ScrewThread, length: float, start: float = 0.0) -> Array:
    """Return the corners (3 k, 3) of few triangles that look like bolt_mesh() [m]."""
    turned, heights, radii = _coarse(thread, thread.external, 0.0, length)
    tip = thread.tip_radius
    points = _placed(turned + start, heights, np.minimum(radii, tip + heights))
    angles = np.linspace(0.0, 2.0 * math.pi, _COARSE + 1)
    disc = _placed(angles[:, None], np.zeros((1, 2)), np.array([[tip, 0.0]]))
    corners = [_corners(points, flip=thread.hand < 0), _corners(disc, flip=True)]
    return np.vstack(corners)


def nut_picture(thread: ScrewThread, across_flats: float, thickness: float) -> Array:
    """Return the corners (3 k, 3) of few triangles that look like a nut [m]."""
    half = thickness / 2.0
    turned, heights, radii = _coarse(thread, thread.internal, -half, half, half)
    mouth = thread.countersink / 2.0
    radii = np.maximum(radii, mouth - (half - np.abs(heights)) * COUNTERSINK_SLOPE)
    inside = _placed(turned, heights, radii)
    angles = np.linspace(0.0, 2.0 * math.pi, _COARSE + 1)
    from_flat = (angles + math.pi / 6.0) % (math.pi / 3.0) - math.pi / 6.0
    outer = across_flats / 2.0 / np.cos(from_flat)
    inner = np.full_like(outer, mouth)
    rim = np.column_stack([inner, outer, outer, inner])
    hexagon = _placed(angles[:, None], np.array([[-half, -half, half, half]]), rim)
    return np.vstack([_corners(inside, flip=thread.hand > 0), _corners(hexagon)])


def _coarse(
    thread: ScrewThread, sizes: ThreadSizes, low: float, high: float, at: float = 0.0
) -> tuple[Array, Array, Array]:
    """Return angles, heights and radii (k, 5) of the corners of the profile along the helix.

    The crest, or the groove of a nut, passes the height `at` at the angle 0.
    """
    p = thread.pitch
    profile = np.array([-0.375, -0.0625, 0.0625, 0.375, 0.625]) * p  # ends of root and crest
    first = math.floor((low - at) / p - 1.0) * _COARSE
    count = math.ceil((high - low) / p + 3.0) * _COARSE
    steps = (first + np.arange(count + 1))[:, None] / _COARSE  # turns
    heights = np.clip(at + p * steps + profile, low, high)
    radii = np.array([[sizes.radius(float(u), p) for u in profile]])
    angles = thread.hand * 2.0 * math.pi * steps
    return angles, heights, np.broadcast_to(radii, heights.shape)


def _placed(angles: Array, heights: Array, radii: Array) -> Array:
    """Return the points (i, j, 3) of a surface around z."""
    x, y = radii * np.cos(angles), radii * np.sin(angles)
    return np.stack([x, y, np.broadcast_to(heights, x.shape)], axis=-1)


def _corners(points: Array, flip: bool = False) -> Array:
    """Return the corners (3 k, 3) of the triangles between points (i, j, 3)."""
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    if flip:
        b, d = d, b
    found = np.concatenate([np.stack(t, axis=2).reshape(-1, 3, 3) for t in ((a, b, c), (a, c, d))])
    normal = np.cross(found[:, 1] - found[:, 0], found[:, 2] - found[:, 0])
    return np.asarray(found[np.abs(normal).max(axis=1) > 1e-14].reshape(-1, 3))
