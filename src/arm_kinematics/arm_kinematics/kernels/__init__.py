# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled forward kinematics and the compiled search for a solution."""
