# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The picture on paper: matplotlib draws what the scene gives, in inches."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import RobotModel
from .marks import INK, frame, grid, labels, numbered, scale_bar
from .scene import posed
from .sheet import MARGIN, Sheet
from .style import VIEWS, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
