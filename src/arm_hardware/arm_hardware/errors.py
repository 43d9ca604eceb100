# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/control/test_controller.py
"""Errors of the servo driver; each carries one sentence and its data."""

from __future__ import annotations

from arm_common.errors import ExplainedError, InputError
from arm_common.suggestions import program

# What messages tell people to do; `arm` arms anew after a fault, too.
ARM = f"{program('arm_hardware', 'arm')} (or Arm in the page, e in teleop)"
RESET = program("arm_hardware", "reset")
RELEASE = program("arm_hardware", "release")
VERIFY = program("arm_hardware", "verify")

# Codes of control_msgs/action/FollowJointTrajectory.Result, repeated here so that the core needs
# no ROS.
SUCCESSFUL = 0
INVALID_GOAL = -1
INVALID_JOINTS = -2
OLD_HEADER_TIMESTAMP = -3
PATH_TOLERANCE_VIOLATED = -4
GOAL_TOLERANCE_VIOLATED = -5
TOLERANCES_VIOLATED = (PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED)

HARDWARE_FAILED = -100  # outside the range of the action's codes, which have none for it


class HardwareError(ExplainedError):
    """Base class; ``str(error)`` is one sentence with its full stop."""

    end = "."


class CalibrationError(HardwareError, InputError):
    """A missing or invalid calibration."""


class BusError(HardwareError):
    """The servo board cannot be reached, or the connection was lost.

    Attributes:
        address: 7-bit address of the board; None if the bus itself is missing.
    """

    def __init__(self, problem: str, *, remedy: str = "", address: int | None = None) -> None:
        super().__init__(problem, remedy=remedy)
        self.address = address


class CommandError(HardwareError):
    """A rejected command.

    Attributes:
        code: A result code of FollowJointTrajectory (the constants of this module).
        joint: Name of the joint, empty if no single one is concerned.
        amount: Excess over the limit in the unit of the message; NaN if not applicable.
    """

    def __init__(
        self,
        problem: str,
        code: int = INVALID_GOAL,
        joint: str = "",
        amount: float = float("nan"),
    ) -> None:
        super().__init__(problem)
        self.code = code
        self.joint = joint
        self.amount = amount


class StateError(HardwareError):
    """A command or transition that the current state does not allow."""
