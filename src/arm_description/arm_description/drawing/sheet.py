# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The paper: what is seen, its scale, and where a point of the scene lies on it."""

from __future__ import annotations

import math

import numpy as np

from ..transforms import Matrix, Vector
from .scene import Posed, patches, shadows

SIZE = 6.0  # of the larger side of what is drawn [inch]
MARGIN = 0.35


class Sheet:
    """Where a point of the scene is on the paper.

    Attributes:
        patches: faces of the arm, from the back to the front.
        shadows: polygons (k, 2) on the ground, seen [m].
        step: between the lines of the ground and length of the scale bar [m].
        field: (2,) low and high x, y of the ground that is shown [m].
        scale: inches a metre.
        size: (2,) width and height [inch].
    """

    def __init__(self, arm: Posed, view: Matrix) -> None:
        self.view = view
        self.patches = patches(arm, view)
        on_ground = shadows(arm)
        self.shadows = [(shadow @ view.T)[:, :2] for shadow in on_ground]
        points = np.vstack([patch.points for patch in self.patches] + self.shadows)
        self.step = _round_length(0.27 * float(np.ptp(points, axis=0).max()))
        spots = np.vstack(on_ground)[:, :2] / self.step
        self.field = (
            np.floor(spots.min(axis=0)) * self.step,
            np.ceil(spots.max(axis=0)) * self.step,
        )
        corners = [(x, y, 0.0) for x in self._sides(0) for y in self._sides(1)]
        points = np.vstack((points, np.array(corners) @ view[:2].T))
        low, high = points.min(axis=0), points.max(axis=0)
        self.scale = SIZE / max(float((high - low).max()), 1e-6)  # inches a metre
        corner = np.array((MARGIN, MARGIN + 0.3))
        self.offset = corner - low * self.scale
        self.size = (high - low) * self.scale + 2 * corner

    def _sides(self, k: int) -> tuple[float, float]:
        """The field's two ends along x or y."""
        return float(self.field[0][k]), float(self.field[1][k])

    def flat(self, points: Matrix) -> Matrix:
        """(k, 2) seen [m] to (k, 2) on paper [inch]."""
        placed: Matrix = points * self.scale + self.offset
        return placed

    def place(self, point: Vector) -> Vector:
        """(3,) in base_link [m] to (2,) on paper [inch]."""
        placed: Vector = self.flat((self.view[:2] @ point)[None, :])[0]
        return placed


def _round_length(most: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a length [m]."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(factor * power for factor in (1.0, 2.0, 5.0) if factor * power <= most)
