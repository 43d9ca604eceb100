# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver node as a process: it ends by its exit action, with exit code 0 after a signal.

Goals are aborted, servos hold or are released and the last status is published while the executor
still spins. The core's log lines go into ROS's log.
"""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Iterator
from functools import partial

from arm_common.ros.node_runner import run_node
from arm_common.signals import ProcessEnd
from rclpy.clock import Clock, ClockType
from rclpy.executors import MultiThreadedExecutor
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.logging import LoggingSeverity

from arm_hardware.errors import HardwareError
from arm_hardware.ros.node import HardwareNode

# mypy: disable-error-code="no-untyped-call, attr-defined"


_THREADS = 6  # two goals may run at a time, each with a waiting thread; the others answer
_SWITCH_INTERVAL = 0.0005  # [s] so that the control thread gets the interpreter when it wakes
_HEARTBEAT = 0.5  # [s]; rclpy raises what a callback raised only when another one is due


class _Forward(logging.Handler):
    """Hands records to the ROS logger of a name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        levels = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
        # One each: rclpy refuses another severity from the same line of code. ROS has the same
        # numbers.
        self._loggers = {level: RcutilsLogger(name=name) for level in levels}

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record."""
        level = max((k for k in self._loggers if k <= record.levelno), default=logging.DEBUG)
        self._loggers[level].log(record.getMessage(), LoggingSeverity(level))


def forward_logging(name: str) -> None:
    """Send what ``arm_hardware``'s modules log to the ROS logger of a name."""
    core = logging.getLogger("arm_hardware")
    core.setLevel(logging.INFO)
    core.addHandler(_Forward(name))
    core.propagate = False


class _Driver:
    """Makes the node, lets it make its first transition, and closes it."""

    node: HardwareNode

    def make(self) -> Iterator[HardwareNode]:
        """Yield the node."""
        self.node = HardwareNode()
        yield self.node
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.node.create_timer(_HEARTBEAT, lambda: None, clock=steady)
        forward_logging(self.node.get_logger().name)
        sys.setswitchinterval(_SWITCH_INTERVAL)
        # What lives now lives to the end: without it a collection would stop all threads for
        # longer than a tick.
        gc.collect()
        gc.freeze()

    def begin(self, end: ProcessEnd) -> bool:
        """Make the first transition; return whether it succeeded."""
        self.node.signals = lambda: end.signals
        return self.node.autostart()


def main() -> int:
    """Run the node until it is to end; return the exit code."""
    driver = _Driver()
    return run_node(
        driver.make,
        (HardwareError,),
        executor=partial(MultiThreadedExecutor, _THREADS),
        begin=driver.begin,
        close=lambda: driver.node.close(),
    )


if __name__ == "__main__":
    sys.exit(main())
