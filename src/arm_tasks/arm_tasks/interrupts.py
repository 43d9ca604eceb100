# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C between two rounds of the executor, never in the middle of one.

Raised inside rclpy's C++ code, KeyboardInterrupt comes out as a RuntimeError about a conversion.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deferred() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back; what came meanwhile is a KeyboardInterrupt at the end."""
    heard: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda n, _: heard.append(n)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    if heard:
        raise KeyboardInterrupt
