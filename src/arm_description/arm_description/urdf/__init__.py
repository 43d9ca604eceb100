# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""URDF: written from a RobotModel, and read from anyone's text."""
