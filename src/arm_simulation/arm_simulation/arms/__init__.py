# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arms without ROS that the engine moves: ideal, with errors, by the driver; runs with them."""
