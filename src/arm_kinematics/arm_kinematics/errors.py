# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/ros/test_moveit_requests.py
"""Errors of this package: raised for invalid input, never for "no solution"."""

from __future__ import annotations

from arm_common.errors import InputError


class KinematicsError(InputError):
    """The caller's input is invalid.

    Attributes:
        what: Name of the argument or part at fault, e.g. ``"target"`` or a joint's name.
        value: The offending value, as given.
    """

    def __init__(
        self, problem: str, *, remedy: str = "", what: str = "", value: object = None
    ) -> None:
        super().__init__(problem, remedy=remedy)
        self.what = what
        self.value = value


class CanceledError(KinematicsError):
    """A computation was cancelled by its caller."""
