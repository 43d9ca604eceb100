# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Converts visualization_msgs markers to drawable shapes, as RViz does.

Any object with the fields of visualization_msgs/Marker is accepted; ROS is not needed here.
Field meanings: visualization_msgs/msg/Marker.msg and RViz's user guide, "Markers: Sending
Basic Shapes" (scale is a full diameter or edge length; an arrow by points has its shaft
diameter in scale.x, its head diameter in scale.y and its head length in scale.z).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from arm_common.errors import elided
from arm_common.transforms import Array, pose_to_matrix

from arm_viewer.errors import ViewerError
from arm_viewer.scene.shapes import (
    Arrows,
    Box,
    Colour,
    Copies,
    Cylinder,
    DrawnShape,
    Ellipsoid,
    Lines,
    MeshFile,
    PointCloud,
    TextLabel,
    Triangles,
    frozen,
)

MAX_LABEL = 2000  # characters of a text, about
Scale = tuple[float, float, float]


def require(marker: Any, holds: bool, problem: str) -> None:
    """Raise a ViewerError that names the marker unless the condition holds."""
    if not holds:
        raise ViewerError(f'marker "{marker.ns}" {marker.id}: {problem}')


def positive(marker: Any, count: int) -> Any:
    """Return the first `count` of scale.x, scale.y, scale.z [m]; all must be positive."""
    values = (float(marker.scale.x), float(marker.scale.y), float(marker.scale.z))[:count]
    for axis, value in zip("xyz", values, strict=False):
        require(
            marker,
            bool(np.isfinite(value)) and value > 0.0,
            f"scale.{axis} is {value:g}; it must be a positive length in metres",
        )
    return values


def points_of(marker: Any, at_least: int = 1) -> Array:
    """Return the points as (n, 3), read-only; raise ViewerError if too few or not finite."""
    count = len(marker.points)
    require(marker, count >= at_least, f"it has {count} points and needs {at_least} or more")
    points = frozen([(p.x, p.y, p.z) for p in marker.points], (-1, 3))
    require(marker, bool(np.isfinite(points).all()), "one of its points is not finite")
    return points


def colours_of(marker: Any, groups: int = 1) -> Array | None:
    """Return a colour for each point as (n, 3), 0 to 1, or None if the marker has one colour.

    Each entry of `colors` may apply to `groups` consecutive points (3: one colour per triangle).
    """
    count, points = len(marker.colors), len(marker.points)
    if count == 0:
        return None
    fits = count == points or count * groups == points
    require(marker, fits, f"it has {count} colors for {points} points; give none, or one each")
    colours = np.array([(c.r, c.g, c.b) for c in marker.colors], dtype=float)
    require(marker, bool(np.isfinite(colours).all()), "one of its colors is not finite")
    return frozen(np.repeat(np.clip(colours, 0, 1), points // count, axis=0), (-1, 3))


ADD, DELETE, DELETE_ALL = 0, 2, 3
ARROW, CUBE, SPHERE, CYLINDER, LINE_STRIP, LINE_LIST, CUBE_LIST, SPHERE_LIST = range(8)
POINTS, TEXT_VIEW_FACING, MESH_RESOURCE, TRIANGLE_LIST, ARROW_STRIP = range(8, 13)


@dataclass(frozen=True)
class Drawing:
    """The validated content of one marker."""

    frame: str  # the tf frame of its pose; empty for the fixed frame
    locked: bool  # whether it moves with that frame after it was placed
    pose: Array  # (4, 4), frame <- marker
    shape: DrawnShape
    colour: Colour  # its alpha counts for per-point colours too
    lifetime: float  # duration of display [s]; 0 for unlimited


def read_marker(marker: Any) -> Drawing:
    """Return the drawing of a marker whose action is ADD (the same number as MODIFY).

    Raises:
        ViewerError: A field is invalid; names the field and the remedy.
    """
    require(marker, marker.type in _MAKERS, f"type {marker.type} is not drawn; use 0 to 12")
    colour = (marker.color.r, marker.color.g, marker.color.b, marker.color.a)
    require(marker, bool(np.all(np.isfinite(colour))), "its color is not finite")
    shape = _MAKERS[marker.type](marker)
    r, g, b, a = (float(np.clip(value, 0.0, 1.0)) for value in colour)
    lifetime = marker.lifetime.sec + 1e-9 * marker.lifetime.nanosec
    frame, locked = marker.header.frame_id.lstrip("/"), bool(marker.frame_locked)
    return Drawing(frame, locked, _pose(marker), shape, (r, g, b, a), max(0.0, lifetime))


def _pose(marker: Any) -> Array:
    p, q = marker.pose.position, marker.pose.orientation
    xyz, xyzw = np.array([p.x, p.y, p.z]), np.array([q.x, q.y, q.z, q.w])
    require(marker, bool(np.isfinite([*xyz, *xyzw]).all()), "its pose is not finite")
    largest = float(np.abs(xyzw).max())  # unlike the norm, it cannot overflow
    if largest == 0.0:  # an unset orientation is the identity, as in RViz
        xyzw, largest = np.array([0.0, 0.0, 0.0, 1.0]), 1.0
    return frozen(pose_to_matrix(xyz, xyzw / largest), (4, 4))


def _arrow(marker: Any) -> DrawnShape:
    if not marker.points:
        x, y, z = positive(marker, 3)
        ends = frozen([[0, 0, 0], [x, 0, 0]], (1, 2, 3))
        return Arrows(ends, y, y + z, 0.23 * x)
    require(marker, len(marker.points) == 2, "an ARROW has no points, or two: start and end")
    return _arrow_strip(marker)


def _arrow_strip(marker: Any) -> DrawnShape:
    ends = _chain(points_of(marker, at_least=2))
    shaft, head = positive(marker, 2)
    longest = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max())
    return Arrows(ends, shaft, head, float(marker.scale.z) or 0.2 * longest)


def _lines(marker: Any, strip: bool) -> DrawnShape:
    points, colours = points_of(marker, at_least=2), colours_of(marker)
    (width,) = positive(marker, 1)
    require(marker, strip or len(points) % 2 == 0, "a LINE_LIST needs an even number of points")
    paired = _chain if strip else lambda values: frozen(values, (-1, 2, 3))
    return Lines(paired(points), None if colours is None else paired(colours), width)


def _chain(points: Array) -> Array:
    """Return each point with the next one, (n - 1, 2, 3)."""
    return frozen(np.stack([points[:-1], points[1:]], axis=1), (-1, 2, 3))


def _points(marker: Any) -> DrawnShape:
    width, height = positive(marker, 2)
    return PointCloud(points_of(marker), colours_of(marker), max(width, height))


def _copies(marker: Any, solid: Callable[[Scale], Box | Ellipsoid]) -> DrawnShape:
    return Copies(solid(positive(marker, 3)), points_of(marker), colours_of(marker))


def _triangles(marker: Any) -> DrawnShape:
    points = points_of(marker, at_least=3)
    require(marker, len(points) % 3 == 0, "a TRIANGLE_LIST needs three points per triangle")
    colours = colours_of(marker, groups=3)
    return Triangles(frozen(points * np.array(positive(marker, 3)), (-1, 3)), colours)


def _text(marker: Any) -> DrawnShape:
    require(marker, float(marker.scale.z) > 0, "TEXT_VIEW_FACING needs scale.z, its height")
    return TextLabel(elided(marker.text, MAX_LABEL), float(marker.scale.z))


def _mesh(marker: Any) -> DrawnShape:
    require(marker, bool(marker.mesh_resource), "MESH_RESOURCE needs mesh_resource")
    x, y, z = positive(marker, 3)
    return MeshFile(marker.mesh_resource, (x, y, z), bool(marker.mesh_use_embedded_materials))


def _cylinder(marker: Any) -> DrawnShape:
    x, y, z = positive(marker, 3)
    return Cylinder((x, y), z)


_MAKERS: dict[int, Callable[[Any], DrawnShape]] = {
    ARROW: _arrow,
    CUBE: lambda m: Box(positive(m, 3)),
    SPHERE: lambda m: Ellipsoid(positive(m, 3)),
    CYLINDER: _cylinder,
    LINE_STRIP: lambda m: _lines(m, strip=True),
    LINE_LIST: lambda m: _lines(m, strip=False),
    CUBE_LIST: lambda m: _copies(m, Box),
    SPHERE_LIST: lambda m: _copies(m, Ellipsoid),
    POINTS: _points,
    TEXT_VIEW_FACING: _text,
    MESH_RESOURCE: _mesh,
    TRIANGLE_LIST: _triangles,
    ARROW_STRIP: _arrow_strip,
}
