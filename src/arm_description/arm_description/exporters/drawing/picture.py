# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The picture on paper: matplotlib draws what the scene gives, in inches.

What is drawn beside the arm itself: ground, scale bar, frames, labels.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import Matrix, Vector
from numpy.typing import ArrayLike

from arm_description.exporters.drawing.scene import Posed, posed
from arm_description.exporters.drawing.sheet import MARGIN, VIEWS, Sheet, Style
from arm_description.robot_model import RobotModel

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


FORMATS = ("svg", "pdf", "png")
LABEL_WIDTH = 1.9
SHADE = "#e3e6ea"
FROM_ABOVE = 0.1  # sine of the elevation from which the ground is drawn as a plane
SEAM, POINTS = 0.35, 72.0  # [pt] of a line that closes the seams; of an inch
# One file for one robot: no date and no random names in it.
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "arm",
    "pdf.fonttype": 42,
    "font.size": 9,
    "text.parse_math": False,
}
_DATELESS: Mapping[str, Mapping[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}


def picture(
    model: RobotModel, values: Mapping[str, float], title: str, style: Style, kind: str
) -> bytes:
    """Draw an arm.

    Args:
        model: the arm.
        values: position of each joint [rad or m], and "gripper": a width [m].
        title: written above it.
        style: view and what is shown.
        kind: one of FORMATS.

    Returns:
        Contents of the file; SVG and PDF hold vectors and text only.
    """
    arm = posed(model, values)
    sheet = Sheet(arm.solids, VIEWS[style.view])

    def marks(axes: Axes) -> None:
        if style.frames:
            for name, T in arm.frames.items():
                frame(axes, sheet, T, letters=name == "base_link")
        if style.dh_frames:
            for name, T in numbered(arm.dh, sheet):
                frame(axes, sheet, T, name)
        if style.labels:
            labels(axes, sheet, arm, model, values)

    return paper(sheet, title, kind, marks, LABEL_WIDTH if style.labels else 0.0)


def paper(
    sheet: Sheet,
    title: str,
    kind: str,
    marks: Callable[[Axes], None] = lambda axes: None,
    beside: float = 0.0,
    dots: float = 200.0,
) -> bytes:
    """Draw a sheet.

    Args:
        sheet: what is seen, and where.
        title: written above it.
        kind: one of FORMATS.
        marks: draws more on it, in inches.
        beside: width left for that on the right [inch].
        dots: an inch of a PNG.

    Returns:
        Contents of the file.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        width = sheet.size[0] + beside
        figure = Figure(figsize=(width, sheet.size[1]))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(0.0, width)
        axes.set_ylim(0.0, sheet.size[1])
        _ground(axes, sheet)
        _patches(axes, sheet)
        marks(axes)
        axes.text(MARGIN / 2, sheet.size[1] - 0.22, title, color=INK, fontsize=11, va="center")
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=dots, metadata=_DATELESS[kind])
    return file.getvalue()


def _ground(axes: Axes, sheet: Sheet) -> None:
    from matplotlib.collections import PolyCollection

    if sheet.view[2, 2] > FROM_ABOVE:
        grid(axes, sheet)
        flat = [sheet.flat(shadow) for shadow in sheet.shadows]
        axes.add_collection(
            PolyCollection(flat, facecolors=SHADE, edgecolors=SHADE, linewidths=0.4, zorder=0.5)
        )
    else:
        level = sheet.place(np.zeros(3))[1]
        axes.plot((0.2, sheet.size[0] - 0.2), (level, level), color=SHADE, linewidth=1.5)
    scale_bar(axes, sheet)


def _patches(axes: Axes, sheet: Sheet) -> None:
    from matplotlib.collections import PolyCollection

    colours = [tuple(patch.colour) for patch in sheet.patches]
    flat = [sheet.flat(patch.points) for patch in sheet.patches]
    widths = [max(SEAM, POINTS * patch.width * sheet.scale) for patch in sheet.patches]
    axes.add_collection(
        PolyCollection(flat, facecolors=colours, edgecolors=colours, linewidths=widths)
    )
