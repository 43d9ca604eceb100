# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Messages that serve again in the next answer, for to make one takes longer than to fill it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

M = TypeVar("M")


class Reused(Generic[M]):
    """A stock of messages; each answer has to be sent before the next one is begun.

    Args:
        make: Makes a message. Whoever fills one writes every field that was ever written.
    """

    def __init__(self, make: Callable[[], M]) -> None:
        self._make = make
        self._made: list[M] = []

    def take(self, count: int) -> list[M]:
        """Return so many messages."""
        while len(self._made) < count:
            self._made.append(self._make())
        return self._made[:count]
