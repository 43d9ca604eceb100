# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Vector pictures of a posed arm, from the same shapes as its URDF."""

from .picture import FORMATS, picture
from .style import VIEWS, Style

__all__ = ["FORMATS", "VIEWS", "Style", "picture"]
