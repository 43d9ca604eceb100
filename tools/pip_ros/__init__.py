# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 from PyPI wheels in .venv, and the commands of ./arm. Standard library only."""
