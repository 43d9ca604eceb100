# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot file: YAML text to a validated RobotModel, and back."""
