# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Data corrupted on the bus, and registers that somebody else writes."""

import errno
from itertools import cycle

import pytest
from arm_hardware.bus.retrying_bus import EQUAL_READS, confirmed
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import BusError

THERE, BACK = (0.5, -0.5, 0.5, 1.0), (0.0,) * 4
MODE1, MODE2, LED0 = 0x00, 0x01, 0x06


@pytest.fixture
def bench(make_bench, backend):
    return make_bench(backend=backend).armed()


def maps(bench):
    return bench.driver.output.maps


def register(channel: int, count: int) -> bytes:
    return bytes([LED0 + 4 * channel, 0, 0, count & 0xFF, count >> 8])


def tick_within_bounds(bench, number: int) -> None:
    """Tick; after each, every channel sends what was commanded, within its pulse limits."""
    for _ in range(number):
        bench.tick()
        sent = [bench.chip.count(servo.channel) for servo in maps(bench)]
        assert sent == bench.driver.output.counts
        assert all(s.counts[0] <= n <= s.counts[1] for s, n in zip(maps(bench), sent, strict=True))


def assert_arrives(bench, *q) -> None:
    goal = bench.go(*q)
    tick_within_bounds(bench, 75)
    assert goal.message.startswith("Commanded to the goal"), goal.message


@pytest.mark.parametrize("byte", range(5))
def test_flipped_bit_of_a_write_is_put_right_in_the_same_tick(bench, byte):
    for bit in range(8):
        goal = bench.go(*((0.1,) * 4 if bit % 2 else BACK), time=0.4)
        bench.tick(10)
        bench.faults.flip_next_write(byte, bit)
        tick_within_bounds(bench, 20)
        assert goal.message.startswith("Commanded to the goal"), goal.message
    assert bench.faults.flipped == 8 and bench.driver.output.bus.rewrites >= 1


@pytest.mark.parametrize("corrupt", ["flip_reads", "flip_writes"])
def test_motion_survives_a_flipped_bit_in_each_twentieth_transfer(bench, corrupt):
    getattr(bench.faults, corrupt)(0.05, seed=5)
    for _, q in zip(range(6), cycle((THERE, BACK)), strict=False):
        assert_arrives(bench, *q)
    assert bench.faults.flipped > 50


def test_arming_and_opening_survive_flipped_bits(make_bench, backend):
    for seed in range(8):
        bench = make_bench(backend=backend)
        bench.faults.flip_reads(0.05, seed)
        bench.faults.flip_writes(0.05, seed)
        bench.driver.open()
        bench.arm()
        assert bench.controller.state is DriverState.ARMED, bench.message
        assert bench.chip.running and bench.chip.registers[MODE2] == 0x04
        bench.faults.clear()
        assert bench.pulses == [
            n * s.setpoint_per_count
            for n, s in zip(bench.driver.output.counts, maps(bench), strict=True)
        ]


def test_corruption_is_logged_without_a_flood(bench, caplog):
    bench.faults.flip_writes(0.05, seed=1)
    for q in (THERE, BACK, THERE):
        assert_arrives(bench, *q)
    said = [r.message for r in caplog.records if "the bus corrupts data" in r.message.lower()]
    assert 1 <= len(said) <= 3 < bench.driver.output.bus.rewrites


def test_channel_that_keeps_no_write_is_switched_off(bench, monkeypatch):
    bench.go(*THERE, time=2.0)
    bench.tick(10)
    write = bench.chip.write

    def stuck(data: bytes) -> None:
        """Set a bit of each count written to channel 2: 431 becomes 943."""
        if len(data) == 5 and data[0] == LED0 + 8 and not data[4] & 0x10:
            data = bytes([*data[:4], data[4] | 0x02])
        write(data)

    monkeypatch.setattr(bench.chip, "write", stuck)
    bench.tick(10)
    assert bench.controller.state is DriverState.FAULT and bench.chip.count(2) == 0
    assert all(bench.chip.count(channel) for channel in (0, 1, 3))
    assert "the bus corrupts data" in bench.message
    assert bench.message.endswith("Switched off: Channel 2 of the servo board.")
    assert "another program" not in bench.message


@pytest.mark.parametrize("first", [0, 20])
def test_no_foreign_value_outlives_the_next_tick(bench, first):
    """A value between a read-back and the next write of its channel is overwritten at once."""
    found = 0
    for after in range(first, first + 20):
        bench.arm()
        bench.go(*(q if after % 2 else -q for q in THERE), time=3.0)
        bench.tick(20)
        bench.faults.write_by_others(register(1, 943), after)
        for _ in range(10):
            bench.tick()
            if bench.chip.count(1) == 943:
                bench.tick()
                found += 1
                message = bench.message
                assert "to 943 without this driver: another program writes" in message
                assert bench.controller.state is DriverState.FAULT and "corrupts" not in message
        assert bench.chip.count(1) != 943
        bench.controller.disarm()
    assert found >= 5


def test_foreign_writer_that_continues_is_always_found(bench):
    bench.go(*THERE, time=3.0)
    bench.tick(20)
    for after in range(0, 600, 11):
        bench.faults.write_by_others(register(1, 943), after)
    bench.tick(10)
    assert bench.controller.state is DriverState.FAULT and "another program" in bench.message


def test_one_foreign_write_on_a_bad_bus_is_put_back_logged_and_counted(bench, caplog):
    bench.go(*THERE, time=3.0)
    bench.driver.bus.rewrites += 100
    for unexplained in (0, 1):
        assert bench.driver.output.monitor.unexplained == unexplained
        bench.tick(20)
        bench.chip.write(register(1, 312))
        bench.tick()
        assert bench.chip.count(1) != 312
    assert bench.driver.output.monitor.unexplained == 1
    assert bench.controller.state is DriverState.FAULT and "another program" in bench.message
    (said,) = [r for r in caplog.records if "without a known cause" in r.message]
    assert "Channel 1" in said.message and "to 312" in said.message


def test_reads_that_always_fail_once_do_not_keep_the_tick(bench, monkeypatch):
    read, calls = bench.driver.bus.read_counts, 0

    def disturbed(channels):
        nonlocal calls
        calls += 1
        assert calls < 1000, "the tick does not end"
        if calls % 2:
            raise OSError(errno.EIO, "disturbed")
        return read(channels)

    bench.go(*THERE, time=3.0)
    bench.tick(20)
    monkeypatch.setattr(bench.driver.bus, "read_counts", disturbed)
    bench.tick()
    assert bench.controller.state is DriverState.FAULT and all(bench.pulses)
    assert "disturbed all the time" in bench.message


def test_foreign_write_is_found_among_flipped_reads(bench):
    bench.faults.flip_reads(0.05, seed=2)
    bench.go(*THERE, time=3.0)
    bench.tick(20)
    bench.chip.write(register(1, 312))
    bench.tick(10)
    assert bench.controller.state is DriverState.FAULT and "another program" in bench.message


def test_channels_switched_off_by_release_stay_off(bench):
    bench.go(*THERE, time=3.0)
    bench.tick(20)
    bench.chip.write(bytes([0xFD, 0x10]))  # ALL_LED_OFF_H
    bench.tick(10)
    assert bench.controller.state is DriverState.FAULT and not any(bench.pulses)
    assert "switched off by another program, such as release" in bench.message


@pytest.mark.parametrize("bit", [0x10, 0x08, 0x04, 0x01])  # INVRT, OCH, OUTDRV, OUTNE
def test_mode2_is_watched_and_set_again(bench, bit):
    goal = bench.go(*THERE, time=3.0)
    bench.tick(20)
    bench.chip.write(bytes([MODE2, 0x04 ^ bit]))
    bench.tick(6)
    assert bench.controller.state is DriverState.FAULT and goal.done
    assert "changed the servo board's mode registers" in bench.message
    assert bench.chip.registers[MODE2] == 0x04
    assert all(pulse < 2600.0 for pulse in bench.pulses)


def test_mode2_is_set_when_arming(make_bench, backend):
    bench = make_bench(backend=backend)
    bench.chip.write(bytes([MODE2, 0x19]))
    bench.driver.open()
    bench.arm()
    assert bench.chip.registers[MODE2] == 0x04 and bench.controller.state is DriverState.ARMED


def test_inverted_pulses_are_not_adopted(bench, make_bench, backend):
    bench.chip.write(bytes([MODE2, 0x14]))
    again = make_bench(backend=backend)
    again.sim.i2c.move(0x40, 0x41)
    again.sim.i2c._chips[0x40] = bench.chip
    with pytest.raises(BusError, match=r"sends pulses on channel 0.*inverted"):
        again.driver.open()


@pytest.mark.parametrize("event", ["power_off", "reset"])
def test_positions_are_unknown_after_a_fault(bench, event):
    bench.go(*THERE, time=3.0)
    bench.tick(20)
    getattr(bench.chip, event)()
    bench.tick(6)
    seen = bench.controller.snapshot()
    assert seen.state is DriverState.FAULT
    nothing = (None,) * len(seen.positions)
    assert (seen.positions, seen.counts, seen.servo_estimates) == (nothing,) * 3
    bench.controller.disarm()
    assert bench.controller.state is DriverState.UNKNOWN
    assert "Positions are unknown" in bench.message


def test_expected_value_needs_one_read_and_others_several():
    reads = iter([7, 7, 3])
    assert confirmed(lambda: next(reads), 3) == 3
    reads = iter([7, 5, *[7] * 9])
    assert confirmed(lambda: next(reads), 3) == 7
    assert len(list(reads)) == 9 - EQUAL_READS + 1


def test_reads_that_never_agree_are_an_error():
    reads = iter(range(100))
    with pytest.raises(OSError, match="differ") as caught:
        confirmed(lambda: next(reads), -1)
    assert caught.value.errno == errno.EBADMSG
