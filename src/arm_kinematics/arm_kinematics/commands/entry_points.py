# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Entry points of the nodes of this package."""

from arm_common.signals import node_entry_point

kinematics = node_entry_point("arm_kinematics.ros.node")
