# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool paths: straight lines and arcs, sampled, solved without jumps, and timed (no ROS)."""

from arm_kinematics.paths.cartesian_path import PathOptions
from arm_kinematics.paths.planner import plan_path
from arm_kinematics.paths.timing import point_to_point, time_result

__all__ = ["PathOptions", "plan_path", "point_to_point", "time_result"]
