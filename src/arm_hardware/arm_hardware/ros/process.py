# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A driver node as a process: signals end it by its exit action, and with exit code 0.

The executor spins in a thread of its own, the main thread waits for the end. So a signal is heard
at once, and the node leaves in order while ROS still works: goals are aborted, servos hold or are
released, the last status goes out.

The core's log lines in ROS's log.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from arm_common.signals import ProcessEnd
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from arm_hardware.errors import HardwareError


class _Forward(logging.Handler):
    """Hands records to a ROS logger."""

    def __init__(self, logger: Any) -> None:
        super().__init__()
        self._by_level = {
            logging.DEBUG: logger.debug,
            logging.INFO: logger.info,
            logging.WARNING: logger.warning,
            logging.ERROR: logger.error,
        }

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record."""
        level = max((k for k in self._by_level if k <= record.levelno), default=logging.DEBUG)
        self._by_level[level](record.getMessage())


def forward_logging(logger: Any) -> None:
    """Send what ``arm_hardware``'s modules log to a ROS logger."""
    core = logging.getLogger("arm_hardware")
    core.setLevel(logging.INFO)
    core.addHandler(_Forward(logger))
    core.propagate = False


# mypy: disable-error-code="no-untyped-call, attr-defined"


THREADS = 6  # two goals may run at a time, each with a waiting thread; the others answer
SWITCH_INTERVAL = 0.0005  # [s] so that the control thread gets the interpreter when it wakes
HEARTBEAT = 0.5  # [s]; rclpy raises what a callback raised only when another one is due
DRAIN_ROUNDS = 5  # a goal's result takes two tasks of the executor to leave
DRAIN_WITHIN = 3.0  # [s] of the wall for all rounds
GRACE = 0.05  # [s] of the wall for the middleware to send what was handed to it


def run(make_node: Callable[[], Any], args: list[str] | None, end: ProcessEnd) -> int:
    """Run a node until a signal or a failure; return the exit code.

    Args:
        make_node: Returns a node with ``autostart() -> bool`` and ``close()``; its attribute
            ``signals`` is set to what tells how many signals have come.
        args: Of the command line; None for the process' own.
        end: Made as early as possible in the life of the process.
    """
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        node = make_node()
    except (HardwareError, ParameterException) as error:
        rclpy.logging.get_logger("arm_hardware").fatal(str(error))
        rclpy.try_shutdown()
        return 1
    node.signals = end.signals
    forward_logging(node.get_logger())
    # What lives now lives to the end: without it a collection would stop all threads for longer
    # than a tick.
    gc.collect()
    gc.freeze()
    try:
        return _spin_until(node, end)
    finally:
        rclpy.try_shutdown()


def _spin_until(node: Any, end: ProcessEnd) -> int:
    executor = MultiThreadedExecutor(num_threads=THREADS)
    executor.add_node(node)
    node.create_timer(HEARTBEAT, lambda: None, clock=Clock(clock_type=ClockType.STEADY_TIME))
    failures: list[Exception] = []
    thread = threading.Thread(target=_spin, args=(executor, end, failures), daemon=True)
    thread.start()
    try:
        if not end.here(0.0) and not node.autostart():
            return 0 if end.here(0.0) else 1
        end.here()
        if failures:
            node.get_logger().fatal(f"A callback failed: {failures[0]!r}")
        return 1 if failures else 0
    finally:
        node.close()
        _drain(executor)
        executor.shutdown(timeout_sec=2.0)
        thread.join(timeout=2.0)


def _drain(executor: Any) -> None:
    """Let the executor do what is in its queue: results of the goals that were just aborted."""
    deadline = time.monotonic() + DRAIN_WITHIN
    for _ in range(DRAIN_ROUNDS):
        task = executor.create_task(lambda: None)
        while not task.done() and time.monotonic() < deadline:
            time.sleep(0.002)
    time.sleep(GRACE)


def _spin(executor: Any, end: ProcessEnd, failures: list[Exception]) -> None:
    """Spin until the executor is shut down; after a callback failed, go on for the orderly end."""
    while True:
        try:
            executor.spin()
        except ExternalShutdownException:
            pass
        except Exception as error:  # noqa: BLE001 - whatever a callback raised
            failures.append(error)
            end.come()
            continue
        end.come()
        return
