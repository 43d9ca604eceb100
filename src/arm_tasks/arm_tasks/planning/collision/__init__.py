# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Collision checks of robot, scene and payloads."""
