# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Run nodes as a process with an orderly shutdown, or ROS sessions for tools; their threads.

The executor spins in its own thread while the main thread waits for the end. So a signal takes
effect at once whatever a callback does, and nodes shut down while ROS still works. Long work that
a callback awaits has a thread of its own, too.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.exceptions import InvalidNamespaceException
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.time_source import TimeSource
from rclpy.utilities import remove_ros_args
from rclpy.validate_namespace import validate_namespace

from arm_common.errors import InputError, escaped, is_utf8
from arm_common.network import limit_to_this_computer, report_reach
from arm_common.ros.executor import StaticExecutor
from arm_common.ros.failures import guard, report_failure
from arm_common.ros.parameters import check_requests
from arm_common.signals import (
    ProcessEnd,
    interrupt_on_signals,
    outlive_readers,
    without_collection,
)

_SHUTDOWN_TIMEOUT = 8.0  # [s] after which a hung process exits; launch kills it after 10

# rcl logs each request of this service in full, however long: 555 MB in half an hour of an attack.
_DEFAULTS = ("--ros-args", "-p", "start_type_description_service:=false", "--")

_LOGGER = rclpy.logging.get_logger("process")
_SET_TIME = TimeSource.clock_callback
_CLOCK_LOGGER = rclpy.logging.get_logger("clock")  # a new one would not know what it said before

_SPIN_PERIOD = 0.5  # [s] after which the thread checks whether it missed a shutdown
_FAILURE_PAUSE = 0.02  # [s] so that an executor that fails at once again leaves time for others
_DRAIN_ROUNDS = 5  # sending the result of a goal takes two executor tasks
_DRAIN_TIMEOUT = 3.0  # [s] of wall time for all rounds
_SEND_TIME = 0.05  # [s] of wall time for the middleware to send queued messages


class ExecutorThread:
    """Spins an executor with some nodes in a thread until `stop`, which shuts it down.

    A failed callback is reported by `report_failure`; spinning continues. `on_end` is called in
    the thread when the context was shut down, or when a callback ended the thread by SystemExit.
    """

    def __init__(
        self, executor: Executor, nodes: Iterable[Node], on_end: Callable[[], None]
    ) -> None:
        self._last_failure: Exception | None = None
        self._executor, self._on_end = executor, on_end
        self._nodes = list(nodes)
        self._stopping = False
        for node in self._nodes:
            executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name="executor", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread still runs."""
        return self._thread.is_alive()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this thread, as a callback does."""
        return threading.current_thread() is self._thread

    def drain(self) -> None:
        """Wait until the executor has processed its queue, such as results of aborted goals."""
        deadline = time.monotonic() + _DRAIN_TIMEOUT
        for _ in range(_DRAIN_ROUNDS):
            task = self._executor.create_task(lambda: None)
            while not task.done() and self.is_alive and time.monotonic() < deadline:
                time.sleep(0.002)
        time.sleep(_SEND_TIME)

    def stop(self, timeout: float | None = None) -> None:
        """Stop thread and executor; wait for a running callback, at most `timeout` seconds."""
        self._stopping = True
        if self.is_alive and not self.is_current:
            self._executor.create_task(lambda: None)  # ends its wait
            self._thread.join(timeout)
        self._executor.shutdown(timeout)

    def _spin(self) -> None:
        try:
            while not self._stopping and self._executor.context.ok():
                self._spin_once()
        except ExternalShutdownException:
            pass
        finally:  # also where a callback calls sys.exit()
            if not self._stopping:
                self._on_end()

    def _spin_once(self) -> None:
        try:
            # not spin(), which may miss a shutdown and then waits forever
            self._executor.spin_once(timeout_sec=_SPIN_PERIOD)
        except ExternalShutdownException:
            raise
        except Exception as error:  # noqa: BLE001
            if self._executor.context.ok():  # otherwise the shutdown itself made rclpy fail
                self._report(error)

    def _report(self, error: Exception) -> None:
        if error is self._last_failure:  # rclpy may raise it twice
            return
        self._last_failure = error
        node: Node | None = getattr(self._executor, "current_node", None)
        report_failure(node or self._nodes[0], "a callback", error)
        time.sleep(_FAILURE_PAUSE)


class NodeError(Exception):
    """A node could not be created; the cause is the exception.

    Attributes:
        node: Name of the node, "" if unknown.
    """

    def __init__(self, node: str) -> None:
        super().__init__(f"{node} failed")
        self.node = node


def run_node(
    make: Callable[[], Iterable[Node]],
    errors: tuple[type[Exception], ...] = (),
    batch_delay: float = 0.0,
    executor: Callable[[], Executor] | None = None,
    begin: Callable[[ProcessEnd], bool] = lambda end: True,
    close: Callable[[], None] | None = None,
) -> int:
    """Run nodes on one executor until a signal, the end of their launch, or shutdown.

    A callback that raises ends nothing; see `arm_common.ros.failures`. Nor does a reader of the
    output that ends.

    Args:
        make: Returns or yields the nodes; a signal meanwhile ends the process at once. All nodes
            that it has yielded are destroyed at the end. It raises NodeError to name a node.
        errors: Exceptions for bad input in addition to InputError; written to standard error
            in one line, after the name of the node.
        batch_delay: See `StaticExecutor`; 0 in simulated time, which may run faster.
        executor: Creates another executor than the default `StaticExecutor`.
        begin: Called once the executor spins; returns whether to continue.
        close: Called at the end, while the executor still spins.

    Returns:
        The exit code: 0 after a signal, 1 after bad input, another failure of `make`, or
        if `begin` returned False. Of a failure that is no bad input, the traceback is written.
    """
    input_errors: tuple[type[Exception], ...] = (InputError, *errors)
    end = ProcessEnd()
    outlive_readers()
    TimeSource.clock_callback = _set_time  # type: ignore[method-assign, assignment]
    nodes: list[Node] = []
    try:
        reach = report_reach(limit_to_this_computer(os.environ))
        rclpy.init(args=ros_arguments(), signal_handler_options=SignalHandlerOptions.NO)
        if reach:
            rclpy.logging.get_logger("network").info(reach)
        with without_collection():
            nodes += make()
        for node in nodes:
            check_requests(node)
        guard(nodes)
        end.in_order = True
        if any(node.get_parameter("use_sim_time").value for node in nodes):
            batch_delay = 0.0
        spun = StaticExecutor(batch_delay) if executor is None else executor()
        thread = ExecutorThread(spun, nodes, end.request)
        return _spin_until(end, thread, begin, close)
    except NodeError as error:
        return _report(error.node, error.__cause__ or error, input_errors)
    except input_errors as error:
        return _report("", error, input_errors)
    finally:
        faulthandler.dump_traceback_later(_SHUTDOWN_TIMEOUT, exit=True)
        for node in nodes:  # the interpreter might destroy them in the wrong order
            node.destroy_node()
        rclpy.try_shutdown()
        faulthandler.cancel_dump_traceback_later()


def _set_time(source: TimeSource, message: Any) -> None:
    """Take the time from /clock, unless it is negative, which rclpy raises ValueError for."""
    if message.clock.sec >= 0:
        _SET_TIME(source, message)
    else:
        _CLOCK_LOGGER.warning("Ignoring a negative time on /clock.", once=True)


def _spin_until(
    end: ProcessEnd,
    thread: ExecutorThread,
    begin: Callable[[ProcessEnd], bool],
    close: Callable[[], None] | None,
) -> int:
    """Wait for the end, close the nodes, stop the executor; return the exit code."""
    has_begun = True
    try:
        has_begun = end.wait(0.0) or begin(end)
        if has_begun:
            end.wait()
        if end.is_orphaned:
            _LOGGER.warning("The launch that started this process is gone; ending.")
    finally:
        if close is not None:
            close()
            thread.drain()
        faulthandler.dump_traceback_later(_SHUTDOWN_TIMEOUT, exit=True)
        thread.stop()
    return 0 if has_begun or end.wait(0.0) else 1


def _report(node: str, error: BaseException, input_errors: tuple[type[Exception], ...]) -> int:
    """Write why a node failed to standard error, the reason last; return the exit code."""
    if isinstance(error, input_errors):
        sys.stderr.write(f"{node}: {error}\n" if node else f"{error}\n")
    else:
        traceback.print_exception(error)
        sys.stderr.write(f"{node or 'the process'} failed: {type(error).__name__}: {error}\n")
    return 1


def ros_arguments() -> list[str]:
    """Return the arguments of the process for rclpy, which takes only UTF-8.

    They come after the defaults of our nodes, and override them.

    Raises:
        InputError: One of them is not; the path of the program may be anything.
    """
    for word in sys.argv[1:]:
        if escaped(word) != word and not is_utf8(word):
            problem = f"the argument {word!r} is not UTF-8, which ROS 2 requires"
            raise InputError(problem, remedy="give a path without such letters, or a link to it")
    return [*map(escaped, sys.argv[:1]), *_DEFAULTS, *sys.argv[1:]]


def user_arguments(arguments: Sequence[str] | None = None) -> list[str]:
    """Return the arguments of a tool, by default those of the process without ROS arguments."""
    return remove_ros_args(sys.argv)[1:] if arguments is None else list(arguments)


def add_namespace(parser: argparse.ArgumentParser) -> None:
    """Add the option of a tool that acts on the arm of a namespace."""
    parser.add_argument("--namespace", default="", help="namespace of the arm, such as left")


def add_arm(parser: argparse.ArgumentParser) -> None:
    """Add the options of a tool that acts on one arm: its namespace and its prefix."""
    add_namespace(parser)
    parser.add_argument(
        "--prefix",
        help="prefix of its joints and frames, such as left_ (default: that of joint_states)",
    )


def checked_namespace(namespace: str) -> str:
    """Return an absolute namespace; "" remains empty.

    Raises:
        InputError: The namespace is invalid.
    """
    if not namespace:
        return ""
    full = f"/{namespace.removeprefix('/')}"
    try:
        validate_namespace(full)
    except InvalidNamespaceException as error:
        raise InputError(
            f"{namespace!r} is not a namespace", remedy="use letters, digits, _ and /, as in left"
        ) from error
    return full


@contextmanager
def session(namespace: str = "") -> Iterator[None]:
    """Initialise rclpy for a tool; SIGTERM and SIGHUP raise KeyboardInterrupt as Ctrl-C does.

    Args:
        namespace: Namespace of the tool's nodes; "" for that of the command line.

    Raises:
        InputError: The namespace is invalid.
    """
    limit_to_this_computer(os.environ)
    place = checked_namespace(namespace)
    remapping = ["--ros-args", "-r", f"__ns:={place}"] if place else []
    rclpy.init(args=[*ros_arguments(), *remapping], signal_handler_options=SignalHandlerOptions.NO)
    interrupt_on_signals()
    try:
        yield
    finally:
        rclpy.try_shutdown()
