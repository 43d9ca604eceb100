# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The one place where threads meet: the browser's callbacks hand work to the node's thread.

viser runs callbacks in threads of its own; ROS callbacks run in the executor's. Everything
else of this package runs in the executor's thread only, so it needs no locks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Action = Callable[[], None]


class Mailbox:
    """A queue of actions to be run by its owner's thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._actions: deque[Action] = deque()
        self._wake: Action | None = None

    def open(self, wake: Action) -> None:
        """Start to deliver.

        Args:
            wake: Called by the posting thread after each post; it must make the owner's thread
                call `drain` soon.
        """
        with self._lock:
            self._wake = wake
            if self._actions:
                wake()

    def close(self) -> None:
        """Drop what is waiting and all that comes after; `wake` is not called any more."""
        with self._lock:
            self._wake = None
            self._actions.clear()

    def post(self, action: Action) -> None:
        """Queue an action from any thread."""
        with self._lock:
            self._actions.append(action)
            if self._wake is not None:
                self._wake()

    def drain(self) -> None:
        """Run what is waiting, in order; called by the owner's thread."""
        with self._lock:
            actions, self._actions = self._actions, deque()
        for action in actions:
            action()
