# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Translation between the driver and ROS messages; imported by the node only."""
