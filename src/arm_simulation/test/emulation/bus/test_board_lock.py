# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Only one process drives a board."""

import os
import subprocess
import sys

import pytest
from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.commands import release
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import BusError

HOLD = """
import sys
from pathlib import Path
from arm_hardware.bus.board_lock import BoardLock
BoardLock(Path(sys.argv[1]), 0x40).acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def node(tmp_path):
    file = tmp_path / "board"
    file.touch()
    return file


@pytest.fixture
def other(node):
    """Another process that holds the lock of the board at 0x40."""
    command = [sys.executable, "-c", HOLD, str(node)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_second_process_is_refused_with_the_id_of_the_first(node, other):
    lock = BoardLock(node, 0x40)
    with pytest.raises(BusError, match=rf"0x40 of {node} is in use by process {other.pid};"):
        lock.acquire()
    assert lock.holder() == other.pid
    BoardLock(node, 0x41).acquire()
    other.kill()
    other.wait(30)
    assert lock.holder() is None
    lock.acquire()
    assert lock.holder() == os.getpid()


def test_lock_survives_the_closing_of_other_descriptors(node):
    lock = BoardLock(node, 0x40)
    lock.acquire()
    lock.acquire()
    node.open("rb+").close()
    with pytest.raises(BusError, match=f"process {os.getpid()}"):
        BoardLock(node, 0x40).acquire()
    lock.release()
    assert lock.holder() is None
    BoardLock(node, 0x40).acquire()


def test_device_nodes_can_be_locked():
    lock = BoardLock("/dev/zero", 0x13)
    lock.acquire()
    assert BoardLock("/dev/zero", 0x13).holder() == os.getpid()
    lock.release()


def test_missing_node_is_one_sentence(tmp_path):
    lock = BoardLock(tmp_path / "none", 0x40)
    with pytest.raises(BusError, match="cannot be locked"):
        lock.acquire()
    assert lock.holder() is None


def test_second_driver_of_a_board_is_refused_until_the_first_ends(make_bench, backend, tmp_path):
    first, second = (
        make_bench(backend=backend, sim_registers=str(tmp_path / "board")) for _ in range(2)
    )
    first.armed()
    writes = second.chip.channel_writes
    for _ in range(2):
        with pytest.raises(BusError, match="in use by process"):
            second.driver.open()
    assert second.chip.channel_writes == writes
    first.driver.close("hold")
    second.armed()
    assert second.controller.state is DriverState.ARMED


def test_release_works_while_a_driver_holds_the_board(make_bench, tmp_path, capsys):
    bench = make_bench(sim_registers=str(tmp_path / "board"))
    bench.armed()
    bench.go(0.5, -0.5, 0.5, 1.0)
    bench.tick(10)
    assert release.main(["--sim", str(tmp_path / "board")]) == 0
    assert f"; process {os.getpid()}, which drives it, faults." in capsys.readouterr().out
    bench.tick(10)
    assert bench.controller.state is DriverState.FAULT and not any(bench.pulses)
