# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Load the plugin of the project's tests, which pytest finds in tools (pyproject.toml)."""

pytest_plugins = ["arm_testing.plugin", "arm_testing.robot_files"]
