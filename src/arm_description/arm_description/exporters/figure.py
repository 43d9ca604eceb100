# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files of matplotlib figures, the same at each run: without dates and random names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")
_NO_DATES: Mapping[str, Mapping[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def save_figure(
    figure: Figure, file: Path | IO[bytes], kind: str, dpi: float | Literal["figure"] = "figure"
) -> None:
    """Write a figure in a format of matplotlib, such as one of FORMATS."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "arm"}):
        figure.savefig(file, format=kind, dpi=dpi, metadata=_NO_DATES.get(kind))
