# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A picture of a run: the arm in some postures, the path of its tool, and the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.transforms import Array

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.scene.objects import Primitive, SceneObject
from arm_tasks.scene.scene import Nut, Scene

_SIDE_VIEWS = (("from the side", "xz"), ("from above", "xy"))
_POSTURES = (  # colour and label
    ("#90a4ae", "arm at the start"),
    ("#1e88e5", "arm at the nut"),
    ("#43a047", "arm at the end of screwing"),
)
_CYLINDER_SIDES = 16
_PATH_COLOUR, _BOLT_COLOUR = "#fb8c00", "#37474f"
_NUT_START_COLOUR, _NUT_END_COLOUR = "#e53935", "#8e24aa"
_MARGIN = 20.0  # [mm] around the run


@dataclass(frozen=True)
class _Run:
    """What is drawn: the scene, the tool's path (m, 3) [m], skeletons (k, 3), the nut's end."""

    scene: Scene
    path: Array
    postures: Sequence[Array]
    nut_end: Array | None

    @property
    def parts(self) -> list[tuple[SceneObject, Primitive]]:
        return [(thing, part) for thing in self.scene.things.values() for part in thing.parts]

    def bounds(self, *more: Array) -> tuple[Array, Array]:
        """Return the corners (3,), (3,) of a box around the run and more points [mm]."""
        ends = [bolt.pose @ [0, 0, bolt.length, 1] for bolt in self.scene.bolts.values()]
        bolts = [end[None, :3] for end in ends]
        points = np.concatenate([np.zeros((1, 3)), self.path, *self.postures, *bolts, *more]) * 1e3
        return points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN


def draw_run(
    file: Path,
    model: RobotModel,
    scene: Scene,
    joints: Sequence[Array],
    nut_end: Array | None = None,
    title: str = "",
) -> Path:
    """Draw a run and write it as a picture.

    Args:
        file: The file; its suffix selects the format: .png, .svg or .pdf. Folders are created.
        model: The robot.
        scene: The scene.
        joints: Joint positions (n,) [rad or m] during the run, evenly sampled.
        nut_end: base_link <- nut (4, 4) at the end [m], or None.
        title: Title of the picture.

    Returns:
        The file.
    """
    from matplotlib.figure import Figure

    chain = Chain.from_urdf(model.to_urdf())
    path = np.array([chain.fk(q)[:3, 3] for q in joints]).reshape(-1, 3)
    skeletons = [
        np.array([T[:3, 3] for T in chain.link_poses(joints[i]).values()])
        for i in _drawn_samples(path, scene, nut_end)
    ]
    run = _Run(scene, path, skeletons, nut_end)
    figure = Figure(figsize=(13.0, 6.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.35, 1.0))
    _draw_space(figure.add_subplot(grid[:, 0], projection="3d"), run)
    for row, (name, plane) in enumerate(_SIDE_VIEWS):
        axes = figure.add_subplot(grid[row, 1])
        _draw_side(axes, run, ["xyz".index(axis) for axis in plane])
        axes.set(title=name, xlabel=f"{plane[0]} [mm]", ylabel=f"{plane[1]} [mm]")
    figure.suptitle(title)
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncol=len(names), frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    return file


def _drawn_samples(path: Array, scene: Scene, nut_end: Array | None) -> list[int]:
    """Return the samples at which the arm is drawn: the first, and those nearest to the nut."""
    nuts = [scene.nut_start()] if scene.nut is not None else []
    nuts += [] if nut_end is None else [nut_end]
    if not len(path):
        return []
    return [0, *(int(np.argmin(np.linalg.norm(path - T[:3, 3], axis=1))) for T in nuts)]


def _draw_space(axes: Any, run: _Run) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes.computed_zorder = False  # lines above faces: nothing of the arm is hidden
    corners = [_corners(*both) for both in run.parts]
    for (_, part), points in zip(run.parts, corners, strict=True):
        low, high = np.split(points * 1e3, 2)
        sides = [np.array([low[i - 1], low[i], high[i], high[i - 1]]) for i in range(len(low))]
        colour = (*part.color[:3], min(part.color[3], 0.35))
        axes.add_collection3d(
            Poly3DCollection(
                [low, high, *sides], facecolor=colour, edgecolor="#00000022", zorder=1
            )
        )
    _draw_lines(axes, run, [0, 1, 2])
    low, high = run.bounds(*corners)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=1.15)
    axes.view_init(elev=22, azim=-122)
    axes.set_axis_off()


def _draw_side(axes: Any, run: _Run, columns: list[int]) -> None:
    """Draw the orthographic view along the axis that columns lack."""
    from scipy.spatial import ConvexHull

    for thing, part in run.parts:
        points = _corners(thing, part)[:, columns] * 1e3
        outline = points[ConvexHull(points).vertices]
        axes.fill(*outline.T, alpha=0.5, zorder=0, facecolor=part.color, edgecolor="#00000033")
    _draw_lines(axes, run, columns)
    low, high = (corner[columns] for corner in run.bounds())
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.set_aspect("equal", adjustable="box")
    axes.grid(color="#00000018")


def _draw_lines(axes: Any, run: _Run, columns: list[int]) -> None:
    """Draw bolts, arm, path and nut, in 2D or 3D according to the columns of x, y, z."""

    def plot(points: Array, *style: str, **more: Any) -> None:
        axes.plot(*(points[:, columns] * 1e3).T, *style, **more)

    scene = run.scene
    for bolt in scene.bolts.values():
        ends = np.array([bolt.pose[:3, 3], bolt.pose[:3, 3] + bolt.length * bolt.pose[:3, 2]])
        plot(ends, color=_BOLT_COLOUR, linewidth=4, solid_capstyle="butt")
    for points, (colour, name) in zip(run.postures, _POSTURES, strict=False):
        plot(points, "-o", color=colour, linewidth=3, markersize=5, label=name)
    if len(run.path):
        plot(run.path, color=_PATH_COLOUR, linewidth=1.2, label="path of the tool")
    if scene.nut is not None:
        start = (scene.nut_start(), _NUT_START_COLOUR, "nut at the start")
        end = (run.nut_end, _NUT_END_COLOUR, "nut at the end")
        for T, colour, name in (start, end):
            for face, label in zip(_nut_faces(scene.nut, T), (name, None), strict=False):
                plot(face, color=colour, linewidth=2, label=label, zorder=5)


def _nut_faces(nut: Nut, T: Array | None) -> list[Array]:
    """Return the closed outlines (7, 3) of both faces of the hexagon [m]; none without a pose."""
    around = np.linspace(0.0, 2.0 * np.pi, 7) + np.pi / 6.0
    radius = nut.across_flats / np.sqrt(3.0)
    x, y = radius * np.cos(around), radius * np.sin(around)
    if T is None:
        return []
    heights = (-nut.thickness / 2.0, nut.thickness / 2.0)
    return [np.column_stack([x, y, np.full(7, z), np.ones(7)]) @ T[:3].T for z in heights]


def _corners(thing: SceneObject, part: Primitive) -> Array:
    """Return the corners (2 m, 3) of a box, or of a prism for a cylinder, face by face [m]."""
    x, y, z = part.size if part.kind == "box" else (1.0, 1.0, part.size[1])
    around = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    if part.kind == "cylinder":
        angles = np.arange(_CYLINDER_SIDES) * (2.0 * np.pi / _CYLINDER_SIDES)
        around = part.size[0] * np.column_stack([np.cos(angles), np.sin(angles)])
    rings = [np.column_stack([around * (x, y), np.full(len(around), h * z)]) for h in (-0.5, 0.5)]
    T = thing.pose @ part.pose
    return np.asarray(np.concatenate(rings) @ T[:3, :3].T + T[:3, 3])
