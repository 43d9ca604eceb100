# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Something the arm was asked for, and its end some day."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

from arm_tasks.client.errors import ArmError, ArmTimeoutError

T = TypeVar("T")
_FOREVER = "a call that waits in the arm's own thread, such as in a callback of its own"


class Pending(Generic[T]):
    """The handle of something that was begun. Every method may be called from any thread.

    In asyncio, `await pending`.

    Args:
        what: What was asked for, for messages.
        would_block: Whether the thread that asks is the one that has to bring the answer.
        cancel: Asks the arm to stop this.
    """

    def __init__(
        self, what: str, would_block: Callable[[], bool], cancel: Callable[[], None]
    ) -> None:
        self.what = what
        self.future: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._would_block = would_block
        self._cancel = cancel

    @property
    def done(self) -> bool:
        """Whether it is over, in whatever way."""
        return self.future.done()

    def cancel(self) -> None:
        """Ask the arm to stop this and hold; the result is then an ArmError that says so."""
        if not self.done:
            self._cancel()

    def result(self, timeout: float | None = None) -> T:
        """Wait for the end and return what came of it.

        Args:
            timeout: Longest time to wait [s]; after it this goes on, see cancel().

        Raises:
            ArmError: The arm did not do it; or this is a thread where it could never end.
            ArmTimeoutError: It is not over.
        """
        if not self.done and self._would_block():
            raise ArmError(f"{self.what}: {_FOREVER}, would wait for itself; use arm.later there")
        try:
            return self.future.result(timeout)
        except concurrent.futures.TimeoutError:
            if self.done:
                return self.future.result()
            raise ArmTimeoutError(f"{self.what} was not over after {timeout:g} s") from None

    def add_done_callback(self, call: Callable[[Pending[T]], None]) -> None:
        """Call call(self) at the end, at once if it is over; it must not wait for the arm."""
        self.future.add_done_callback(lambda _: call(self))

    def __await__(self) -> Generator[Any, None, T]:
        return asyncio.wrap_future(self.future).__await__()
