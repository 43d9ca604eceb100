# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool paths: straight lines and arcs, sampled, solved without jumps, and timed (no ROS)."""

from arm_kinematics.paths.follow import follow
from arm_kinematics.paths.plan import plan_path, shapes
from arm_kinematics.paths.result import PathResult, PathStatus
from arm_kinematics.paths.shapes import Shape, arc, line, screw
from arm_kinematics.paths.timed import point_to_point, time_result
from arm_kinematics.paths.wish import PathWish

__all__ = [
    "PathResult",
    "PathStatus",
    "PathWish",
    "Shape",
    "arc",
    "follow",
    "line",
    "plan_path",
    "point_to_point",
    "screw",
    "shapes",
    "time_result",
]
