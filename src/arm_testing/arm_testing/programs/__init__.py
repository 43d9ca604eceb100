# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Programs for tests: processes, pseudo-terminals, systems without ROS or POSIX."""
