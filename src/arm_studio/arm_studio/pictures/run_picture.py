# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A picture of a run: the arm in some postures, the path of its tool, and the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.files.saving import write_bytes
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_tasks.scene.scene import Nut, Scene

from arm_kinematics import Chain
from arm_studio.pictures.figure import figure_file
from arm_studio.pictures.solids import Solid

_SIDE_VIEWS = (("from the side", "xz"), ("from above", "xy"))
_POSTURES = (  # colour and label
    ("#90a4ae", "arm at the start"),
    ("#1e88e5", "arm at the nut"),
    ("#43a047", "arm at the end of screwing"),
)
_NUTS = (("#e53935", "nut at the start"), ("#8e24aa", "nut at the end"))
_PATH_COLOUR, _BOLT_COLOUR = "#fb8c00", "#37474f"
_MARGIN = 20.0  # [mm] around the run


@dataclass(frozen=True)
class _Run:
    """Geometry to draw; all lengths in mm."""

    path: Array  # (m, 3) of the tool
    postures: list[Array]  # skeletons (k, 3)
    bolts: list[Array]  # tip and foot (2, 3)
    nuts: list[list[Array]]  # outlines (7, 3) of both faces, at the start and at the end
    bodies: list[tuple[Array, tuple[float, ...]]]  # faces (n, 4, 3) and colour

    def bounds(self, *more: Array) -> tuple[Array, Array]:
        """Return the corners (3,), (3,) of a box around the run and more points."""
        points = np.vstack([np.zeros(3), self.path, *self.postures, *self.bolts, *more])
        return points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN


def draw_run(
    file: Path,
    model: RobotModel,
    scene: Scene,
    joints: Sequence[Array],
    nut_end: Array | None = None,
    title: str = "",
) -> Path:
    """Save a picture of a run; return the file, whose suffix selects the format.

    Joint positions are (n,) [rad or m], evenly sampled; nut_end is base_link <- nut (4, 4) [m].
    """
    from matplotlib.figure import Figure

    run = _run(model, scene, joints, nut_end)
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
    write_bytes(figure_file(figure, file.suffix.removeprefix(".") or "png", dpi=120), file)
    return file


def _run(model: RobotModel, scene: Scene, joints: Sequence[Array], nut_end: Array | None) -> _Run:
    chain = Chain.from_model(model)
    path = np.array([chain.fk(q)[:3, 3] for q in joints]).reshape(-1, 3)
    nut = scene.nut
    places = [] if nut is None else [scene.nut_start()]
    places += [] if nut_end is None else [nut_end]
    skeletons = []
    if len(path):
        near = [int(np.argmin(np.linalg.norm(path - T[:3, 3], axis=1))) for T in places]
        skeletons = [chain.link_poses(joints[i]).values() for i in (0, *near)]
    return _Run(
        path * 1e3,
        [np.array([T[:3, 3] for T in poses]) * 1e3 for poses in skeletons],
        [
            np.array([[0, 0, 0, 1], [0, 0, bolt.length, 1]]) @ bolt.pose[:3].T * 1e3
            for bolt in scene.bolts.values()
        ],
        [_nut_faces(nut, T) for T in places if nut is not None],
        [
            (Solid(part.kind, part.size, obj.pose @ part.pose).faces() * 1e3, part.color)
            for obj in scene.objects.values()
            for part in obj.parts
        ],
    )


def _nut_faces(nut: Nut, T: Array) -> list[Array]:
    around = np.linspace(0.0, 2.0 * np.pi, 7) + np.pi / 6.0
    radius = nut.across_flats / np.sqrt(3.0)
    x, y = radius * np.cos(around), radius * np.sin(around)
    heights = (-nut.thickness / 2.0, nut.thickness / 2.0)
    return [np.column_stack([x, y, np.full(7, z), np.ones(7)]) @ T[:3].T * 1e3 for z in heights]


def _draw_space(axes: Any, run: _Run) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes.computed_zorder = False  # draw lines above faces, so that the arm is not hidden
    for faces, (*rgb, opacity) in run.bodies:
        colour = (*rgb, min(opacity, 0.35))
        axes.add_collection3d(Poly3DCollection(faces, facecolors=colour, shade=True, zorder=1))
    _draw_lines(axes, run, [0, 1, 2])
    low, high = run.bounds(*(faces.reshape(-1, 3) for faces, _ in run.bodies))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=1.15)
    axes.view_init(elev=22, azim=-122)
    axes.set_axis_off()


def _draw_side(axes: Any, run: _Run, columns: list[int]) -> None:
    """Draw the orthographic view along the axis that is not in columns."""
    from scipy.spatial import ConvexHull

    for faces, colour in run.bodies:
        points = faces.reshape(-1, 3)[:, columns]
        outline = points[ConvexHull(points).vertices]
        axes.fill(*outline.T, alpha=0.5, zorder=0, facecolor=colour, edgecolor="#00000033")
    _draw_lines(axes, run, columns)
    low, high = (corner[columns] for corner in run.bounds())
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.set_aspect("equal", adjustable="box")
    axes.grid(color="#00000018")


def _draw_lines(axes: Any, run: _Run, columns: list[int]) -> None:
    """Draw bolts, arm, path and nut, in 2D or 3D according to the columns of x, y, z."""

    def plot(points: Array, *style: str, **more: Any) -> None:
        axes.plot(*points[:, columns].T, *style, **more)

    for bolt in run.bolts:
        plot(bolt, color=_BOLT_COLOUR, linewidth=4, solid_capstyle="butt")
    for points, (colour, name) in zip(run.postures, _POSTURES, strict=False):
        plot(points, "-o", color=colour, linewidth=3, markersize=5, label=name)
    if len(run.path):
        plot(run.path, color=_PATH_COLOUR, linewidth=1.2, label="path of the tool")
    for faces, (colour, name) in zip(run.nuts, _NUTS, strict=False):
        for face, label in zip(faces, (name, None), strict=True):
            plot(face, color=colour, linewidth=2, label=label, zorder=5)
