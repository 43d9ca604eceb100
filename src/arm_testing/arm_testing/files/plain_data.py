# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plain data as in a YAML file: the paths of its values, and access by path."""

import functools
import operator
from collections.abc import Iterator
from typing import Any


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value, the outermost first."""
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


def at(data: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at a path."""
    return functools.reduce(operator.getitem, path, data)
