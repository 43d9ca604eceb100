# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is to be seen of the kinematics, as plain marks (no ROS in here)."""
