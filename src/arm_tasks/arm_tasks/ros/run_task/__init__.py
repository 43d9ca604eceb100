# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Clients behind the commands `run_task` and `ros2`."""
