# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Teaching an arm: poses, paths and bolts, kept in files. No ROS in here."""
