# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""rclpy in a program at a terminal: signals end it as Ctrl-C does, in the program's own order."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.signals import SignalHandlerOptions

from arm_tasks.demo import raise_interrupt


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
