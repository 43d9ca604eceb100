# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The paper: what is seen, its scale, and where a point of the scene lies on it.

From where an arm is looked at, and what of it is shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Matrix, Vector

from arm_description.exporters.drawing.scene import Loose, patches, shadows
from arm_description.exporters.drawing.solids import Solid, faces

SIZE = 6.0  # of the larger side of what is drawn [inch]
MARGIN = 0.35


@dataclass(frozen=True)
class Extent:
    """What must be on the paper.

    Attributes:
        seen: (2, 2) lowest and highest right, up [m].
        ground: (2, 2) lowest and highest x, y of the shadows [m].
    """

    seen: Matrix
    ground: Matrix

    def joined(self, other: Extent) -> Extent:
        """Extent of both, so that many postures are drawn in one frame."""
        return Extent(_joined(self.seen, other.seen), _joined(self.ground, other.ground))


def extent_of(solids: Sequence[Solid], view: Matrix, loose: Sequence[Loose] = ()) -> Extent:
    """Extent of solids with their shadows, and of what is drawn besides."""
    on_ground = np.vstack(shadows(solids))
    corners = [face for solid in solids for face in faces(solid, fine=False)]
    points = np.vstack((*corners, on_ground, *(part.points for part in loose))) @ view[:2].T
    spots = on_ground[:, :2]
    return Extent(
        np.array((points.min(axis=0), points.max(axis=0))),
        np.array((spots.min(axis=0), spots.max(axis=0))),
    )


class Sheet:
    """Where a point of the scene is on the paper.

    Args:
        solids: what is drawn.
        view: rows right, up, towards the eye.
        loose: what is drawn besides.
        extent: what must be on the paper; that of the solids if None.

    Attributes:
        patches: what is seen, from the back to the front.
        shadows: polygons (k, 2) on the ground, seen [m].
        step: between the lines of the ground and length of the scale bar [m].
        field: (2,) low and high x, y of the ground that is shown [m].
        scale: inches a metre.
        size: (2,) width and height [inch].
    """

    def __init__(
        self,
        solids: Sequence[Solid],
        view: Matrix,
        loose: Sequence[Loose] = (),
        extent: Extent | None = None,
    ) -> None:
        extent = extent or extent_of(solids, view, loose)
        self.view = view
        self.patches = patches(solids, view, loose)
        self.shadows = [(shadow @ view.T)[:, :2] for shadow in shadows(solids)]
        self.step = _round_length(0.27 * float(np.ptp(extent.seen, axis=0).max()))
        low, high = extent.ground / self.step
        self.field = np.floor(low) * self.step, np.ceil(high) * self.step
        corners = [(x, y, 0.0) for x in self._sides(0) for y in self._sides(1)]
        points = np.vstack((extent.seen, np.array(corners) @ view[:2].T))
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


def _joined(one: Matrix, other: Matrix) -> Matrix:
    return np.array((np.minimum(one[0], other[0]), np.maximum(one[1], other[1])))


def _seen_from(azimuth_deg: float, elevation_deg: float) -> Matrix:
    """Axes (rows: right, up, towards the eye) of a view from a direction, in base_link."""
    azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
    towards = np.array(
        (
            math.cos(elevation) * math.cos(azimuth),
            math.cos(elevation) * math.sin(azimuth),
            math.sin(elevation),
        )
    )
    right = np.array((-math.sin(azimuth), math.cos(azimuth), 0.0))
    return np.array((right, np.cross(towards, right), towards))


# base_link has x forward, y to the left, z up (REP 103).
VIEWS: Mapping[str, Matrix] = {
    "iso": _seen_from(-52.0, 24.0),
    "front": _seen_from(0.0, 0.0),
    "side": _seen_from(-90.0, 0.0),
    "top": _seen_from(-90.0, 90.0),
}


@dataclass(frozen=True)
class Style:
    """What is shown.

    Attributes:
        view: one of VIEWS.
        frames: axes of every link frame.
        dh_frames: axes of the frames of the table, with their numbers.
        labels: names and positions of the joints.
    """

    view: str = "iso"
    frames: bool = False
    dh_frames: bool = False
    labels: bool = False
