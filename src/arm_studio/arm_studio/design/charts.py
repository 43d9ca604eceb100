# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a designed arm and of a workspace slice (the only module that loads matplotlib)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arm_common.files.saving import write_bytes
from arm_kinematics.dexterity.workspace import SliceMap
from arm_kinematics.errors import KinematicsError
from matplotlib.figure import Figure

from arm_studio.design.design import Design
from arm_studio.pictures.figure import FORMATS, figure_file

_AXIS = 0.35  # half the length at which an axis is drawn, in characteristic lengths


def draw_design(design: Design, path: Path) -> None:
    """Draw the condition number over the steps, and the axes at the design posture.

    Raises:
        KinematicsError: The file name has no picture format, or the file cannot be written.
    """
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    steps = figure.add_subplot(1, 2, 1)
    steps.semilogy(range(1, len(design.history) + 1), design.history, color="#1e88e5")
    steps.axhline(1.0, color="#90a4ae", linewidth=0.8)
    steps.set(xlabel="step", ylabel="condition number", title="Convergence")
    space = figure.add_subplot(1, 2, 2, projection="3d")
    points = design.r[0] - design.r
    links = np.vstack([points, design.r[0]])
    space.plot(*links.T, color="#607d8b", linewidth=2.0)
    for number, (point, axis) in enumerate(zip(points, design.e, strict=True), 1):
        space.plot(*np.column_stack([point - _AXIS * axis, point + _AXIS * axis]), color="#f4511e")
        space.text(*(point + _AXIS * axis), str(number))
    space.scatter(*design.r[0], color="#43a047", label="tool point")
    space.set(title=f"Axes at condition {design.condition:.4f} (lengths in L)", aspect="equal")
    space.legend()
    _save(figure, path)


def draw_slice(found: SliceMap, names: tuple[str, str], title: str, path: Path) -> None:
    """Draw a slice: colour is isotropy, white is out of reach.

    Raises:
        KinematicsError: The file name has no picture format, or the file cannot be written.
    """
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(
        found.isotropy, origin="lower", extent=found.extent, vmin=0.0, vmax=1.0, cmap="viridis"
    )
    figure.colorbar(image, label="isotropy (1 / condition number)")
    axes.set(xlabel=f"{names[0]} [m]", ylabel=f"{names[1]} [m]", title=title)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    kind = path.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise KinematicsError(
            f"'{path.name}' has no picture format; end the name in .{', .'.join(FORMATS)}",
            what="plot",
        )
    write_bytes(figure_file(figure, kind), path)
