# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of this package that are nodes."""

from arm_common.signals import node_entry_point

kinematics = node_entry_point("arm_kinematics.ros.node")
