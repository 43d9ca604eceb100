# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What every node's main does: start, spin, and end without a traceback whatever ends it.

rclpy in a program at a terminal: signals end it as Ctrl-C does, in the program's own order.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from arm_common.ros.executor import StaticExecutor
from arm_common.signals import raise_interrupt

LONGEST_WAIT = 0.5  # s
LONGEST_END = 8.0  # s, until a process that a signal ends is gone; launch kills after 10
LONGEST_SHUTDOWN = 2.0  # s, of rclpy's own after a signal


def described(text: str) -> ParameterDescriptor:
    """Return the descriptor of a parameter that is read once, at the start."""
    return ParameterDescriptor(description=text, read_only=True)


def run_node(
    make: Callable[[], Sequence[Node]], errors: tuple[type[Exception], ...], nap: float = 0.0
) -> int:
    """Run nodes on one executor until SIGINT, SIGTERM or shutdown.

    Args:
        make: Makes the nodes.
        errors: What it may raise for bad input; said in one line.
        nap: How long messages may gather [s]; not in simulated time, whose pace is another.

    Returns:
        The exit code: 0 after a signal, 1 after bad input.
    """
    ends = _SignalHandler()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ends.on_signal)
    rclpy.init()
    nodes: list[Node] = []
    executor: StaticExecutor | None = None
    try:
        nodes += make()
        simulated = any(node.get_parameter("use_sim_time").value for node in nodes)
        executor = StaticExecutor(0.0 if simulated else nap)
        for node in nodes:
            executor.add_node(node)
        ends.in_order = True
        # and not spin(): it can miss a shutdown and then waits for ever
        while rclpy.ok() and not ends.has_come:
            executor.spin_once(timeout_sec=LONGEST_WAIT)
    except errors as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except ExternalShutdownException:
        pass
    except Exception:
        if rclpy.ok():
            raise  # else a call of rclpy failed because the context was just shut down
    finally:
        ends.wait_for_rclpy()
        if executor is not None:
            executor.shutdown()  # it holds what is to be taken down
        for node in nodes:  # by hand, for the interpreter's end may take things in a wrong order
            node.destroy_node()
        rclpy.try_shutdown()
        faulthandler.cancel_dump_traceback_later()
    return 0


class _SignalHandler:
    """What a signal does. Python's own handler would raise in the middle of whatever is going on.

    Attributes:
        in_order: Whether the nodes are made, and are taken down so that others hear of the end.
        has_come: Whether a signal has come since then.
    """

    def __init__(self) -> None:
        self.in_order = self.has_come = False

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Before the spinning, end at once; then let the loop end, in which rclpy may end it, too.

        To shut down here could wait for ever for a lock that the interrupted code holds. Whatever
        else waits for ever then, its place is written to the log and the process ends.
        """
        del number, frame
        if not self.in_order:
            os._exit(0)
        if not self.has_come:
            faulthandler.dump_traceback_later(LONGEST_END, exit=True)
        self.has_come = True

    def wait_for_rclpy(self) -> None:
        """Let the thread in which rclpy shuts down for a signal end before anything is taken away.

        It triggers guard conditions, which must be there, and then the context is not valid.
        """
        end = time.monotonic() + LONGEST_SHUTDOWN
        while self.has_come and rclpy.ok() and time.monotonic() < end:
            time.sleep(0.01)


@contextmanager
def session() -> Iterator[None]:
    """Have rclpy from here to the end; SIGTERM and SIGHUP raise KeyboardInterrupt."""
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, raise_interrupt)
    try:
        yield
    finally:
        rclpy.try_shutdown()
