# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""SRDF, what MoveIt wants to know beside the URDF: written, and its postures read back."""

from .reader import read_srdf_postures
from .writer import to_srdf

__all__ = ["read_srdf_postures", "to_srdf"]
