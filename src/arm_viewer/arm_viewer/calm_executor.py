# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An executor that looks for messages no more often than a picture needs them."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor

NAP = 0.014  # [s] between two looks: less than the 20 ms from joint_states to joint_states

# Each handler of an event of a subscription costs a little at every look.
QUIET = SubscriptionEventCallbacks(use_default_callbacks=False)


class CalmExecutor(SingleThreadedExecutor):
    """Lets messages gather for a moment, since each look at all entities costs more than they."""

    def _wait_for_ready_callbacks(self, *args: Any, **more: Any) -> Generator[Any, None, None]:
        time.sleep(NAP)
        yield from super()._wait_for_ready_callbacks(*args, **more)
