# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import errno
import functools
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from arm_hardware.control import loop
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import ARM, BusError, StateError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import single_point_goal
from arm_testing.repository import repository

THERE = (0.5, -0.5, 0.5, 1.0)
ERRORS = [errno.EIO, errno.EREMOTEIO, errno.ETIMEDOUT]


@pytest.fixture
def new(make_bench, backend):
    return functools.partial(make_bench, backend=backend)


@pytest.fixture
def bench(new):
    return new().armed()


def assert_rearms_and_moves(bench) -> None:
    with pytest.raises(StateError, match="FAULT"):
        bench.go(*THERE)
    bench.controller.disarm()
    bench.arm()
    goal = bench.go(*THERE)
    bench.tick(200)
    assert goal.message.startswith("Commanded to the goal")
    assert bench.controller.state is DriverState.ARMED and bench.chip.running


@pytest.mark.parametrize("number", ERRORS)
@pytest.mark.parametrize("transfers", [1, 2])
def test_single_faults_are_retried_and_counted(bench, number, transfers):
    goal = bench.go(*THERE)
    for _ in range(20):
        bench.faults.fail_next(number, transfers)
        bench.tick(1)
    bench.tick(100)
    assert goal.message.startswith("Commanded to the goal")
    assert bench.controller.state is DriverState.ARMED
    assert bench.driver.output.bus.faults == bench.faults.failed > 10


def test_random_faults_do_not_disturb_a_motion(bench):
    bench.faults.fail_randomly(0.02, seed=3)
    for q in 5 * (THERE, (0.0,) * 4):
        goal = bench.go(*q)
        bench.tick(120)
        assert goal.message.startswith("Commanded to the goal")
    assert bench.driver.output.bus.faults > 10


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EIO, "disturbed; check the wires"),
        (errno.EREMOTEIO, "no chip acknowledges; check its power"),
        (errno.ETIMEDOUT, "the bus is stuck"),
        (errno.EPERM, "check power and wires"),
    ],
)
def test_persistent_fault_requires_rearming(bench, number, remedy):
    goal = bench.go(*THERE)
    bench.tick(10)
    before = bench.pulses
    bench.faults.fail(number)
    bench.tick(5)
    assert bench.controller.state is DriverState.FAULT and goal.done
    message = bench.message
    assert remedy in message and "0x40 of the simulated bus" in message
    assert message.endswith(f"then run {ARM}.")
    bench.controller.stop()
    with pytest.raises(StateError, match=r"The stop is latched; run .* before arming"):
        bench.controller.arm()
    bench.controller.reset()
    with pytest.raises(StateError, match="hardware failed"):
        bench.controller.reset()
    bench.faults.clear()
    bench.tick(5)
    assert bench.pulses == before and bench.message == message
    assert_rearms_and_moves(bench)


def test_arming_on_a_dead_bus_is_one_sentence(new):
    bench = new()
    bench.driver.open()
    bench.faults.fail()
    with pytest.raises(BusError, match="no chip acknowledges"):
        bench.controller.arm()
    assert bench.controller.state in (DriverState.UNKNOWN, DriverState.DISARMED)
    bench.faults.clear()
    bench.arm()
    assert bench.controller.state is DriverState.ARMED


@pytest.mark.parametrize("number", ERRORS)
def test_opening_survives_a_fault_at_any_transfer(new, number):
    for k in range(12):
        bench = new()
        bench.faults.fail_after(k, number)
        bench.driver.open()
        bench.controller.arm()


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("fate", ["reset", "cycle"])
def test_board_reset_is_detected(bench, moving, fate):
    if moving:
        bench.go(*THERE, time=2.0)
        bench.tick(10)
    if fate == "cycle":
        bench.chip.power_off()
    bench.chip.power_on()
    bench.tick(6)  # a tenth of a second
    assert bench.controller.state is DriverState.FAULT
    assert "reset or lost its power" in bench.message
    seen = []
    bench.chip.changed = lambda: seen.append(bench.pulses)
    bench.controller.disarm()
    bench.controller.arm()
    # What the driver wrote into the sleeping board meanwhile does not come alive: each servo
    # waits for its turn.
    assert not any(any(pulses) for pulses in seen)
    bench.controller.fail("again")
    assert_rearms_and_moves(bench)


def test_power_loss_in_motion_is_a_fault(bench):
    bench.go(*THERE, time=2.0)
    bench.tick(10)
    bench.chip.power_off()
    bench.tick(2)
    assert bench.controller.state is DriverState.FAULT
    bench.controller.disarm()
    with pytest.raises(BusError, match="no chip acknowledges"):
        bench.controller.arm()
    bench.chip.power_on()
    bench.controller.fail("again")
    assert_rearms_and_moves(bench)


def test_writes_by_another_program_are_detected(bench):
    bench.chip.write(bytes([0x06 + 4 * 2, 0, 0, 0xE8, 0x01]))
    bench.tick(40)
    assert bench.controller.state is DriverState.FAULT
    assert re.search("Channel 2.*another program", bench.message)


def test_changed_address_is_reported_on_open(new):
    bench = new()
    bench.sim.i2c.move(0x40, 0x43)
    with pytest.raises(BusError, match=r"0x40 of the simulated bus.*answer: 0x43"):
        bench.driver.open()


STICK = pytest.mark.parametrize(
    "stick", [lambda faults: faults.block(), lambda faults: setattr(faults, "locked", True)]
)


@STICK
def test_stuck_bus_on_open_is_one_sentence(new, stick):
    bench = new()
    stick(bench.faults)
    with pytest.raises(BusError, match=r"simulated bus.*the bus is stuck.*configure again"):
        bench.driver.open()


@STICK
def test_bus_that_gets_stuck_is_a_fault(bench, stick):
    bench.go(*THERE, time=2.0)
    bench.tick(10)
    stick(bench.faults)
    bench.tick(3)
    assert bench.controller.state is DriverState.FAULT
    assert "the bus is stuck" in bench.message
    bench.faults.clear()
    assert_rearms_and_moves(bench)


def test_slow_transfers_delay_but_complete_a_motion(bench, clock):
    bench.faults.delay = 0.004
    goal = bench.go(*THERE)
    before = clock.now()
    bench.tick(120)
    assert goal.message.startswith("Commanded to the goal") and clock.now() > before + 2.6


class Gate:
    def __init__(self, chip) -> None:
        self.reached, self.free = threading.Event(), threading.Event()
        self._write, chip.write = chip.write, self

    def __call__(self, data: bytes) -> None:
        if len(data) > 2:  # a channel
            self.reached.set()
            assert self.free.wait(30)
        self._write(data)


def test_stop_returns_while_a_transfer_hangs(bench):
    bench.go(*THERE, time=2.0)
    bench.tick(10)
    before, gate = bench.pulses, Gate(bench.chip)
    tick = threading.Thread(target=bench.tick, args=(1,))
    tick.start()
    assert gate.reached.wait(30)
    bench.controller.stop()  # returns, though the tick has the lock and the bus
    assert tick.is_alive()
    gate.free.set()
    tick.join(30)
    changed = [a != b for a, b in zip(before, bench.pulses, strict=True)]
    assert sum(changed) <= 1, "more than the transfer that was under way"
    held = bench.pulses
    bench.tick(10)
    assert bench.controller.state is DriverState.STOPPED and bench.pulses == held
    bench.controller.reset()
    bench.tick(10)
    assert bench.controller.state is DriverState.ARMED and bench.pulses == held
    goal = bench.go(*THERE, time=2.0)
    bench.tick(150)
    assert goal.message.startswith("Commanded to the goal")


def test_failed_transfer_is_not_retried_after_a_stop(bench):
    bench.go(*THERE, time=2.0)
    bench.tick(10)
    before = bench.pulses

    def fail_and_stop(_):
        del bench.chip.write
        bench.controller.stop()
        raise OSError(errno.EIO, "on purpose")

    bench.chip.write = fail_and_stop
    bench.tick(3)
    assert bench.controller.state is DriverState.STOPPED and bench.pulses == before


def test_closing_on_a_dead_bus_is_logged(new, caplog):
    bench = new(exit_action="release")
    bench.driver.open()
    bench.driver.begin_arming()
    bench.faults.fail()
    bench.driver.close()
    assert "could not be released" in caplog.text


def test_closing_does_not_wait_for_a_hanging_transfer(opened, monkeypatch, caplog):
    monkeypatch.setattr(loop, "CLOSE_WITHIN", 0.05)
    driver = opened(exit_action="release")
    driver.arm()
    gate = Gate(driver.emulation.chip)
    driver.controller.follow(single_point_goal(driver.axes, 1.0, THERE))
    assert gate.reached.wait(30)
    driver.close()
    assert "hangs in a transfer" in caplog.text
    gate.free.set()


def test_example_on_the_hardware_page_works():
    (code,) = re.findall(
        r"```python\n(.*?)```", (repository() / "docs" / "hardware.md").read_text(), re.DOTALL
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.count("\n") == 1 and "Traceback" not in done.stderr


def test_stall_ends_motions_at_rest_where_they_were_sent(gentle):
    goal = gentle.follow((1.0, (0.5, -0.3, 0.3, 0.8)))
    grip = gentle.controller.grip(0.02)
    sent = gentle.tick(15)[-1]
    gentle.controller.stalled(3.0)
    assert goal.outcome is grip.outcome is GoalOutcome.ABORTED and "3.0 s" in goal.message
    assert gentle.controller.state is DriverState.ARMED
    assert "stalled for 3.0 s" in gentle.controller.snapshot().message
    for row in gentle.tick(20):
        np.testing.assert_array_equal(row, sent)
    assert gentle.run(gentle.follow((1.0, (0.0,) * 4))) and gentle.positions[0] == 0.0


def test_stall_during_arming_ends_it_and_at_rest_changes_nothing(rig, make_bench):
    bench = make_bench(recovery="slow")
    bench.driver.open()
    bench.controller.arm()
    bench.tick(3)
    bench.controller.stalled(3.0)
    assert bench.controller.state is DriverState.UNKNOWN and not bench.controller.arming
    assert "not armed" in bench.message
    rig.arm()
    before = rig.controller.snapshot()
    rig.controller.stalled(3.0)
    assert rig.controller.snapshot() == before
