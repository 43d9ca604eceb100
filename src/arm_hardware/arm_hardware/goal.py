# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A running command, seen from the one who gave it."""

from __future__ import annotations

import threading
from enum import Enum

from arm_hardware.errors import SUCCESSFUL


class Outcome(Enum):
    """How a command ended."""

    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    CANCELED = "canceled"


class Goal:
    """Ends exactly once; any thread may wait for that.

    Attributes:
        outcome: None while the command runs.
        code: Result code of FollowJointTrajectory (see errors).
        message: One sentence.
    """

    def __init__(self) -> None:
        self.outcome: Outcome | None = None
        self.code = SUCCESSFUL
        self.message = ""
        self._done = threading.Event()
        self._lock = threading.Lock()

    def finish(self, outcome: Outcome, code: int, message: str) -> None:
        """End the command; the first call counts."""
        with self._lock:
            if self.outcome is not None:
                return
            self.outcome, self.code, self.message = outcome, code, message
        self._done.set()

    @property
    def done(self) -> bool:
        """Whether the command has ended."""
        return self._done.is_set()

    def wait(self, timeout: float) -> bool:
        """Wait for the end for at most so many seconds of the wall; return whether it ended."""
        return self._done.wait(timeout)
