# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How points of a scene become points of a picture: in parallel, or through a camera's pinhole.

A projection maps a scene to a view, in which straight lines stay straight and faces flat. Its
`axes` are the rows right, up, towards the eye (3, 3), in base_link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Matrix, Vector


@dataclass(frozen=True, eq=False)
class ParallelProjection:
    """A view from far away: right, up and towards the eye in metres."""

    axes: Matrix

    def seen(self, points: Matrix) -> Matrix:
        """Return points (..., 3) in base_link [m] as right, up and towards the eye [m]."""
        turned: Matrix = points @ self.axes.T
        return turned

    def magnification(self, towards: float) -> float:
        """Return how long a metre across is in the view: 1, as all lengths are true."""
        del towards
        return 1.0


@dataclass(frozen=True, eq=False)
class PinholeProjection:
    """The view of a camera at a point: right and up are tangents of angles.

    The third coordinate is one over the depth [1/m]. With it the map is projective, so that the
    order and the visible sides of faces are found as in a parallel projection.
    """

    axes: Matrix
    position: Vector  # of the eye (3,) in base_link [m]
    near: float  # depth from which things are drawn [m]

    def seen(self, points: Matrix) -> Matrix:
        """Return points (..., 3) in base_link [m] as right, up, and what grows towards the eye.

        Points that are nearer than `near` cannot be drawn: they are NaN.
        """
        turned = (points - self.position) @ self.axes.T
        depth = -turned[..., 2:]
        depth = np.where(depth < self.near, np.nan, depth)
        return np.concatenate((turned[..., :2], np.ones_like(depth)), axis=-1) / depth

    def magnification(self, towards: float) -> float:
        """Return how long a metre across is in the view, where the third coordinate is given."""
        return towards


Projection: TypeAlias = ParallelProjection | PinholeProjection
