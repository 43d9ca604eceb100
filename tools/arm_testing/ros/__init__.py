# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers that need ROS 2: a node beside those under test, clients of nodes, a whole arm."""
