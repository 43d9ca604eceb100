# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories as files: CSV, YAML, functions of time, and rows of angles."""

from .files import read_trajectory, shipped_trajectories, trajectory_path, write_trajectory
from .points import slowdown
from .trajectory import JointTrajectory

__all__ = [
    "JointTrajectory",
    "read_trajectory",
    "shipped_trajectories",
    "slowdown",
    "trajectory_path",
    "write_trajectory",
]
