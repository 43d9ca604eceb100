# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Drawable shapes as the solids, faces, lines and texts of a picture (`./arm draw`'s)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array, frame_along, pose
from arm_description.model.elements import LookKind
from arm_viewer.errors import ViewerError
from arm_viewer.scene import shapes
from arm_viewer.scene.shapes import Colour, MeshFiles, PlacedShape

from arm_studio.pictures.canvas import FlatShape
from arm_studio.pictures.solids import Rgb, Solid

MIN_OPACITY = 0.05  # fainter shapes are omitted
WIRE = 1e-6  # width of the edges of a wireframe [m]: the thinnest line of a picture


class PlacedText(NamedTuple):
    """A text at its place."""

    text: str
    at: Array  # (3,) [m]
    height: float  # of a capital letter [m]; 0 for the size of all texts


@dataclass
class ScenePrimitives:
    """The primitives of a scene."""

    solids: list[Solid] = field(default_factory=list)
    flat_shapes: list[FlatShape] = field(default_factory=list)
    labels: list[PlacedText] = field(default_factory=list)


def primitives_of(placed: Iterable[PlacedShape], meshes: MeshFiles) -> ScenePrimitives:
    """Return the primitives of shapes, without those that are too faint or cannot be loaded."""
    result = ScenePrimitives()
    for one in placed:
        if one.colour[3] < MIN_OPACITY:
            continue
        parts = ScenePrimitives()
        with suppress(ViewerError):
            _add(parts, one, meshes)
        if one.wireframe:
            _to_wires(parts, one.colour)
        result.solids += parts.solids
        result.flat_shapes += parts.flat_shapes
        result.labels += parts.labels
    return result


def _add(to: ScenePrimitives, placed: PlacedShape, meshes: MeshFiles) -> None:
    """Add a shape."""
    shape, T, (*rgb, opacity) = placed[:3]
    colour: Rgb = (rgb[0], rgb[1], rgb[2])
    match shape:
        case shapes.Box() | shapes.Cylinder() | shapes.Ellipsoid():
            to.solids.append(_solid(shape, T, colour, opacity))
        case shapes.Copies(solid=solid, positions=positions, colours=own):
            tinted = np.broadcast_to(colour if own is None else own, positions.shape)
            for at, one in zip(positions, tinted, strict=True):
                to.solids.append(_solid(solid, T @ pose(p=at), tuple(one), opacity))
        case shapes.Arrows():
            for start, end in shape.points:
                to.solids += _arrow(shape, T, start, end, colour)
        case shapes.MeshFile(uri=uri, scale=scale):
            mesh = meshes.load(uri)
            corners = np.asarray(mesh.vertices)[mesh.faces] * scale
            own_colours = shape.own_colours and hasattr(mesh.visual, "to_color")
            tints = mesh.visual.to_color().face_colors[:, :3] / 255.0 if own_colours else None
            _add_flat(to, corners, None if tints is None else tints[:, None], T, colour, opacity)
        case shapes.Triangles(vertices=vertices, colours=own):
            colours = None if own is None else own.reshape(-1, 3, 3)
            _add_flat(to, vertices.reshape(-1, 3, 3), colours, T, colour, opacity)
        case shapes.Lines(points=points, colours=own, width=width):
            _add_flat(to, points, own, T, colour, opacity, width)
        case shapes.PointCloud(points=points, colours=own, size=size):
            colours = None if own is None else own[:, None]
            _add_flat(to, points[:, None], colours, T, colour, opacity, size)
        case shapes.TextLabel(text=text, height=height):
            to.labels.append(PlacedText(text, T[:3, 3], height))


def _solid(
    shape: shapes.Box | shapes.Cylinder | shapes.Ellipsoid, T: Array, rgb: Rgb, opacity: float
) -> Solid:
    """Return a solid; one that is not round is stretched."""
    if isinstance(shape, shapes.Box):
        return Solid("box", shape.size, T, rgb, opacity)
    radius = 0.5 * float(np.mean(shape.diameters))
    stretch = np.ones(4)
    if len(set(shape.diameters)) > 1:
        stretch[: len(shape.diameters)] = 0.5 * np.array(shape.diameters) / radius
    if isinstance(shape, shapes.Cylinder):
        return Solid("cylinder", (radius, shape.length), T * stretch, rgb, opacity)
    return Solid("sphere", (radius,), T * stretch, rgb, opacity)


def _arrow(shape: shapes.Arrows, T: Array, start: Array, end: Array, rgb: Rgb) -> Sequence[Solid]:
    """Return shaft and head of an arrow between two points (3,)."""
    length = float(np.linalg.norm(end - start))
    if length <= 0.0:
        return ()
    along = (end - start) / length
    head = min(shape.head_length, length)

    def body(kind: LookKind, radii: tuple[float, ...], low: float, high: float) -> Solid:
        middle = pose(frame_along(along), start + 0.5 * (low + high) * along)
        return Solid(kind, (*radii, high - low), T @ middle, rgb)

    tip = body("cone", (0.5 * shape.head_diameter, 0.0), length - head, length)
    shaft = body("cylinder", (0.5 * shape.shaft_diameter,), 0.0, max(length - head, 1e-6))
    return shaft, tip


def _add_flat(
    to: ScenePrimitives,
    groups: Array,
    colours: Array | None,
    T: Array,
    rgb: Rgb,
    opacity: float,
    width: float = 0.0,
) -> None:
    """Add faces, lines or dots (n, k, 3), each in the mean of its points' colours, if any."""
    for i, points in enumerate(groups @ T[:3, :3].T + T[:3, 3]):
        own = rgb if colours is None else tuple(colours[i].mean(axis=0))
        to.flat_shapes.append(FlatShape(points, own, width, opacity))


def _to_wires(parts: ScenePrimitives, colour: Colour) -> None:
    """Replace faces by their edges."""
    faces = [face for solid in parts.solids for face in solid.faces()]
    faces += [part.points for part in parts.flat_shapes if not part.width]
    edges = [
        np.array((a, b))
        for face in faces
        for a, b in zip(face, np.roll(face, -1, axis=0), strict=True)
        if tuple(a) < tuple(b)  # the neighbour has the same edge the other way round
    ]
    parts.solids.clear()
    parts.flat_shapes = [FlatShape(edge, colour[:3], WIRE) for edge in edges]
