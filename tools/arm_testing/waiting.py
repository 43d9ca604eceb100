# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Wait for a condition, with a bound that only a machine at its limit comes near."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
BOUND = 60.0  # [s]


def wait_for(condition: Callable[[], T], what: str = "change", bound: float = BOUND) -> T:
    """Return the first true value of a condition.

    Raises:
        AssertionError: There was none within the bound [s].
    """
    deadline = time.monotonic() + bound
    while not (value := condition()):
        assert time.monotonic() < deadline, f"no {what} within {bound:.0f} s"
        time.sleep(0.005)
    return value
