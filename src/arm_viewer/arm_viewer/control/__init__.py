# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Moving the arm from the page, without ROS."""
