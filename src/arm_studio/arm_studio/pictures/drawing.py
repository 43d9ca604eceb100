# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/commands/test_draw.py
"""Draw an arm in a posture: its links and, optionally, frames and joint names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Matrix, Vector
from arm_common.yaml.colours import rgba
from arm_description.model.elements import NO_MOTION
from arm_description.model.units import SHOWN
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import BASE, FLANGE, PALM, PAYLOAD, assemble, dh_frames
from arm_description.urdf.elements import UrdfParts
from arm_description.urdf.joint_frames import JointFrames
from arm_description.urdf.kinematics import joint_pose, link_poses

from arm_studio.pictures.canvas import DARK, VIEWS, Canvas, draw_canvas, draw_text, parallel_canvas
from arm_studio.pictures.solids import Solid, solid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.19  # distance of labels [inch]
_AXIS = 0.55  # length of a frame's axes [inch]
_AXIS_COLOURS = ("#d62728", "#2ca02c", "#1f5fd0")  # x, y, z as in RViz
_LABEL_WIDTH = 1.9
_GHOST, _GHOST_OPACITY = (0.45, 0.55, 0.75), 0.35


@dataclass(frozen=True)
class Style:
    """View and annotations of a picture."""

    view: str = "iso"  # one of VIEWS
    frames: bool = False  # axes of the link frames
    dh_frames: bool = False  # axes and numbers of the DH frames
    labels: bool = False  # names and positions of the joints
    # joints that a second, pale arm has elsewhere [rad or m]; empty for none
    ghost: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PosedArm:
    """An arm in a posture."""

    parts: UrdfParts  # its links and joints
    poses: Mapping[str, Matrix]  # base_link <- link (4, 4) by name
    dh: tuple[Matrix, ...]  # base_link <- DH frame (4, 4), from 0

    @property
    def frames(self) -> dict[str, Matrix]:
        """Poses of the frames to draw: base, joints and tool."""
        fingers = (joint.child for joint in self.parts.joints if joint.parent == PALM)
        hidden = {FLANGE, PALM, PAYLOAD, *fingers}
        return {name: T for name, T in self.poses.items() if name not in hidden}

    @property
    def solids(self) -> tuple[Solid, ...]:
        """Shapes of all visible links in base_link; skeletons in place of meshes."""
        return tuple(
            solid(s.kind, s.size, self.poses[link.name] @ s.origin.matrix, rgba(s.colour))
            for link in self.parts.links
            if link.visible or link.look is not None
            for s in (link.shapes if link.look is None else link.look)
        )

    def joint_position(self, name: str, colour: str) -> Vector:
        """Return the position of a joint's body, (3,) in base_link [m].

        The body is the first shape of the link in the joints' colour; a prismatic joint has its
        guide on the parent link.
        """
        joint = next(joint for joint in self.parts.joints if joint.name == name)
        link = next(link for link in self.parts.links if link.name == joint.child)
        bodies = [shape.origin for shape in link.shapes if shape.colour == colour]
        T = self.poses[link.name] @ (*bodies, NO_MOTION)[0].matrix
        if joint.kind == "prismatic":
            T = self.poses[joint.parent] @ joint.origin.matrix
        return np.asarray(T[:3, 3])


def posed(model: RobotModel, values: Mapping[str, float]) -> PosedArm:
    """Return an arm at joint positions [rad or m] by name; "gripper" is a width [m]."""
    frames = JointFrames(model)
    parts = assemble(model, "", frames)
    positions = dict(values)
    if model.gripper:
        width = positions.pop("gripper", model.gripper.min_width)
        positions |= model.gripper.positions(width)
    poses = link_poses(BASE, parts.joints, positions)
    fixed = dh_frames(model, "", frames).joints
    return PosedArm(parts, poses, tuple(poses[j.parent] @ joint_pose(j) for j in fixed))


def picture(
    model: RobotModel, values: Mapping[str, float], title: str, style: Style, kind: str
) -> bytes:
    """Draw an arm and return the contents of a file; SVG and PDF hold vectors and text only.

    Args:
        model: the arm.
        values: position of each joint [rad or m], and "gripper": a width [m].
        title: title of the picture.
        style: view and annotations.
        kind: one of figure.FORMATS.
    """
    arm = posed(model, values)
    pale = posed(model, {**values, **style.ghost}).solids if style.ghost else ()
    ghost = (replace(s, colour=_GHOST, opacity=_GHOST_OPACITY * s.opacity) for s in pale)
    canvas = parallel_canvas((*arm.solids, *ghost), VIEWS[style.view])

    def annotate(axes: Axes) -> None:
        if style.frames:
            for name, T in arm.frames.items():
                _frame(axes, canvas, T, letters=name == "base_link")
        if style.dh_frames:
            for name, T in _numbered(arm.dh, canvas):
                _frame(axes, canvas, T, name)
        if style.labels:
            _labels(axes, canvas, arm, model, values)

    return draw_canvas(canvas, title, kind, annotate, _LABEL_WIDTH if style.labels else 0.0)


def _frame(axes: Axes, canvas: Canvas, T: Matrix, name: str = "", letters: bool = False) -> None:
    """Draw the axes of a frame; one along the view direction is a dot."""
    start = canvas.project(T[:3, 3])
    view = canvas.projection.axes
    for k in np.argsort(view[2] @ T[:3, :3]):
        arrow = view[:2] @ T[:3, k] * _AXIS
        end = start + arrow
        axes.annotate(
            "",
            xy=(end[0], end[1]),
            xytext=(start[0], start[1]),
            arrowprops={
                "arrowstyle": "-|>,head_width=0.14,head_length=0.3",
                "color": _AXIS_COLOURS[k],
                "linewidth": 1.5,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        if letters and np.hypot(*arrow) > 0.2:
            draw_text(axes, start + arrow * 1.22, "xyz"[k], _AXIS_COLOURS[k])
    axes.plot(*start, "o", color="white", markeredgecolor=DARK, markersize=3.5)
    if name:
        draw_text(axes, start - 0.13, name)


def _numbered(frames: Sequence[Matrix], canvas: Canvas) -> Iterator[tuple[str, Matrix]]:
    """Yield frames with their numbers; coincident frames share one label."""
    places = [tuple(np.round(canvas.project(T[:3, 3]), 1)) for T in frames]
    for number, T in enumerate(frames):
        same = [str(other) for other, at in enumerate(places) if at == places[number]]
        yield ", ".join(same) if same[-1] == str(number) else "", T


def _labels(
    axes: Axes, canvas: Canvas, arm: PosedArm, model: RobotModel, values: Mapping[str, float]
) -> None:
    """Write the joint names in a column sorted by height, each with a line to its joint."""
    targets = {}
    for joint in model.joints:
        at = canvas.project(arm.joint_position(joint.name, model.colours.joints))
        number = SHOWN.number(values[joint.name], joint.type, decimals=1)
        unit = "°" if joint.type == "revolute" else " mm"
        targets[f"{joint.name}  {number}{unit}"] = at
    column = canvas.size[0] + 0.1
    for (text, at), y in zip(*spread_labels(targets, canvas.size[1]), strict=True):
        axes.plot((at[0], column - 0.25, column - 0.06), (at[1], y, y), color=DARK, linewidth=0.6)
        axes.plot(*at, "o", color=DARK, markersize=2.2)
        axes.text(column, y, text, color=DARK, va="center")


def spread_labels(
    targets: Mapping[str, Vector], height: float
) -> tuple[list[tuple[str, Vector]], list[float]]:
    """Return the labels from top to bottom, and heights that keep them a line apart."""
    ordered = sorted(targets.items(), key=lambda pair: -float(pair[1][1]))
    heights: list[float] = []
    for _, at in ordered:
        heights.append(min(float(at[1]), heights[-1] - LINE if heights else height - LINE))
    shift = max(0.0, LINE - heights[-1])
    lifted = [min(y + shift, height - LINE * (i + 1)) for i, y in enumerate(heights)]
    # Shifting may have brought two together: push them up again.
    return ordered, [max(y, LINE * (len(lifted) - i)) for i, y in enumerate(lifted)]
