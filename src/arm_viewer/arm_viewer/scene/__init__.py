# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The scene to be shown, without ROS and without a browser."""
