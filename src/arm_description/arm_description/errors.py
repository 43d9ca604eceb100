# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/trajectories/test_drawing.py
"""Errors of this package."""

from __future__ import annotations

from arm_common.errors import InputError

DescriptionError = InputError  # the public name for bad robot files


class UrdfError(DescriptionError):
    """A URDF that cannot be used."""
