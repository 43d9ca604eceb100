# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Drawable shapes, to which URDF visuals and markers are converted, and their bounding boxes.

Lengths in metres, in the shape's own frame; colours red, green, blue, alpha, each 0 to 1.
Everything is immutable; arrays are read-only.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array

Colour = tuple[float, float, float, float]

GREY: Colour = (0.62, 0.65, 0.70, 1.0)


@dataclass(frozen=True, eq=False)
class DrawnShape:
    """The base of all shapes; two are equal if they look the same."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        return id(self)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return bool(a == b)


@dataclass(frozen=True, eq=False)
class Box(DrawnShape):
    """A box centred at the origin. `size`: edge lengths along x, y, z [m]."""

    size: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Cylinder(DrawnShape):
    """A cylinder along z, centred at the origin. `diameters`: along x and y [m]."""

    diameters: tuple[float, float]
    length: float


@dataclass(frozen=True, eq=False)
class Ellipsoid(DrawnShape):
    """An ellipsoid (a sphere if all are equal) at the origin. `diameters`: along x, y, z [m]."""

    diameters: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class MeshFile(DrawnShape):
    """A mesh in a file. `uri`: package://, file:// or a path; `scale`: factor along x, y, z."""

    uri: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    own_colours: bool = True


@dataclass(frozen=True, eq=False)
class Arrows(DrawnShape):
    """Arrows from points[i, 0] to points[i, 1].

    `points`: (n, 2, 3) [m]; diameters of shaft and head and the head's length [m].
    """

    points: Array
    shaft_diameter: float
    head_diameter: float
    head_length: float


@dataclass(frozen=True, eq=False)
class Lines(DrawnShape):
    """Line segments. `points`: (n, 2, 3) [m]; `colours`: (n, 2, 3) or None; `width` [m]."""

    points: Array
    colours: Array | None
    width: float


@dataclass(frozen=True, eq=False)
class PointCloud(DrawnShape):
    """Flat points that face the camera. `points`: (n, 3) [m]; `colours`: (n, 3) or None."""

    points: Array
    colours: Array | None
    size: float


@dataclass(frozen=True, eq=False)
class Copies(DrawnShape):
    """The same solid at many positions. `positions`: (n, 3) [m]; `colours`: (n, 3) or None."""

    solid: Box | Ellipsoid
    positions: Array
    colours: Array | None


@dataclass(frozen=True, eq=False)
class Triangles(DrawnShape):
    """Triangles, both sides drawn. `vertices`: (3 n, 3) [m]; `colours`: (3 n, 3) or None."""

    vertices: Array
    colours: Array | None


@dataclass(frozen=True, eq=False)
class TextLabel(DrawnShape):
    """Text that faces the camera. `height`: of a capital letter [m]."""

    text: str
    height: float


class PlacedShape(NamedTuple):
    """A shape at its place."""

    shape: DrawnShape
    pose: Array  # (4, 4), fixed frame <- shape
    colour: Colour
    wireframe: bool = False
    on_top: bool = False  # of all bodies, wherever it is


def frozen(values: Any, shape: tuple[int, ...]) -> Array:
    """Return a read-only copy of the values as a float array of a shape."""
    array = np.array(values, dtype=float).reshape(shape)
    array.setflags(write=False)
    return array


SIGNS = np.array(list(product((-0.5, 0.5), repeat=3)))


def corners(shape: DrawnShape, pose: Array) -> Array:
    """Return the corners of a posed solid's box, (8, 3); of other shapes the origin, (1, 3)."""
    if isinstance(shape, Box):
        size: tuple[float, ...] = shape.size
    elif isinstance(shape, Cylinder):
        size = (*shape.diameters, shape.length)
    elif isinstance(shape, Ellipsoid):
        size = shape.diameters
    else:
        return np.array(pose[:3, 3][None])
    return np.array((SIGNS * size) @ pose[:3, :3].T + pose[:3, 3])
