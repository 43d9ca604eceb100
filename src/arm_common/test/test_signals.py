# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Signal handling from the first import to the end."""

import signal

import pytest
from arm_common.signals import INTERRUPTED, deferred, interrupt_on_signals
from arm_testing.programs.processes import end, start_python

IMPORTING = """
import sys
from arm_common import signals
sys.path.insert(0, {folder!r})
sys.exit(signals.{kind}_entry_point("slow")())
"""
# A single long sleep does not notice a signal that arrives just before it begins.
SLOW = """
import time
print("slow", flush=True)
for _ in range(600):
    time.sleep(0.1)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("kind", "code"), [("node", 0), ("tool", INTERRUPTED)])
def test_signal_during_the_imports_exits_silently(tmp_path, kind, code, number):
    (tmp_path / "slow.py").write_text(SLOW)
    process = start_python("-c", IMPORTING.format(folder=str(tmp_path), kind=kind))
    assert process.stdout.readline() == "slow\n"
    assert end(process, number) == (code, "")


WAITING = """
import sys, time
from arm_common.signals import ended_at_once
with ended_at_once():
    print("begun", flush=True)
    for _ in range(600 * int(sys.argv[1])):
        time.sleep(0.1)
print("end", flush=True)
for _ in range(600):
    time.sleep(0.1)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_a_process_at_once_where_nothing_has_to_be_cleaned_up(number):
    process = start_python("-c", WAITING, "1")
    assert process.stdout.readline() == "begun\n"
    assert end(process, number) == (INTERRUPTED, "")


def test_signal_is_handled_as_before_afterwards():
    process = start_python("-c", WAITING, "0")
    assert [process.stdout.readline() for _ in range(2)] == ["begun\n", "end\n"]
    _, output = end(process, signal.SIGINT)
    assert "KeyboardInterrupt" in output


ENDING = """
import atexit
class Slow:
    def __del__(self):
        print("torn down")
kept = [Slow()]
kept.append(kept)
def main():
    atexit.register(print, "exit function")
    {end}
"""


@pytest.mark.parametrize(
    ("last", "code", "shown"),
    [
        ("return 3", 3, "exit function\n"),
        ("raise KeyError", 1, "exit function\ntorn down\n"),
    ],
)
def test_node_that_has_ended_is_not_torn_down(tmp_path, last, code, shown):
    (tmp_path / "slow.py").write_text(ENDING.format(end=last))
    process = start_python("-c", IMPORTING.format(folder=str(tmp_path), kind="node"))
    output, _ = process.communicate(timeout=20)
    assert process.returncode == code
    assert output.endswith(shown) and ("Traceback" in output) == ("raise" in last)


@pytest.fixture
def handlers():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_interrupt_a_tool(handlers, number):
    interrupt_on_signals()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def test_deferred_signal_interrupts_at_the_end(handlers):
    done = []
    with pytest.raises(KeyboardInterrupt), deferred():
        signal.raise_signal(signal.SIGINT)
        done.append(True)
    assert done
