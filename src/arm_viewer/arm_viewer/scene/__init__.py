# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is shown, without ROS and without a browser."""
