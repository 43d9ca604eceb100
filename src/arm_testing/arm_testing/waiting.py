# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Waits for conditions, with a timeout so long that only an overloaded machine reaches it.

Or does not wait at all: a driver's clock that advances on request.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
BOUND = 60.0  # [s]


def wait_for(condition: Callable[[], T], what: str = "change", bound: float = BOUND) -> T:
    """Wait until a condition is true; return its value.

    Raises:
        AssertionError: It was not true within the bound [s].
    """
    deadline = time.monotonic() + bound
    while not (value := condition()):
        assert time.monotonic() < deadline, f"no {what} within {bound:.0f} s"
        time.sleep(0.005)
    return value


class InstantClock:
    """A driver's clock (see arm_hardware.clock) that advances only on request."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep_until(self, moment: float, wake: threading.Event) -> None:
        self.time = max(self.time, moment)
