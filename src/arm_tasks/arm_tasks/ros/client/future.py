# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/client/test_behaviour.py
"""A node in a background thread, and futures of the coroutines that the thread runs.

A blocking call in a callback occupies the caller's executor. It still returns, because no response
passes through that executor.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import math
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import InvalidStateError
from typing import Any, Generic, TypeVar

import rclpy
from arm_common.ros.executor import StaticExecutor
from arm_common.ros.node_runner import ExecutorThread
from arm_common.ros.qos import STEADY_CLOCK
from arm_common.ros.service_client import ServiceClient
from rclpy.node import Node
from rclpy.task import Future

from arm_tasks.errors import TasksError

T = TypeVar("T")
SERVER_TIMEOUT = 10.0  # [s], for a server to appear
_POLL_PERIOD = 0.05  # [s] between checks of a condition
_CLOSE_TIMEOUT = 5.0  # [s]
_CANCEL_TIMEOUT = 3.0  # [s] for an arm to brake
_SELF_WAIT = "a blocking call in the arm's own thread would wait for itself; use arm.later there"


class ArmError(TasksError):
    """A verb failed or was rejected; the text is one sentence.

    Attributes:
        result: The action's result or the service's response, or None.
    """

    def __init__(self, what: str, result: Any = None) -> None:
        super().__init__(what)
        self.result = result


def require(success: bool, what: str, response: Any) -> None:
    """Raise ArmError with the message of a response unless it is a success."""
    if not success:
        raise ArmError(f"{what}: {response.message}", response)


class ArmTimeoutError(ArmError, TimeoutError):
    """A verb did not finish in time."""


class ArmFuture(Generic[T]):
    """The result of a verb, once it is available. All methods may be called from any thread.

    In asyncio, `await future`. Whatever ends the wait early cancels the verb, and the arm
    holds: Ctrl-C, the time-out of wait() or `asyncio.wait_for`, the end of the asyncio task.

    Args:
        what: Name of the verb or task, for messages.
        timeout: Time limit of wait() [s]; None for no limit.
        would_block: Returns True in the thread that delivers the result.
        cancel: Called to cancel the verb.
    """

    def __init__(
        self,
        what: str,
        timeout: float | None,
        would_block: Callable[[], bool],
        cancel: Callable[[], object],
    ) -> None:
        self.what = what
        self.future: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._timeout = timeout
        self._would_block = would_block
        self._cancel = cancel
        self.canceled = False  # whether cancel() was called before the result was there
        self.future.add_done_callback(self._on_done)

    def _on_done(self, future: concurrent.futures.Future[T]) -> None:
        if future.cancelled():  # by asyncio, which cancels what an awaiting task waits for
            self._request_cancel()

    def _request_cancel(self) -> None:
        self.canceled = True
        self._cancel()

    @property
    def done(self) -> bool:
        """True once the verb has succeeded, failed or been cancelled."""
        return self.future.done()

    def cancel(self) -> None:
        """Cancel the verb: the arm holds, and the result is an ArmError that says so."""
        if not self.done:
            self._request_cancel()

    def wait(self) -> T:
        """Wait for the result; cancel the verb when its time-out expires.

        Raises:
            ArmError: As for result().
        """
        try:
            return self.result(self._timeout)
        except ArmTimeoutError:
            self.cancel()
            raise

    def result(self, timeout: float | None = None) -> T:
        """Wait for the result.

        Args:
            timeout: Longest time to wait [s]; the verb itself then continues, see cancel().

        Raises:
            ArmError: The verb failed, or this thread is the one that delivers the result.
            ArmTimeoutError: The verb has not finished.
        """
        if not self.done and self._would_block():
            raise ArmError(f"{self.what}: {_SELF_WAIT}")
        try:
            return self.future.result(timeout)
        except concurrent.futures.TimeoutError:
            if self.done:
                return self.future.result()
            raise ArmTimeoutError(f"{self.what} did not finish within {timeout:g} s") from None
        except (
            KeyboardInterrupt,
            SystemExit,
        ):  # Ctrl-C, or a signal handler that ends the program
            self.cancel()
            raise

    def add_done_callback(self, call: Callable[[ArmFuture[T]], None]) -> None:
        """Call call(self) when done, or now if done already; it must not wait for the arm."""
        self.future.add_done_callback(lambda _: call(self))

    def __await__(self) -> Generator[Any, None, T]:
        import asyncio  # costs 3 MB; a program that awaits has imported it

        return asyncio.wrap_future(self.future).__await__()


class ClientThread:
    """Runs a node and coroutines in a background thread.

    Args:
        node: The node, which close() destroys.
        owns_context: Whether close() shuts down the context of the node, too.
    """

    def __init__(self, node: Node, owns_context: bool = False) -> None:
        self.node, self._owns_context = node, owns_context
        self._executor = StaticExecutor(context=node.context)
        self._unfinished: set[ArmFuture[Any]] = set()
        self._sleepers: list[Future] = []
        self._closing = False
        self._alarm = node.create_timer(_POLL_PERIOD, self._wake_sleepers, clock=STEADY_CLOCK)
        self._thread = ExecutorThread(self._executor, [self.node], self._on_end)
        atexit.register(self.close)  # a thread inside rclpy would abort the program's exit

    def start(
        self,
        what: str,
        work: Callable[..., Coroutine[Any, Any, T]],
        *arguments: Any,
        timeout: float | None = None,
        cancel: Callable[[], object] = lambda: None,
    ) -> ArmFuture[T]:
        """Start a coroutine in the thread; return its future, which calls `cancel`."""
        future: ArmFuture[T] = ArmFuture(
            what,
            timeout,
            would_block=lambda: self._thread.is_current,
            cancel=lambda: self.call_soon(cancel),
        )
        self._unfinished.add(future)
        if self._closing or not self._thread.is_alive:
            self._fail_all()
        else:
            self._executor.create_task(self._run, future, work, arguments)
        return future

    def call_soon(self, call: Callable[[], object]) -> None:
        """Call in the thread, soon."""
        self._executor.create_task(call)

    async def until(self, condition: Callable[[], bool], timeout: float, what: str) -> None:
        """Wait in a coroutine until a condition holds; ArmTimeoutError after a time-out [s]."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise ArmTimeoutError(f"waited {timeout:g} s for {what}")
            sleeper = Future(executor=self._executor)
            if not self._sleepers:
                self._alarm.reset()
            self._sleepers.append(sleeper)
            await sleeper

    async def call(self, client: ServiceClient, request: Any, server: str = "") -> Any:
        """Call a service in a coroutine; ArmTimeoutError if no server of it appears."""
        what = server or f"a server of {client.name}"
        await self.until(lambda: client.is_ready, SERVER_TIMEOUT, what)
        return await client.call_async(request)

    async def sleep(self, seconds: float) -> None:
        """Wait in a coroutine for a time [s]."""
        end = time.monotonic() + seconds
        await self.until(lambda: time.monotonic() >= end, math.inf, "the clock")

    def close(self) -> None:
        """Cancel unfinished futures, which then fail, stop the thread and destroy the node."""
        atexit.unregister(self.close)
        for future in tuple(self._unfinished):
            future.cancel()
        self._await_cancellations()
        self._closing = True
        with contextlib.suppress(Exception):  # the user may have shut down the context
            self._thread.stop(_CLOSE_TIMEOUT)
        self._fail_all()
        with contextlib.suppress(Exception):
            self.node.destroy_node()
        if self._owns_context:
            rclpy.try_shutdown(context=self.node.context)

    def _await_cancellations(self) -> None:
        """Wait until cancelled verbs have ended: their requests may not have been sent yet."""
        end = time.monotonic() + _CANCEL_TIMEOUT
        while any(future.canceled for future in tuple(self._unfinished)):
            if self._closing or self._thread.is_current or not self._thread.is_alive:
                return
            if time.monotonic() > end:
                return
            time.sleep(_POLL_PERIOD)

    async def _run(self, future: ArmFuture[T], work: Any, arguments: tuple[Any, ...]) -> None:
        try:
            result = await work(*arguments)
        except Exception as error:  # noqa: BLE001
            _set(future.future.set_exception, error)
        else:
            _set(future.future.set_result, result)
        self._unfinished.discard(future)

    def _wake_sleepers(self) -> None:
        self._alarm.cancel()
        sleepers, self._sleepers = self._sleepers, []
        for sleeper in sleepers:
            sleeper.set_result(None)

    def _on_end(self) -> None:
        if not self._executor.context.ok():
            self._fail_all()

    def _fail_all(self) -> None:
        while self._unfinished:
            future = self._unfinished.pop()
            _set(future.future.set_exception, ArmError(f"{future.what}: the arm was closed"))


def _set(setter: Callable[[Any], None], value: Any) -> None:
    """Complete a future unless it is done already, such as by close()."""
    with contextlib.suppress(InvalidStateError):
        setter(value)
