# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The time that a driver shares with a simulated world."""

import threading

import pytest
from arm_hardware.clock import driver_clock
from arm_hardware.errors import HardwareError
from arm_hardware.motion.options import DriverOptions
from arm_hardware.shared_pace import SharedPace

FRAME = 0.02


def test_neither_driver_nor_world_gets_ahead(tmp_path):
    """Each round needs the other one's step, from another mapping of the file."""
    clock, world = driver_clock(1.0, str(tmp_path / "pace")), SharedPace.in_file(tmp_path / "pace")
    end, seen = threading.Event(), []

    def drive():
        for i in range(1, 101):
            clock.sleep_until(i * FRAME, end)
            seen.append(clock.now())

    thread = threading.Thread(target=drive)
    thread.start()
    for i in range(100):
        while not world.may_advance:
            assert thread.is_alive()
        assert len(seen) == i
        world.world = (i + 1) * FRAME
    thread.join(5.0)
    assert not world.may_advance
    assert seen == pytest.approx([i * FRAME for i in range(1, 101)])
    assert clock.simulated


def test_driver_ends_while_the_world_stands_still(tmp_path):
    clock, end = driver_clock(1.0, str(tmp_path / "pace")), threading.Event()
    end.set()
    clock.sleep_until(1.0, end)
    assert clock.now() == 0.0


def test_wrong_use_is_one_sentence(tmp_path):
    with pytest.raises(HardwareError, match="cannot be written"):
        driver_clock(1.0, str(tmp_path / "none" / "pace"))
    for wrong in ({"hardware": "fake"}, {"hardware": "sim", "speed": 2.0}):
        with pytest.raises(HardwareError, match="sim_pace is for hardware sim at speed 1"):
            DriverOptions(sim_pace="pace", **wrong).check()
