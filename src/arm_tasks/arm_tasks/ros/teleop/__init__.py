# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jogging and teaching from a terminal or a joystick."""
