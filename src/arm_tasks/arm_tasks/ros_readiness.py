# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whether the arm can be moved, and how long it is worth while to wait until it can."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node

from arm_tasks.ros_arm_port import RosArmPort
from arm_tasks.ros_arm_state import ArmState

FIRST_PATIENCE = 30.0  # s, for a driver of which not everything was heard yet: it is starting
PATIENCE = 5.0  # s, for a driver that is known and says that it cannot, or has fallen silent
QUIET = 2.0  # s of waiting after which a person is told for what
POLL = 0.05  # s


class Readiness:
    """Watches what a motion needs.

    Args:
        node: Its clock must run: the time of a simulated arm is its driver's.
        state: What the driver says.
        port: Its actions.
    """

    def __init__(self, node: Node, state: ArmState, port: RosArmPort) -> None:
        self._node = node
        self._state = state
        self._port = port

    def missing(self, dry_run: bool) -> str:
        """Return why a task cannot be taken up, or "" if it can.

        Args:
            dry_run: Whether only joint positions are needed, to plan from.
        """
        if dry_run and self._state.positions:
            return ""
        return self._state.not_ready() or self._not_connected()

    def wait(self, dry_run: bool, give_up: Callable[[], bool], tell: Callable[[str], None]) -> str:
        """Wait until a task can be taken up; return why it cannot, or "".

        Args:
            dry_run: As for missing().
            give_up: Whether waiting makes no sense any more.
            tell: Called once with what is waited for, if that takes a while.
        """
        began, told = time.monotonic(), False
        while why := self.missing(dry_run):
            waited = time.monotonic() - began
            if give_up() or waited > (PATIENCE if self._is_known() else FIRST_PATIENCE):
                break
            if waited > QUIET and not told:
                tell(why)
                told = True
            time.sleep(POLL)
        return why

    def _is_known(self) -> bool:
        """Whether everything of the driver was there at some time, or it has gone since."""
        return self._state.complete and (bool(self._state.lost()) or not self._not_connected())

    def _not_connected(self) -> str:
        """Return what of the driver was not found yet, or ""."""
        if not self._node.get_clock().now().nanoseconds:  # type: ignore[no-untyped-call]
            return "no /clock yet; is the servo driver running?"
        return self._port.not_ready()
