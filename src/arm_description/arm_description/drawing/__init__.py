# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Vector pictures of a posed arm, from the same shapes as its URDF, and of other solids."""

from .picture import FORMATS, paper, picture
from .scene import Loose
from .sheet import Extent, Sheet, extent_of
from .solids import Solid
from .style import VIEWS, Style

__all__ = [
    "FORMATS",
    "VIEWS",
    "Extent",
    "Loose",
    "Sheet",
    "Solid",
    "Style",
    "extent_of",
    "paper",
    "picture",
]
