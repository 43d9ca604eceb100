# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers that need ROS 2: a probe node, clients of nodes, a complete arm."""
