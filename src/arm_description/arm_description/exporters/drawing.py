# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draw a posed arm: its links, and on demand its frames and the names of its joints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Matrix, Vector

from arm_description.exporters.paper import INK, VIEWS, Sheet, paper, word
from arm_description.exporters.solids import Solid
from arm_description.model.elements import NO_MOTION, rgb
from arm_description.model.units import Units
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import BASE, FLANGE, PALM, PAYLOAD, assemble, dh_frames
from arm_description.urdf.elements import UrdfParts
from arm_description.urdf.kinematics import joint_pose, link_poses

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.19  # from label to label [inch]
_AXIS = 0.55  # length of a frame's axes [inch]
_AXIS_COLOURS = ("#d62728", "#2ca02c", "#1f5fd0")  # x, y, z as REP 103 and RViz show them
_LABEL_WIDTH = 1.9
_SHOWN = Units("mm", "deg")


@dataclass(frozen=True)
class Style:
    """What is shown."""

    view: str = "iso"  # one of VIEWS
    frames: bool = False  # axes of every link frame
    dh_frames: bool = False  # axes of the frames of the table, with their numbers
    labels: bool = False  # names and positions of the joints


@dataclass(frozen=True)
class PosedArm:
    """An arm in a posture."""

    parts: UrdfParts  # its links and joints
    poses: Mapping[str, Matrix]  # (4, 4) base_link <- link, by name
    dh: tuple[Matrix, ...]  # (4, 4) base_link <- frame of the table, from 0

    @property
    def frames(self) -> dict[str, Matrix]:
        """Frames worth showing: the base, every joint and the tool."""
        fingers = (joint.child for joint in self.parts.joints if joint.parent == PALM)
        hidden = {FLANGE, PALM, PAYLOAD, *fingers}
        return {name: T for name, T in self.poses.items() if name not in hidden}

    @property
    def solids(self) -> tuple[Solid, ...]:
        """The shapes of all links that are drawn, where they are; of a mesh, its skeleton."""
        return tuple(
            Solid(s.kind, s.size, self.poses[link.name] @ s.origin.matrix, rgb(s.colour))
            for link in self.parts.links
            if link.seen
            for s in link.shapes
        )

    def place(self, name: str, colour: str) -> Vector:
        """Where a joint's body is, (3,) in base_link [m].

        It is the first shape of the link in the joints' colour; of a joint that slides it is on
        the link before, where the joint begins.
        """
        joint = next(joint for joint in self.parts.joints if joint.name == name)
        link = next(link for link in self.parts.links if link.name == joint.child)
        bodies = [shape.origin for shape in link.shapes if shape.colour == colour]
        T = self.poses[link.name] @ (*bodies, NO_MOTION)[0].matrix
        if joint.kind == "prismatic":
            T = self.poses[joint.parent] @ joint.origin.matrix
        return np.asarray(T[:3, 3])


def posed(model: RobotModel, values: Mapping[str, float]) -> PosedArm:
    """Place every link: joint positions [rad or m] by name, and "gripper": a width [m]."""
    parts = assemble(model, "")
    positions = dict(values)
    if model.gripper:
        width = positions.pop("gripper", model.gripper.min_width)
        positions |= dict.fromkeys(model.gripper.joints, width / 2)
    poses = link_poses(BASE, parts.joints, positions)
    dh = tuple(poses[joint.parent] @ joint_pose(joint) for joint in dh_frames(model, "").joints)
    return PosedArm(parts, poses, dh)


def picture(
    model: RobotModel, values: Mapping[str, float], title: str, style: Style, kind: str
) -> bytes:
    """Draw an arm as the contents of a file; SVG and PDF hold vectors and text only.

    Args:
        model: the arm.
        values: position of each joint [rad or m], and "gripper": a width [m].
        title: written above it.
        style: view and what is shown.
        kind: one of paper.FORMATS.
    """
    arm = posed(model, values)
    sheet = Sheet(arm.solids, VIEWS[style.view])

    def marks(axes: Axes) -> None:
        if style.frames:
            for name, T in arm.frames.items():
                _frame(axes, sheet, T, letters=name == "base_link")
        if style.dh_frames:
            for name, T in _numbered(arm.dh, sheet):
                _frame(axes, sheet, T, name)
        if style.labels:
            _labels(axes, sheet, arm, model, values)

    return paper(sheet, title, kind, marks, _LABEL_WIDTH if style.labels else 0.0)


def _frame(axes: Axes, sheet: Sheet, T: Matrix, name: str = "", letters: bool = False) -> None:
    """Draw three arrows; one that points at the eye is a dot."""
    start = sheet.place(T[:3, 3])
    for k in np.argsort(sheet.view[2] @ T[:3, :3]):
        arrow = sheet.view[:2] @ T[:3, k] * _AXIS
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
            word(axes, start + arrow * 1.22, "xyz"[k], _AXIS_COLOURS[k])
    axes.plot(*start, "o", color="white", markeredgecolor=INK, markersize=3.5)
    if name:
        word(axes, start - 0.13, name)


def _numbered(frames: Sequence[Matrix], sheet: Sheet) -> Iterator[tuple[str, Matrix]]:
    """Yield frames with their numbers; those at one place are numbered together."""
    places = [tuple(np.round(sheet.place(T[:3, 3]), 1)) for T in frames]
    for number, T in enumerate(frames):
        here = [str(other) for other, at in enumerate(places) if at == places[number]]
        yield ", ".join(here) if here[-1] == str(number) else "", T


def _labels(
    axes: Axes, sheet: Sheet, arm: PosedArm, model: RobotModel, values: Mapping[str, float]
) -> None:
    """Write the names in a column, in the order of height, each with a line to its joint."""
    targets = {}
    for joint in model.joints:
        at = sheet.place(arm.place(joint.name, model.colours.joints))
        number = round(_SHOWN.written(values[joint.name], joint.type), 1) + 0.0
        unit = "°" if joint.type == "revolute" else " mm"
        targets[f"{joint.name}  {number:g}{unit}"] = at
    column = sheet.size[0] + 0.1
    for (text, at), y in zip(*spread(targets, sheet.size[1]), strict=True):
        axes.plot((at[0], column - 0.25, column - 0.06), (at[1], y, y), color=INK, linewidth=0.6)
        axes.plot(*at, "o", color=INK, markersize=2.2)
        axes.text(column, y, text, color=INK, va="center")


def spread(
    targets: Mapping[str, Vector], height: float
) -> tuple[list[tuple[str, Vector]], list[float]]:
    """Return the labels from the top down, and heights that leave a line for each."""
    ordered = sorted(targets.items(), key=lambda pair: -float(pair[1][1]))
    heights: list[float] = []
    for _, at in ordered:
        heights.append(min(float(at[1]), heights[-1] - LINE if heights else height - LINE))
    shift = max(0.0, LINE - heights[-1])
    lifted = [min(y + shift, height - LINE * (i + 1)) for i, y in enumerate(heights)]
    # Pushed up again where shifting brought two together.
    return ordered, [max(y, LINE * (len(lifted) - i)) for i, y in enumerate(lifted)]
