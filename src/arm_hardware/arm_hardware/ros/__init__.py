# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's ROS node, and conversion between the driver and ROS messages."""
