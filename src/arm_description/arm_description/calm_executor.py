# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An executor that lets messages gather, where nobody waits for an answer at once."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor

# Each handler of an event of a subscription costs a little at every look, and would keep an
# executor awake that leaves its messages waiting.
QUIET = SubscriptionEventCallbacks(use_default_callbacks=False)


class CalmExecutor(SingleThreadedExecutor):
    """Lets messages gather for a moment, since each look at all entities costs more than they.

    Args:
        nap: Between two looks [s]; joint_states come every 20 ms.
    """

    def __init__(self, nap: float) -> None:
        super().__init__()
        self.nap = nap

    def _wait_for_ready_callbacks(self, *args: Any, **more: Any) -> Generator[Any, None, None]:
        time.sleep(self.nap)
        yield from super()._wait_for_ready_callbacks(*args, **more)
