# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Keys of a terminal to the services beside run_task: pause, go on, one step."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from arm_description.command_qos import GOAL
from arm_description.keyboard import Keyboard
from rclpy.node import Node
from std_srvs.srv import Trigger

from arm_interfaces.msg import TaskState

HELP = "Keys: space pauses and goes on, s does one step, Ctrl-C cancels."


class TaskKeys:
    """Reads single keys, where there is a terminal.

    Args:
        node: Of the clients.
        say: Shows a line.

    Attributes:
        state: Of the task, as last told; a constant of TaskState.
    """

    def __init__(self, node: Node, say: Callable[[str], None]) -> None:
        self.state = TaskState.CHECKING
        self._say = say
        self._keyboard: Keyboard | None = None
        self._clients = {
            name: node.create_client(Trigger, f"run_task/{name}", qos_profile=GOAL)
            for name in ("pause", "resume", "step")
        }

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Read keys from here on to the end, if standard input is a terminal."""
        if not sys.stdin.isatty():
            yield
            return
        with Keyboard() as self._keyboard:
            self._say(HELP)
            yield
        self._keyboard = None

    def look(self) -> None:
        """Take the keys that were pressed."""
        with contextlib.suppress(EOFError):
            while self._keyboard is not None and (key := self._keyboard.key(0.0)):
                self._take(key)

    def _take(self, key: str) -> None:
        stands = self.state == TaskState.PAUSED
        asks = {" ": "resume" if stands else "pause", "s": "step"}
        if key not in asks:
            self._say(HELP)
            return
        client = self._clients[asks[key]]
        if client.service_is_ready():
            client.call_async(Trigger.Request()).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        answer = future.result()
        if not answer.success:
            self._say(f"Not possible: {answer.message}")
