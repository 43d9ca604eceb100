# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and the core: nothing is computed here."""
