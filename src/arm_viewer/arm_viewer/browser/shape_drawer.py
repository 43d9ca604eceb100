# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/browser/test_view.py
"""Draws one plain shape as one node of viser's scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import Array, quaternion

from arm_viewer.errors import required
from arm_viewer.scene import shapes
from arm_viewer.scene.shapes import Colour, DrawnShape

if TYPE_CHECKING:
    import viser

    from arm_viewer.scene.shapes import MeshFiles


@dataclass(frozen=True)
class DrawContext:
    """Where and how a shape is drawn."""

    scene: viser.SceneApi
    meshes: MeshFiles
    name: str  # the node's name; its parent decides the frame
    pose: Array  # (4, 4), parent <- shape
    colour: Colour

    @property
    def place(self) -> dict[str, Any]:
        """Position and orientation as viser's keyword arguments."""
        return viser_pose(self.pose)

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

    def colours(self, own: Array | None) -> Array:
        """Return the colours of a shape's points, (n, 3), or the one for all, (3,)."""
        return np.array(self.rgb) if own is None else own


def viser_pose(pose: Array) -> dict[str, Any]:
    """Return a (4, 4) pose as viser's keyword arguments position and wxyz."""
    x, y, z, w = quaternion(pose)
    return {"position": pose[:3, 3], "wxyz": (w, x, y, z)}


def set_pose(handle: Any, pose: Array) -> None:
    """Move a drawn node to a (4, 4) pose, parent <- node."""
    for name, value in viser_pose(pose).items():
        setattr(handle, name, value)


def settled(handle: Any, pose: Array) -> Any:
    """Send the (4, 4) pose of a node that was just added, and return its handle.

    viser sends none that is the identity, and a browser keeps the pose of the node that had this
    name before.
    """
    handle.position, handle.wxyz = (1.0, 1.0, 1.0), (0.0, 1.0, 0.0, 0.0)
    set_pose(handle, pose)
    return handle


def draw(shape: DrawnShape, context: DrawContext) -> Any:
    """Draw a shape and return viser's handle; a ViewerError names a mesh that cannot be loaded."""
    return settled(_DRAWERS[type(shape)](shape, context), context.pose)


def _box(shape: shapes.Box, context: DrawContext) -> Any:
    return context.scene.add_box(context.name, context.rgb, shape.size, **context.surface)


def _cylinder(shape: shapes.Cylinder, context: DrawContext) -> Any:
    x, y = shape.diameters
    scale = (1.0, y / x if x else 1.0, 1.0)
    return context.scene.add_cylinder(
        context.name, 0.5 * x, shape.length, context.rgb, scale=scale, **context.surface
    )


def _ellipsoid(shape: shapes.Ellipsoid, context: DrawContext) -> Any:
    return context.scene.add_icosphere(
        context.name, 0.5, context.rgb, subdivisions=4, scale=shape.diameters, **context.surface
    )


def _mesh(shape: shapes.MeshFile, context: DrawContext) -> Any:
    mesh = context.meshes.load(shape.uri)
    if shape.own_colours and hasattr(mesh.visual, "to_color"):
        return context.scene.add_mesh_trimesh(
            context.name, mesh, scale=shape.scale, cast_shadow=True, **context.place
        )
    return _faces(context, mesh.vertices, mesh.faces, shape.scale)


def _faces(
    context: DrawContext, vertices: Array, faces: Any, scale: tuple[float, float, float]
) -> Any:
    return context.scene.add_mesh_simple(
        context.name,
        vertices,
        faces,
        color=context.rgb,
        side="double",
        flat_shading=True,
        scale=scale,
        **context.surface,
    )


def _arrows(shape: shapes.Arrows, context: DrawContext) -> Any:
    return context.scene.add_arrows(
        context.name,
        shape.points,
        _linear(context.colours(None)),
        shaft_radius=0.5 * shape.shaft_diameter,
        head_radius=0.5 * shape.head_diameter,
        head_length=shape.head_length,
        **context.place,
    )


def _lines(shape: shapes.Lines, context: DrawContext) -> Any:
    colours = np.array(context.rgb) if shape.colours is None else _linear(shape.colours)
    return context.scene.add_line_segments(
        context.name, shape.points, colours, thickness=shape.width, **context.place
    )


def _points(shape: shapes.PointCloud, context: DrawContext) -> Any:
    return context.scene.add_point_cloud(
        context.name,
        shape.points,
        context.colours(shape.colours),
        point_size=shape.size,
        precision="float32",
        point_shading="flat",
        **context.place,
    )


def _copies(shape: shapes.Copies, context: DrawContext) -> Any:
    with required("trimesh", "cube lists and sphere lists need it"):
        from trimesh import creation
    count, is_box = len(shape.positions), isinstance(shape.solid, shapes.Box)
    mesh = creation.box() if is_box else creation.icosphere(subdivisions=2, radius=0.5)
    size = shape.solid.size if isinstance(shape.solid, shapes.Box) else shape.solid.diameters
    return context.scene.add_batched_meshes_simple(
        context.name,
        mesh.vertices,
        mesh.faces,
        batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        batched_positions=shape.positions,
        batched_scales=np.tile(np.array(size, dtype=np.float32), (count, 1)),
        batched_colors=_linear(context.colours(shape.colours)),
        flat_shading=is_box,
        **context.surface,
    )


def _triangles(shape: shapes.Triangles, context: DrawContext) -> Any:
    faces = np.arange(len(shape.vertices)).reshape(-1, 3)
    if shape.colours is None:
        return _faces(context, shape.vertices, faces, (1.0, 1.0, 1.0))
    with required("trimesh", "coloured triangles need it"):
        from trimesh import Trimesh
    alpha = np.full(len(shape.colours), context.colour[3])
    rgba = np.column_stack([_linear(shape.colours), alpha])
    both = np.vstack([faces, faces[:, ::-1]])  # glTF draws the front of a face only.
    return context.scene.add_mesh_trimesh(
        context.name,
        Trimesh(shape.vertices, both, vertex_colors=rgba, process=False),
        cast_shadow=False,
        receive_shadow=False,
        **context.place,
    )


def _linear(colours: Array) -> Array:
    """Return sRGB colours as linear light for viser (IEC 61966-2-1, by the power 2.2)."""
    return np.asarray(colours**2.2)


def _text(shape: shapes.TextLabel, context: DrawContext) -> Any:
    return context.scene.add_label(
        context.name,
        shape.text,
        font_size_mode="scene",
        font_scene_height=shape.height,
        anchor="center-center",
        **context.place,
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
