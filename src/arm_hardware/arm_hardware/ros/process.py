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
from typing import Any

from arm_common.ros.node_runner import run_node
from arm_common.signals import ProcessEnd
from rclpy.clock import Clock, ClockType
from rclpy.executors import MultiThreadedExecutor

from arm_hardware.errors import HardwareError
from arm_hardware.ros.node import HardwareNode

# mypy: disable-error-code="no-untyped-call, attr-defined"


_THREADS = 6  # two goals may run at a time, each with a waiting thread; the others answer
_SWITCH_INTERVAL = 0.0005  # [s] so that the control thread gets the interpreter when it wakes
_HEARTBEAT = 0.5  # [s]; rclpy raises what a callback raised only when another one is due


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


class _Driver:
    """Makes the node, lets it make its first transition, and closes it."""

    node: HardwareNode

    def make(self) -> Iterator[HardwareNode]:
        """Yield the node."""
        self.node = HardwareNode()
        yield self.node
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.node.create_timer(_HEARTBEAT, lambda: None, clock=steady)
        forward_logging(self.node.get_logger())
        sys.setswitchinterval(_SWITCH_INTERVAL)
        # What lives now lives to the end: without it a collection would stop all threads for
        # longer than a tick.
        gc.collect()
        gc.freeze()

    def begin(self, end: ProcessEnd) -> bool:
        """Make the first transition; return whether it succeeded."""
        self.node.signals = lambda: end.signals
        return self.node.autostart()

    def close(self) -> None:
        """Do the exit action and publish a last time."""
        self.node.close()


def main() -> int:
    """Run the node until it is to end; return the exit code."""
    driver = _Driver()
    return run_node(
        driver.make,
        (HardwareError,),
        executor=partial(MultiThreadedExecutor, _THREADS),
        begin=driver.begin,
        close=driver.close,
    )


if __name__ == "__main__":
    sys.exit(main())
