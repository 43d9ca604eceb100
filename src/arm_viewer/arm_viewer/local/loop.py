# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The thread of a page without ROS: timers, and what other threads ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

Action = Callable[[], None]


class LoopTimer:
    """Calls an action once in a period [s]; made and used in the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, period: float, action: Action) -> None:
        self._loop, self._period, self._action = loop, period, action
        self._next: asyncio.TimerHandle | None = None
        self.reset()

    def cancel(self) -> None:
        """Stop calling."""
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def reset(self) -> None:
        """Call again, a full period from now."""
        self.cancel()
        self._next = self._loop.call_later(self._period, self._tick)

    def is_canceled(self) -> bool:
        """Return whether it has been stopped."""
        return self._next is None

    def _tick(self) -> None:
        self.reset()
        self._action()


class PageLoop:
    """Runs everything of a page in the thread that calls `run`; an action may fail."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def every(self, period: float, action: Action) -> LoopTimer:
        """Return a timer that calls an action once in a period [s]."""
        return LoopTimer(self._loop, period, action)

    def post(self, action: Action) -> None:
        """Run an action soon; any thread may call this, also after the end of the loop."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(action)

    def run(self) -> None:
        """Run until `stop`."""
        self._loop.run_forever()

    def stop(self) -> None:
        """End `run`; any thread may call this."""
        self.post(self._loop.stop)

    def close(self) -> None:
        """Drop everything that is left to do."""
        self._loop.close()
