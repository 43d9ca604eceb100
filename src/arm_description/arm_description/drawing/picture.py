# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The picture on paper: matplotlib draws what the scene gives, in inches."""

from __future__ import annotations

import io
from collections.abc import Mapping
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
    import matplotlib as mpl
    from matplotlib.figure import Figure

    arm, view = posed(model, values), VIEWS[style.view]
    sheet = Sheet(arm, view)
    with mpl.rc_context(_SETTINGS):
        width = sheet.size[0] + (LABEL_WIDTH if style.labels else 0.0)
        figure = Figure(figsize=(width, sheet.size[1]))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(0.0, width)
        axes.set_ylim(0.0, sheet.size[1])
        _ground(axes, sheet, style.view)
        _arm(axes, sheet)
        if style.frames:
            for name, T in arm.frames.items():
                frame(axes, sheet, T, letters=name == "base_link")
        if style.dh_frames:
            for name, T in numbered(arm.dh, sheet):
                frame(axes, sheet, T, name)
        if style.labels:
            labels(axes, sheet, arm, model, values)
        axes.text(MARGIN / 2, sheet.size[1] - 0.22, title, color=INK, fontsize=11, va="center")
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=200, metadata=_DATELESS[kind])
    return file.getvalue()


def _ground(axes: Axes, sheet: Sheet, view: str) -> None:
    from matplotlib.collections import PolyCollection

    if view in ("iso", "top"):
        grid(axes, sheet)
        flat = [sheet.flat(shadow) for shadow in sheet.shadows]
        axes.add_collection(
            PolyCollection(flat, facecolors=SHADE, edgecolors=SHADE, linewidths=0.4, zorder=0.5)
        )
    else:
        level = sheet.place(np.zeros(3))[1]
        axes.plot((0.2, sheet.size[0] - 0.2), (level, level), color=SHADE, linewidth=1.5)
    scale_bar(axes, sheet)


def _arm(axes: Axes, sheet: Sheet) -> None:
    from matplotlib.collections import PolyCollection

    colours = [tuple(patch.colour) for patch in sheet.patches]
    flat = [sheet.flat(patch.points) for patch in sheet.patches]
    axes.add_collection(
        PolyCollection(flat, facecolors=colours, edgecolors=colours, linewidths=0.35)
    )
