# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Readiness of the servo driver and of the clock for a task."""

from __future__ import annotations

import time
from collections.abc import Callable

from arm_common.ros.executor import destroy_timer
from arm_common.ros.qos import STEADY_CLOCK
from rclpy.node import Node
from rclpy.task import Future

from arm_tasks.ros.driver_client import ArmState, DriverClient

_STARTUP_TIMEOUT = 30.0  # [s], for a driver that has not published everything yet
_READY_TIMEOUT = 5.0  # [s], for a known driver that is not ready or has become silent
_NOTIFY_DELAY = 2.0  # [s] of waiting after which the reason is reported
_POLL_PERIOD = 0.05  # [s]


class Readiness:
    """Waits until a motion can start and /clock runs, which a simulated driver publishes."""

    def __init__(self, node: Node, state: ArmState, driver: DriverClient) -> None:
        self._node, self._state, self._driver = node, state, driver

    async def wait(
        self, dry_run: bool, canceled: Callable[[], bool], notify: Callable[[str], None]
    ) -> str:
        """Wait until a task can start or is canceled; return why it cannot start, or "".

        A dry run needs only joint positions. If the wait is long, notify gets the reason once.
        """
        return await self._until(lambda: self._missing(dry_run), canceled, notify)

    async def wait_for_limits(self) -> str:
        """Wait for the limits of a driver that is there; return why they are unknown, or ""."""
        return await self._until(self._state.limits_unknown, lambda: False, lambda _: None)

    async def _until(
        self,
        missing: Callable[[], str],
        canceled: Callable[[], bool],
        notify: Callable[[str], None],
    ) -> str:
        """Wait until nothing is missing; return what is after a time-out or a cancellation."""
        began, notified = time.monotonic(), False
        result: Future = Future(executor=self._node.executor)

        def poll() -> None:
            nonlocal notified
            if result.done():
                return
            why, waited = missing(), time.monotonic() - began
            limit = _READY_TIMEOUT if self._is_known() else _STARTUP_TIMEOUT
            if not why or canceled() or waited > limit:
                result.set_result(why)
            elif waited > _NOTIFY_DELAY and not notified:
                notify(why)
                notified = True

        poll()
        if not result.done():
            timer = self._node.create_timer(_POLL_PERIOD, poll, clock=STEADY_CLOCK)
            await result
            destroy_timer(self._node, timer)
        return str(result.result())

    def _missing(self, dry_run: bool) -> str:
        if dry_run and self._state.positions:
            return self._state.limits_unknown()
        return self._state.not_ready() or self._not_connected()

    def _is_known(self) -> bool:
        """Return True if the driver was complete before, even if it is lost now."""
        return self._state.complete and (bool(self._state.lost()) or not self._not_connected())

    def _not_connected(self) -> str:
        """Return which part of the driver is missing, or ""."""
        if not self._node.get_clock().now().nanoseconds:  # type: ignore[no-untyped-call]
            return "no /clock yet; is the servo driver running?"
        return self._driver.not_ready()
