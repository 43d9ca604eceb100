# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool paths: straight lines and arcs, sampled, solved without jumps, and timed (no ROS)."""
