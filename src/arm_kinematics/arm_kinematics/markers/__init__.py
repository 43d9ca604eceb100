# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is to be seen of the kinematics, as plain marks (no ROS in here)."""

from arm_kinematics.markers.board import Board, Numbered
from arm_kinematics.markers.layers import LAYERS, Cause, Layer
from arm_kinematics.markers.mark import Kind, Mark
from arm_kinematics.markers.seen import Answer, Seen

__all__ = ["LAYERS", "Answer", "Board", "Cause", "Kind", "Layer", "Mark", "Numbered", "Seen"]
