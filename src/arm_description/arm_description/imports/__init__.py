# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Robots from other people's formats: URDF, and the architecture files of RVS."""

from .rvs import parse_rvs
from .urdf_robot import UrdfImport, import_urdf

__all__ = ["UrdfImport", "import_urdf", "parse_rvs"]
