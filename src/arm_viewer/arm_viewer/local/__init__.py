# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The page of an arm that is in the same process, without ROS."""
