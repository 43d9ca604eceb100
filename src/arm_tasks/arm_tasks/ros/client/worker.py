# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A node of its own, spun by a thread of its own: who waits for it waits for nobody else.

A blocking call in a callback of the user's node keeps the user's executor busy, whichever it is.
It ends all the same, because no answer has to pass through that executor.

Something the arm was asked for, and its end some day.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import InvalidStateError
from typing import Any, Generic, TypeVar

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from arm_tasks.ros.client.results import ArmError, ArmTimeoutError

T = TypeVar("T")
_FOREVER = "a call that waits in the arm's own thread, such as in a callback of its own"


class ArmFuture(Generic[T]):
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

    def add_done_callback(self, call: Callable[[ArmFuture[T]], None]) -> None:
        """Call call(self) at the end, at once if it is over; it must not wait for the arm."""
        self.future.add_done_callback(lambda _: call(self))

    def __await__(self) -> Generator[Any, None, T]:
        return asyncio.wrap_future(self.future).__await__()


LOOK = 0.05  # s, between two looks at what is waited for


class ExecutorThread:
    """Runs coroutines beside the program.

    Args:
        name: Of the node.
        beside: A node of the user, for context and namespace; None makes a context.
        namespace: Without such a node, the namespace of the arm.
    """

    def __init__(self, name: str, beside: Node | None, namespace: str) -> None:
        self._own_context = None
        if beside is None:
            self._own_context = rclpy.Context()
            rclpy.init(args=[], context=self._own_context)
        context = self._own_context or beside.context  # type: ignore[union-attr]
        self.node = rclpy.create_node(
            name,
            context=context,
            namespace=beside.get_namespace() if beside is not None else namespace,
            use_global_arguments=beside is not None,
            start_parameter_services=False,
        )
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)
        self._pending: set[ArmFuture[Any]] = set()
        self._sleepers: list[Future] = []
        self._closing = threading.Event()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.node.create_timer(LOOK, self._wake, clock=steady)
        self._thread = threading.Thread(target=self._spin, name=name, daemon=True)
        self._thread.start()
        atexit.register(self.close)  # a thread inside rclpy would abort the program's end

    def start(
        self,
        what: str,
        work: Callable[..., Coroutine[Any, Any, T]],
        *arguments: Any,
        cancel: Callable[[], None] = lambda: None,
    ) -> ArmFuture[T]:
        """Begin a coroutine in the thread; return its handle.

        Args:
            what: What it is, for messages.
            work: The coroutine function.
            arguments: Its arguments.
            cancel: Called in the thread when the handle's cancel() is.
        """
        pending: ArmFuture[T] = ArmFuture(
            what, self._is_own_thread, lambda: self._submit(_as_coroutine(cancel))
        )
        self._pending.add(pending)
        if self._closing.is_set() or not self._thread.is_alive():
            self._fail_all()
        else:
            self._submit(self._carry, pending, work, arguments)
        return pending

    async def until(self, condition: Callable[[], bool], patience: float, what: str) -> None:
        """Wait in a coroutine until a condition holds.

        Raises:
            ArmTimeoutError: It did not within the patience [s].
        """
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise ArmTimeoutError(f"waited {patience:g} s in vain for {what}")
            sleeper = Future(executor=self._executor)
            self._sleepers.append(sleeper)
            await sleeper

    def close(self) -> None:
        """End thread and node; whatever is pending then fails."""
        atexit.unregister(self.close)
        self._closing.set()
        self._executor.wake()
        if not self._is_own_thread():
            self._thread.join(timeout=5.0)
        self._fail_all()
        with contextlib.suppress(Exception):  # the user may have shut the context down before
            self._executor.shutdown(timeout_sec=1.0)
            self.node.destroy_node()
        if self._own_context is not None:
            rclpy.try_shutdown(context=self._own_context)

    def _submit(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        self._executor.create_task(work, *arguments)

    async def _carry(self, pending: ArmFuture[T], work: Any, arguments: tuple[Any, ...]) -> None:
        """Bring what comes of a coroutine to its handle."""
        try:
            result = await work(*arguments)
        except Exception as error:  # noqa: BLE001
            _set(pending.future.set_exception, error)
        else:
            _set(pending.future.set_result, result)
        self._pending.discard(pending)

    def _wake(self) -> None:
        sleepers, self._sleepers = self._sleepers, []
        for sleeper in sleepers:
            sleeper.set_result(None)

    def _is_own_thread(self) -> bool:
        return threading.current_thread() is self._thread

    def _fail_all(self) -> None:
        while self._pending:
            pending = self._pending.pop()
            closed = ArmError(f"{pending.what}: the arm was closed")
            _set(pending.future.set_exception, closed)

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, ShutdownException):
            while not self._closing.is_set():
                self._executor.spin_once(timeout_sec=0.5)
        self._closing.set()
        self._fail_all()


def _set(setter: Callable[[Any], None], value: Any) -> None:
    """End a future, if it is not over: closing may have come first."""
    with contextlib.suppress(InvalidStateError):
        setter(value)


def _as_coroutine(call: Callable[[], None]) -> Callable[[], Coroutine[Any, Any, None]]:
    async def run() -> None:
        call()

    return run
