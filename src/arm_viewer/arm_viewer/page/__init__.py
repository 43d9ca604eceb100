# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The page as a whole, without ROS: what it shows and moves comes through a port."""
