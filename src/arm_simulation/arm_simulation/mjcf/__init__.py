# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Robots and scene objects as MJCF, the format of MuJoCo."""
