# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong when a program moves the arm."""

from __future__ import annotations

from typing import Any

from arm_tasks.errors import TasksError


class ArmError(TasksError):
    """The arm did not do what it was asked for; its text is one sentence.

    Attributes:
        result: The action's result or the service's response that says so, or None.
    """

    def __init__(self, what: str, result: Any = None) -> None:
        super().__init__(what)
        self.result = result


class ArmTimeoutError(ArmError, TimeoutError):
    """It took longer than it was given."""
