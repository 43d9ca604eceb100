# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is drawn beside the arm itself: ground, scale bar, frames, labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..model import RobotModel
from ..transforms import Matrix, Vector
from .scene import Posed
from .sheet import MARGIN, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.19  # from label to label [inch]
AXIS = 0.55  # length of a frame's axes [inch]
AXIS_COLOURS = ("#d62728", "#2ca02c", "#1f5fd0")  # x, y, z as REP 103 and RViz show them
INK, GRID = "#30363d", "#eef0f2"


def grid(axes: Axes, sheet: Sheet) -> None:
    """Lines on the ground under the arm and its shadow, a step apart."""
    low, high = sheet.field
    for k in (0, 1):
        for at in np.arange(low[k], high[k] + sheet.step / 2, sheet.step):
            ends = np.zeros((2, 3))
            ends[:, k], ends[:, 1 - k] = at, (low[1 - k], high[1 - k])
            line = np.array([sheet.place(end) for end in ends])
            axes.plot(line[:, 0], line[:, 1], color=GRID, linewidth=0.8, zorder=0)


def scale_bar(axes: Axes, sheet: Sheet) -> None:
    """A bar as long as a step of the grid, with its length."""
    step = sheet.step
    left, y = MARGIN / 2, 0.22
    right = left + step * sheet.scale
    ends = ((left, y + 0.04), (left, y - 0.04), (left, y), (right, y))
    bar = np.array((*ends, (right, y - 0.04), (right, y + 0.04)))
    axes.plot(bar[:, 0], bar[:, 1], color=INK, linewidth=1.0)
    text = f"{step:g} m" if step >= 1.0 else f"{step * 1000:g} mm"
    axes.text(right + 0.08, y, text, color=INK, va="center")


def frame(axes: Axes, sheet: Sheet, T: Matrix, name: str = "", letters: bool = False) -> None:
    """Three arrows; one that points at the eye is a dot."""
    start = sheet.place(T[:3, 3])
    for k in np.argsort(sheet.view[2] @ T[:3, :3]):
        arrow = sheet.view[:2] @ T[:3, k] * AXIS
        end = start + arrow
        axes.annotate(
            "",
            xy=(end[0], end[1]),
            xytext=(start[0], start[1]),
            arrowprops={
                "arrowstyle": "-|>,head_width=0.14,head_length=0.3",
                "color": AXIS_COLOURS[k],
                "linewidth": 1.5,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        if letters and np.hypot(*arrow) > 0.2:
            word(axes, start + arrow * 1.22, "xyz"[k], AXIS_COLOURS[k])
    axes.plot(*start, "o", color="white", markeredgecolor=INK, markersize=3.5)
    if name:
        word(axes, start - 0.13, name)


def numbered(frames: Sequence[Matrix], sheet: Sheet) -> Iterator[tuple[str, Matrix]]:
    """Frames with their numbers; those at one place are numbered together."""
    places = [tuple(np.round(sheet.place(T[:3, 3]), 1)) for T in frames]
    for number, T in enumerate(frames):
        here = [str(other) for other, at in enumerate(places) if at == places[number]]
        yield ", ".join(here) if here[-1] == str(number) else "", T


def word(axes: Axes, at: ArrayLike, text: str, colour: str = INK) -> None:
    """Text about a place (2,) [inch], with a white rim, to be read over anything."""
    from matplotlib.patheffects import withStroke

    rim = [withStroke(linewidth=2.2, foreground="white")]
    x, y = np.asarray(at, dtype=float).tolist()
    axes.text(x, y, text, color=colour, ha="center", va="center", path_effects=rim)


def labels(
    axes: Axes, sheet: Sheet, arm: Posed, model: RobotModel, values: Mapping[str, float]
) -> None:
    """Names in a column, in the order of height, each with a line to its joint."""
    targets = {}
    for joint in model.joints:
        at = sheet.place(arm.place(joint.name, model.colours.joints))
        unit = "deg" if joint.type == "revolute" else "mm"
        value = values[joint.name]
        number = math.degrees(value) if joint.type == "revolute" else value * 1000
        targets[f"{joint.name}  {round(number, 1) + 0.0:g} {unit}".replace(" deg", "°")] = at
    column = sheet.size[0] + 0.1
    for (text, at), y in zip(*_spread(targets, sheet.size[1]), strict=True):
        axes.plot((at[0], column - 0.25, column - 0.06), (at[1], y, y), color=INK, linewidth=0.6)
        axes.plot(*at, "o", color=INK, markersize=2.2)
        axes.text(column, y, text, color=INK, va="center")


def _spread(
    targets: Mapping[str, Vector], height: float
) -> tuple[list[tuple[str, Vector]], list[float]]:
    """Labels from the top down, and heights for them that leave a line for each."""
    ordered = sorted(targets.items(), key=lambda pair: -float(pair[1][1]))
    heights: list[float] = []
    for _, at in ordered:
        heights.append(min(float(at[1]), heights[-1] - LINE if heights else height - LINE))
    shift = max(0.0, LINE - heights[-1])
    lifted = [min(y + shift, height - LINE * (i + 1)) for i, y in enumerate(heights)]
    return ordered, list(_from_below(lifted))


def _from_below(heights: list[float]) -> Iterator[float]:
    """The same heights, pushed up where shifting brought two together."""
    count = len(heights)
    for i, y in enumerate(heights):
        yield max(y, LINE * (count - i))
