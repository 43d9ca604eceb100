# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that create objects on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")


def factory(make: Callable[..., T], end: Callable[[T], object]) -> Iterator[Callable[..., T]]:
    """Yield a function that creates objects with ``make``; afterwards end each of them."""
    made: list[T] = []

    def create(*arguments: object, **options: object) -> T:
        made.append(make(*arguments, **options))
        return made[-1]

    yield create
    for one in made:
        end(one)
