# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From where an arm is looked at, and what of it is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..transforms import Matrix


def _seen_from(azimuth_deg: float, elevation_deg: float) -> Matrix:
    """Axes (rows: right, up, towards the eye) of a view from a direction, in base_link."""
    azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
    towards = np.array(
        (
            math.cos(elevation) * math.cos(azimuth),
            math.cos(elevation) * math.sin(azimuth),
            math.sin(elevation),
        )
    )
    right = np.array((-math.sin(azimuth), math.cos(azimuth), 0.0))
    return np.array((right, np.cross(towards, right), towards))


# base_link has x forward, y to the left, z up (REP 103).
VIEWS: Mapping[str, Matrix] = {
    "iso": _seen_from(-52.0, 24.0),
    "front": _seen_from(0.0, 0.0),
    "side": _seen_from(-90.0, 0.0),
    "top": _seen_from(-90.0, 90.0),
}


@dataclass(frozen=True)
class Style:
    """What is shown.

    Attributes:
        view: one of VIEWS.
        frames: axes of every link frame.
        dh_frames: axes of the frames of the table, with their numbers.
        labels: names and positions of the joints.
    """

    view: str = "iso"
    frames: bool = False
    dh_frames: bool = False
    labels: bool = False
