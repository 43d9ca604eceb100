# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Run the driver node as a process; a signal ends it with the exit action and exit code 0.

Goals are aborted, servos hold or are released, and the last status is published while the executor
still spins. The core's log records are forwarded to ROS.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from arm_common.errors import elided
from arm_common.ros.node_runner import run_node
from arm_common.ros.qos import STEADY_CLOCK
from arm_common.signals import ProcessEnd
from rclpy.executors import MultiThreadedExecutor
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.logging import LoggingSeverity

from arm_hardware.control.loop import SystemdNotifier
from arm_hardware.errors import HardwareError
from arm_hardware.ros.driver_node import HardwareNode

# mypy: disable-error-code="no-untyped-call, attr-defined"


MAX_LINE = 4000  # characters of a log record
_THREADS = 6  # two goals can run at once, each blocking a thread; the others serve callbacks
_SWITCH_INTERVAL = 0.0005  # [s] so that the control thread gets the interpreter soon after waking
_FLUSH_TIMEOUT = 1.0  # [s] to write the rest of the output at the end
_HEARTBEAT = 0.5  # [s]; rclpy re-raises a callback's exception only when another callback is due


class _Forward(logging.Handler):
    """Forwards log records to the ROS logger of a name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        levels = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
        # One per level: rclpy rejects another severity from the same line of code. ROS uses the
        # same numbers.
        self._loggers = {level: RcutilsLogger(name=name) for level in levels}

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record."""
        level = max((k for k in self._loggers if k <= record.levelno), default=logging.DEBUG)
        self._loggers[level].log(elided(record.getMessage(), MAX_LINE), LoggingSeverity(level))


def forward_logging(name: str) -> None:
    """Forward the log records of ``arm_hardware`` to the ROS logger of a name."""
    core = logging.getLogger("arm_hardware")
    core.setLevel(logging.INFO)
    core.addHandler(_Forward(name))
    core.propagate = False


class _Driver:
    """Creates the node and triggers its first transition."""

    node: HardwareNode

    def make(self) -> Iterator[HardwareNode]:
        """Yield the node."""
        self.node = HardwareNode()
        yield self.node
        self.node.create_timer(_HEARTBEAT, lambda: None, clock=STEADY_CLOCK)
        forward_logging(self.node.get_logger().name)
        sys.setswitchinterval(_SWITCH_INTERVAL)
        gc.collect()  # what is left is collected no more: that would stop threads for a tick

    def begin(self, end: ProcessEnd) -> bool:
        """Trigger the configured transitions; return whether they succeeded."""
        self.node.signals = lambda: end.signals
        systemd = SystemdNotifier(os.environ)
        systemd.unwatch()
        if not self.node.autostart():
            return False
        systemd.ready()
        return True


@contextmanager
def non_blocking_output() -> Iterator[None]:
    """Drop output that nobody reads, as after Ctrl-S in a terminal, instead of waiting.

    The ROS log writes to standard error in C code, which holds the interpreter's lock: a write
    that blocks would stop all threads. So each output becomes a pipe that does not block. A `cat`
    copies it to where the output went before, also after this process has crashed.
    """
    if sys.stderr.isatty():  # of which the ROS log would no longer know
        os.environ.setdefault("RCUTILS_COLORIZED_OUTPUT", "1")
    copies = [_copy_output(stream.fileno()) for stream in (sys.stdout, sys.stderr)]
    try:
        yield
    finally:
        for stream, (original, process) in zip((sys.stdout, sys.stderr), copies, strict=True):
            with suppress(BlockingIOError):
                stream.flush()
            os.dup2(original, stream.fileno())  # closes the pipe, which ends `cat`
            os.close(original)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_FLUSH_TIMEOUT)


def _copy_output(descriptor: int) -> tuple[int, subprocess.Popen[bytes]]:
    """Replace an output by a pipe; return a descriptor of the original and the copying process."""
    original = os.dup(descriptor)
    read, write = os.pipe()
    os.set_blocking(write, False)
    process = subprocess.Popen(["cat"], stdin=read, stdout=original, preexec_fn=_ignore_signals)
    os.dup2(write, descriptor)
    os.close(read)
    os.close(write)
    return original, process


def _ignore_signals() -> None:
    """Make a new process end with its input and not by a signal to the whole process group."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)


def main() -> int:
    """Run the node until it is asked to end; return the exit code."""
    driver = _Driver()
    with non_blocking_output():
        return run_node(
            driver.make,
            (HardwareError,),
            executor=partial(MultiThreadedExecutor, _THREADS),
            begin=driver.begin,
            close=lambda: driver.node.close(),
        )


if __name__ == "__main__":
    sys.exit(main())
