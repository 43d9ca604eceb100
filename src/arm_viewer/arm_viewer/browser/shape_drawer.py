# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draws one plain shape as one node of viser's scene.

Where and in which colour something is drawn, as viser wants to be told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import quaternion

from arm_viewer.errors import MissingPackageError
from arm_viewer.scene import shapes
from arm_viewer.scene.shapes import Array, Colour, DrawnShape

if TYPE_CHECKING:
    import viser

    from arm_viewer.scene.meshes import MeshFiles


@dataclass(frozen=True)
class DrawContext:
    """All that is needed to draw one shape, but the shape.

    Attributes:
        scene: viser's scene.
        meshes: For mesh files.
        name: The node's name; its parent decides the frame.
        pose: (4, 4), parent <- shape.
        colour: Red, green, blue, alpha.
    """

    scene: viser.SceneApi
    meshes: MeshFiles
    name: str
    pose: Array
    colour: Colour

    @property
    def place(self) -> dict[str, Any]:
        """Position and orientation as viser's keyword arguments."""
        return place(self.pose)

    @property
    def rgb(self) -> tuple[float, float, float]:
        """The colour without its alpha."""
        return self.colour[:3]

    @property
    def surface(self) -> dict[str, Any]:
        """Pose and opacity as viser's keyword arguments for solids."""
        alpha = self.colour[3]
        solid = alpha >= 1.0
        return {"opacity": None if solid else alpha, "cast_shadow": solid, **self.place}


def place(pose: Array) -> dict[str, Any]:
    """Return a (4, 4) pose as viser's keyword arguments position and wxyz."""
    return {"position": pose[:3, 3], "wxyz": quaternion(pose)}


def draw(shape: DrawnShape, brush: DrawContext) -> Any:
    """Draw a shape and return viser's handle of it.

    Raises:
        ViewerError: If a mesh cannot be loaded.
    """
    return _DRAWERS[type(shape)](shape, brush)


def _box(shape: shapes.Box, brush: DrawContext) -> Any:
    return brush.scene.add_box(brush.name, brush.rgb, shape.size, **brush.surface)


def _cylinder(shape: shapes.Cylinder, brush: DrawContext) -> Any:
    x, y = shape.diameters
    scale = (1.0, y / x if x else 1.0, 1.0)
    return brush.scene.add_cylinder(
        brush.name, 0.5 * x, shape.length, brush.rgb, scale=scale, **brush.surface
    )


def _ellipsoid(shape: shapes.Ellipsoid, brush: DrawContext) -> Any:
    return brush.scene.add_icosphere(
        brush.name, 0.5, brush.rgb, subdivisions=4, scale=shape.diameters, **brush.surface
    )


def _mesh(shape: shapes.MeshFile, brush: DrawContext) -> Any:
    mesh = brush.meshes.load(shape.uri)
    if shape.own_colours and hasattr(mesh.visual, "to_color"):
        return brush.scene.add_mesh_trimesh(
            brush.name, mesh, scale=shape.scale, cast_shadow=True, **brush.place
        )
    return brush.scene.add_mesh_simple(
        brush.name,
        mesh.vertices,
        mesh.faces,
        color=brush.rgb,
        side="double",
        flat_shading=True,
        scale=shape.scale,
        **brush.surface,
    )


def _arrows(shape: shapes.Arrows, brush: DrawContext) -> Any:
    return brush.scene.add_arrows(
        brush.name,
        shape.points,
        _linear(np.array(brush.rgb)),
        shaft_radius=0.5 * shape.shaft_diameter,
        head_radius=0.5 * shape.head_diameter,
        head_length=shape.head_length,
        **brush.place,
    )


def _lines(shape: shapes.Lines, brush: DrawContext) -> Any:
    colours = np.array(brush.rgb) if shape.colours is None else _linear(shape.colours)
    return brush.scene.add_line_segments(
        brush.name, shape.points, colours, thickness=shape.width, **brush.place
    )


def _points(shape: shapes.PointCloud, brush: DrawContext) -> Any:
    colours = np.array(brush.rgb) if shape.colours is None else shape.colours
    return brush.scene.add_point_cloud(
        brush.name,
        shape.points,
        colours,
        point_size=shape.size,
        precision="float32",
        point_shading="flat",
        **brush.place,
    )


def _copies(shape: shapes.Copies, brush: DrawContext) -> Any:
    mesh, sizes = _unit_mesh(shape.solid)
    count = len(shape.positions)
    colours = np.array(brush.rgb) if shape.colours is None else shape.colours
    return brush.scene.add_batched_meshes_simple(
        brush.name,
        mesh.vertices,
        mesh.faces,
        batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        batched_positions=shape.positions,
        batched_scales=np.tile(np.array(sizes, dtype=np.float32), (count, 1)),
        batched_colors=_linear(colours),
        flat_shading=isinstance(shape.solid, shapes.Box),
        **brush.surface,
    )


def _unit_mesh(solid: shapes.Box | shapes.Ellipsoid) -> tuple[Any, tuple[float, float, float]]:
    """Return a mesh one metre in size, and the factors that give it the solid's size."""
    try:
        import trimesh
    except ImportError as error:
        raise MissingPackageError("trimesh", "cube and sphere lists need it") from error
    if isinstance(solid, shapes.Box):
        return trimesh.creation.box(), solid.size
    return trimesh.creation.icosphere(subdivisions=2, radius=0.5), solid.diameters


def _triangles(shape: shapes.Triangles, brush: DrawContext) -> Any:
    faces = np.arange(len(shape.vertices)).reshape(-1, 3)
    if shape.colours is None:
        return brush.scene.add_mesh_simple(
            brush.name,
            shape.vertices,
            faces,
            color=brush.rgb,
            side="double",
            flat_shading=True,
            **brush.surface,
        )
    return brush.scene.add_mesh_trimesh(
        brush.name,
        _coloured_mesh(shape.vertices, faces, shape.colours, brush.colour[3]),
        cast_shadow=False,
        receive_shadow=False,
        **brush.place,
    )


def _coloured_mesh(vertices: Array, faces: Any, colours: Array, alpha: float) -> Any:
    try:
        import trimesh
    except ImportError as error:
        raise MissingPackageError("trimesh", "coloured triangles need it") from error
    rgba = np.column_stack([_linear(colours), np.full(len(colours), alpha)])
    both = np.vstack([faces, faces[:, ::-1]])  # glTF draws the front of a face only.
    return trimesh.Trimesh(vertices, both, vertex_colors=rgba, process=False)


def _linear(colours: Array) -> Array:
    """Return sRGB colours as linear light: what colours of instances and of vertices mean.

    IEC 61966-2-1, approximated by the power 2.2.
    """
    return np.asarray(colours**2.2)


def _text(shape: shapes.TextLabel, brush: DrawContext) -> Any:
    return brush.scene.add_label(
        brush.name,
        shape.text,
        font_size_mode="scene",
        font_scene_height=shape.height,
        anchor="center-center",
        **brush.place,
    )


_DRAWERS: dict[type[DrawnShape], Callable[[Any, DrawContext], Any]] = {
    shapes.Box: _box,
    shapes.Cylinder: _cylinder,
    shapes.Ellipsoid: _ellipsoid,
    shapes.MeshFile: _mesh,
    shapes.Arrows: _arrows,
    shapes.Lines: _lines,
    shapes.PointCloud: _points,
    shapes.Copies: _copies,
    shapes.Triangles: _triangles,
    shapes.TextLabel: _text,
}
