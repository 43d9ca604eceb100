# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Writes slow_tests.txt, the tests that ./arm test --fast omits, from the CPU time of a run.

Files and folders that it names stay, such as those of whole transfers.

./arm test -q --cores -m "not thorough" -p arm_testing.slow_tests
"""

import collections
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

LIMIT = 0.3  # [s] of a test with all its parameters, child processes included
FILE = Path(__file__).with_suffix(".txt")
_seconds = collections.Counter[str]()


def _cpu_seconds() -> float:
    parts = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = _cpu_seconds()
    try:
        return (yield)
    finally:
        _seconds[item.nodeid.partition("[")[0]] += _cpu_seconds() - before


def pytest_sessionfinish() -> None:
    slow = sorted(name for name, seconds in _seconds.items() if seconds > LIMIT)
    whole = [line for line in FILE.read_text(encoding="utf-8").split() if "::" not in line]
    FILE.write_text("".join(f"{name}\n" for name in (*whole, *slow)), encoding="utf-8")
