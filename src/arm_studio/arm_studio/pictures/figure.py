# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/pictures/test_run_picture.py
"""Files of matplotlib figures, the same at each run: without dates and random names."""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arm_common.files.saving import write_bytes
from arm_kinematics.errors import KinematicsError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png", "eps", "ps")
_NO_DATES: Mapping[str, Mapping[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
_POSTSCRIPT_DATE = re.compile(rb"^%%CreationDate: .*\n", re.MULTILINE)


def figure_file(figure: Figure, kind: str, dpi: float | Literal["figure"] = "figure") -> bytes:
    """Return a figure in a format of matplotlib, such as one of FORMATS, without dates."""
    import matplotlib as mpl

    # An EPS file is as large as the figure; without this, PS files are cut at a sheet of paper.
    with mpl.rc_context({"svg.hashsalt": "arm", "ps.papersize": "figure"}):
        content = io.BytesIO()
        figure.savefig(content, format=kind, dpi=dpi, metadata=_NO_DATES.get(kind))
    data = content.getvalue()
    return _POSTSCRIPT_DATE.sub(b"", data) if kind in ("eps", "ps") else data


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add ``--plot``, for `save_figure`."""
    text = "picture to write: .svg, .pdf, .png, .eps or .ps"
    parser.add_argument("--plot", default="", metavar="FILE", help=text)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure into a file.

    Raises:
        KinematicsError: The ending of its name is not one of FORMATS.
        InputError: It cannot be written.
    """
    kind = path.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise KinematicsError(
            f"'{path.name}' has no picture format; end the name in .{', .'.join(FORMATS)}",
            what="plot",
        )
    write_bytes(figure_file(figure, kind), path)
