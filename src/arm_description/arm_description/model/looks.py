# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes that a link looks like: boxes, bodies of revolution and spheres, each with a colour."""

from __future__ import annotations

import math
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from arm_common.transforms import Matrix

from arm_description.model.elements import NO_MOTION, Origin

LookKind: TypeAlias = Literal["box", "cylinder", "cone", "sphere", "ring", "fillet"]
Material: TypeAlias = Literal["plastic", "metal", "rubber", "glass"]
MATERIALS: tuple[Material, ...] = ("plastic", "metal", "rubber", "glass")
DEFAULT_COLOUR = "#9ea6b2"
GLASS_OPACITY = 0.35  # of glass whose colour has no opacity of its own
_ARC = 10  # pieces of a fillet's quarter circle


@dataclass(frozen=True)
class LookShape:
    """One shape of a link's look; it is seen, but has no mass and touches nothing.

    Attributes:
        kind: all but box and sphere are bodies of revolution about their z.
        size: [m] edges (x, y, z) of a box; (radius, length) of a cylinder; (lower radius, upper
            radius, length) of a cone; (radius,) of a sphere; (outer radius, inner radius, length)
            of a ring; (radius of the post, radius of the rounding) of a fillet, which widens the
            foot of a post like a quarter of a groove.
        origin: link <- shape; the shape is centred there, but a fillet stands on it.
        colour: "#rrggbb", or "#rrggbbaa" with an opacity.
        material: what its surface is made of.
    """

    kind: LookKind
    size: tuple[float, ...]
    origin: Origin = NO_MOTION
    colour: str = DEFAULT_COLOUR
    material: Material = "plastic"


def profile(kind: str, size: tuple[float, ...]) -> Matrix:
    """Return the outline (k, 2) of a body of revolution: radius and height [m], counter-clockwise.

    It begins and ends on the axis or, for a ring and a fillet, at the same point.
    """
    if kind == "fillet":
        radius, rounding = size
        arc = np.linspace(-math.pi / 2, -math.pi, _ARC + 1)
        outer = np.column_stack((np.cos(arc), np.sin(arc)))
        groove = outer * rounding + (radius + rounding, rounding)
        return np.vstack(([(radius, 0.0)], groove, [(radius, 0.0)]))
    end = 0.5 * size[-1]
    if kind == "ring":
        outside, inside = size[:2]
        corners = [(inside, -end), (outside, -end), (outside, end), (inside, end), (inside, -end)]
        return np.array(corners)
    lower, upper = (size[0], size[0]) if kind == "cylinder" else size[:2]
    return np.array([(0.0, -end), (lower, -end), (upper, end), (0.0, end)])


def shape_folder() -> Path:
    """Return the folder of the meshes of cones, rings and fillets; it may not exist yet."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "arm" / "shapes"
    if home := os.environ.get("HOME"):
        return Path(home) / ".cache" / "arm" / "shapes"
    return Path(tempfile.gettempdir()) / f"arm-{os.getuid()}" / "shapes"
