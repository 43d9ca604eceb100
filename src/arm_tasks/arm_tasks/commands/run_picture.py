# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A picture of a run: the arm in a few postures, the way of its tool, bolts, things, the nut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.transforms import Array

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.scene.objects import Primitive, SceneObject
from arm_tasks.scene.scene import Nut, Scene

_VIEWS = (("from the side", "x", "z"), ("from above", "x", "y"))
_AXES = {"x": 0, "y": 1, "z": 2}
_ARM = ("#90a4ae", "#1e88e5", "#43a047")
_ROUND = 16  # sides of a cylinder
_TRACE, _BOLT, _START, _END = "#fb8c00", "#37474f", "#e53935", "#8e24aa"


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
        file: Where to; its suffix chooses the kind: .png, .svg or .pdf. Folders are made.
        model: The robot.
        scene: What stood around it.
        joints: Joint positions (n,) [rad or m] in the order of the run, evenly sampled.
        nut_end: base_link <- nut (4, 4) at the end [m], or None.
        title: Above the picture.

    Returns:
        The file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    chain = Chain.from_urdf(model.to_urdf())
    path = np.array([chain.fk(q)[:3, 3] for q in joints]).reshape(-1, 3)
    postures = [_skeleton(chain, joints[i]) for i in _postures(path, scene, nut_end)]
    figure = Figure(figsize=(13.0, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.35, 1.0))
    space = figure.add_subplot(grid[:, 0], projection="3d")
    flats = [figure.add_subplot(grid[i, 1]) for i in range(2)]
    _draw_space(space, scene, path, postures, nut_end)
    for axes, (name, across, up) in zip(flats, _VIEWS, strict=True):
        columns = (_AXES[across], _AXES[up])
        _draw_flat(axes, scene, path, postures, nut_end, columns)
        axes.set(title=name, xlabel=f"{across} [mm]", ylabel=f"{up} [mm]")
    figure.suptitle(title)
    handles, names = flats[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncol=len(names), frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    return file


def _skeleton(chain: Chain, q: Array) -> Array:
    """Return the origins (m, 3) of the links, base to tool [m]."""
    return np.array([T[:3, 3] for T in chain.link_poses(q).values()])


def _postures(path: Array, scene: Scene, nut_end: Array | None) -> list[int]:
    """Return which samples to draw the arm at: the first, and where the nut is taken and left."""
    places = [scene.nut_start()] if scene.nut is not None else []
    places += [] if nut_end is None else [nut_end]
    if not len(path):
        return []
    nearest = [int(np.argmin(np.linalg.norm(path - T[:3, 3], axis=1))) for T in places]
    return [0, *nearest]


def _draw_space(
    axes: Any, scene: Scene, path: Array, postures: Sequence[Array], nut_end: Array | None
) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes.computed_zorder = False  # lines above faces: nothing of the arm is hidden
    parts = [(thing, part) for thing in scene.things.values() for part in thing.parts]
    for thing, part in parts:
        faces = [_mm(face) for face in _faces(thing, part)]
        red, green, blue, opacity = part.color
        color = (red, green, blue, min(opacity, 0.35))
        axes.add_collection3d(
            Poly3DCollection(faces, facecolor=color, edgecolor="#00000022", zorder=1)
        )
    _draw_lines(axes, scene, path, postures, nut_end, (0, 1, 2))
    low, high = _bounds(_seen(scene, path, postures) + [_corners(*both) for both in parts])
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=1.15)
    axes.view_init(elev=22, azim=-122)
    axes.set_axis_off()


def _draw_flat(
    axes: Any,
    scene: Scene,
    path: Array,
    postures: Sequence[Array],
    nut_end: Array | None,
    columns: tuple[int, int],
) -> None:
    for thing in scene.things.values():
        for part in thing.parts:
            outline = _outline(_mm(_corners(thing, part))[:, columns])
            face = {"facecolor": part.color, "edgecolor": "#00000033"}
            axes.fill(*outline.T, alpha=0.5, zorder=0, **face)
    _draw_lines(axes, scene, path, postures, nut_end, columns)
    low, high = _bounds(_seen(scene, path, postures))
    across, up = columns
    axes.set(xlim=(low[across], high[across]), ylim=(low[up], high[up]))
    axes.set_aspect("equal", adjustable="box")
    axes.grid(color="#00000018")


def _draw_lines(
    axes: Any,
    scene: Scene,
    path: Array,
    postures: Sequence[Array],
    nut_end: Array | None,
    columns: tuple[int, ...],
) -> None:
    """Draw what is lines, in 2D or 3D by the columns of x, y, z that are taken."""
    for bolt in scene.bolts.values():
        ends = np.array([bolt.pose[:3, 3], bolt.pose[:3, 3] + bolt.length * bolt.pose[:3, 2]])
        axes.plot(*_mm(ends)[:, columns].T, color=_BOLT, linewidth=4, solid_capstyle="butt")
    names = ("arm at the start", "arm at the nut", "arm at the end of screwing")
    for points, color, name in zip(postures, _ARM, names, strict=False):
        at = _mm(points)[:, columns].T
        axes.plot(*at, "-o", color=color, linewidth=3, markersize=5, label=name)
    if len(path):
        axes.plot(*_mm(path)[:, columns].T, color=_TRACE, linewidth=1.2, label="way of the tool")
    if scene.nut is not None:
        _draw_nut(axes, scene.nut, scene.nut_start(), columns, _START, "nut at the start")
        if nut_end is not None:
            _draw_nut(axes, scene.nut, nut_end, columns, _END, "nut at the end")


def _draw_nut(
    axes: Any, nut: Nut, T: Array, columns: tuple[int, ...], color: str, name: str
) -> None:
    """Draw both faces of the hexagon and its edges."""
    around = np.linspace(0.0, 2.0 * np.pi, 7) + np.pi / 6.0
    radius = nut.across_flats / np.sqrt(3.0)
    x, y = radius * np.cos(around), radius * np.sin(around)
    for i, z in enumerate((-nut.thickness / 2.0, nut.thickness / 2.0)):
        face = np.column_stack([x, y, np.full(7, z)]) @ T[:3, :3].T + T[:3, 3]
        label = name if i == 0 else None
        axes.plot(*_mm(face)[:, columns].T, color=color, linewidth=2, label=label, zorder=5)


def _corners(thing: SceneObject, part: Primitive) -> Array:
    """Return the corners (2 m, 3) of a box, or of a prism for a cylinder, face by face [m]."""
    x, y, z = part.size if part.kind == "box" else (1.0, 1.0, part.size[1])
    around = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    if part.kind == "cylinder":
        angles = np.arange(_ROUND) * (2.0 * np.pi / _ROUND)
        around = part.size[0] * np.column_stack([np.cos(angles), np.sin(angles)])
    rings = [np.column_stack([around * (x, y), np.full(len(around), h * z)]) for h in (-0.5, 0.5)]
    T = thing.pose @ part.pose
    return np.asarray(np.concatenate(rings) @ T[:3, :3].T + T[:3, 3])


def _faces(thing: SceneObject, part: Primitive) -> list[Array]:
    """Return the faces of a box or a prism, each (k, 3) [m]."""
    corners = _corners(thing, part)
    low, high = np.split(corners, 2)
    sides = [np.array([low[i - 1], low[i], high[i], high[i - 1]]) for i in range(len(low))]
    return [low, high, *sides]


def _outline(points: Array) -> Array:
    """Return the convex hull (m, 2) of points (n, 2), by the monotone chain (Andrew 1979)."""
    ordered = sorted({(float(x), float(y)) for x, y in np.round(points, 6)})

    def half(row: list[tuple[float, float]]) -> list[tuple[float, float]]:
        hull: list[tuple[float, float]] = []
        for p in row:
            while len(hull) > 1 and _turns_right(hull[-2], hull[-1], p):
                hull.pop()
            hull.append(p)
        return hull[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _turns_right(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0.0


def _seen(scene: Scene, path: Array, postures: Sequence[Array]) -> list[Array]:
    """Return the points (m, 3) that must be in the picture [m]."""
    ends = [bolt.pose @ [0.0, 0.0, bolt.length, 1.0] for bolt in scene.bolts.values()]
    return [np.zeros((1, 3)), path, *postures, *(end[None, :3] for end in ends)]


def _bounds(groups: Sequence[Array]) -> tuple[Array, Array]:
    """Return the corners (3,), (3,) of a box around all points, with a margin [mm]."""
    points = _mm(np.concatenate([group for group in groups if len(group)]))
    return points.min(axis=0) - 20.0, points.max(axis=0) + 20.0


def _mm(points: Array) -> Array:
    return points * 1e3
