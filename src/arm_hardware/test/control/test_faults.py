# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A driver on a bus with faults: ticked by hand, on every backend."""

import errno
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from arm_hardware.control import loop
from arm_hardware.control.state_machine import DriverState
from arm_hardware.driver import Driver
from arm_hardware.errors import BusError, HardwareError, StateError
from arm_hardware.motion.goal_validation import single_point_goal
from arm_hardware.motion.options import DriverOptions

THERE = (0.5, -0.5, 0.5, 1.0)
ERRORS = [errno.EIO, errno.EREMOTEIO, errno.ETIMEDOUT]


class Bench:
    """A simulated driver whose control loop is turned by hand."""

    def __init__(self, model, backend, clock) -> None:
        self.driver = Driver(model, DriverOptions(hardware="sim", backend=backend), clock)
        self.sim, self.controller = self.driver.sim, self.driver.controller
        self.driver.loop.start = lambda: None
        self.driver.open()

    def arm(self) -> None:
        self.controller.arm()
        while self.controller.arming:
            self.controller.tick()

    def go(self, *q, time=1.0):
        return self.controller.follow(single_point_goal(self.driver.axes, time, q))

    def ticks(self, number: int) -> None:
        """Turn the loop, as it does: what a tick raises it logs."""
        for _ in range(number):
            try:
                self.controller.tick()
            except HardwareError as error:
                assert str(error) == self.controller.snapshot().message

    def pulses(self) -> list[int]:
        return [self.sim.chip.count(servo.channel) for servo in self.driver.output.maps]

    def assert_rearms_and_moves(self) -> None:
        """Clear the fault as a person would: deactivate, activate."""
        with pytest.raises(StateError, match="FAULT"):
            self.go(*THERE)
        self.controller.disarm("deactivated.")
        self.arm()
        goal = self.go(*THERE)
        self.ticks(200)
        assert goal.done and goal.message.startswith("Commanded to the goal")
        assert self.controller.state is DriverState.ARMED and self.sim.chip.running


@pytest.fixture
def bench(model, backend, clock):
    made = Bench(model, backend, clock)
    made.arm()
    yield made
    made.sim.faults.clear()
    made.driver.close()


@pytest.mark.parametrize("number", ERRORS)
@pytest.mark.parametrize("transfers", [1, 2])
def test_a_single_fault_is_repeated_counted_and_unseen(bench, number, transfers):
    goal = bench.go(*THERE)
    for _ in range(20):
        bench.sim.faults.fail_next(number, transfers)
        bench.ticks(1)
    bench.ticks(100)
    assert goal.message.startswith("Commanded to the goal")
    assert bench.controller.state is DriverState.ARMED
    assert bench.driver.output.bus.faults == bench.sim.faults.failed > 10


def test_random_faults_are_unseen(bench):
    bench.sim.faults.fail_randomly(0.02, seed=3)
    for _ in range(5):
        for q in (THERE, (0.0,) * 4):
            goal = bench.go(*q)
            bench.ticks(120)
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
def test_a_lasting_fault_needs_arming_again(bench, number, remedy):
    goal = bench.go(*THERE)
    bench.ticks(10)
    before = bench.pulses()
    bench.sim.faults.fail(number)
    bench.ticks(5)
    assert bench.controller.state is DriverState.FAULT and goal.done
    message = bench.controller.snapshot().message
    assert remedy in message and message.endswith("then deactivate and activate.")
    assert "0x40 of the simulated bus" in message
    bench.controller.stop()
    with pytest.raises(StateError):
        bench.controller.reset()
    bench.sim.faults.clear()
    bench.ticks(5)
    assert bench.pulses() == before
    bench.controller.disarm("deactivated.")
    bench.controller.reset()
    bench.controller.fail(message)
    bench.assert_rearms_and_moves()


def test_arming_on_a_dead_bus_fails_with_one_sentence(model, backend, clock):
    bench = Bench(model, backend, clock)
    bench.sim.faults.fail()
    with pytest.raises(BusError, match="no chip acknowledges"):
        bench.controller.arm()
    assert bench.controller.state in (DriverState.UNKNOWN, DriverState.DISARMED)
    bench.sim.faults.clear()
    bench.arm()
    assert bench.controller.state is DriverState.ARMED
    bench.driver.close()


@pytest.mark.parametrize("number", ERRORS)
def test_opening_survives_a_single_fault_at_every_transfer(model, backend, clock, number):
    for k in range(12):
        driver = Driver(model, DriverOptions(hardware="sim", backend=backend), clock)
        driver.loop.start = lambda: None
        driver.sim.faults.fail_after(k, number)
        driver.open()
        driver.controller.arm()
        driver.close()


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("fate", ["reset", "cycle"])
def test_a_board_that_was_reset_is_noticed(bench, moving, fate):
    if moving:
        bench.go(*THERE, time=2.0)
        bench.ticks(10)
    if fate == "cycle":
        bench.sim.chip.power_off()
    bench.sim.chip.power_on()
    bench.ticks(6)  # a tenth of a second
    assert bench.controller.state is DriverState.FAULT
    assert "reset or lost its power" in bench.controller.snapshot().message
    seen = []
    bench.sim.chip.changed = lambda: seen.append(
        [bench.sim.chip.pulse_us(servo.channel) for servo in bench.driver.output.maps]
    )
    bench.controller.disarm("deactivated.")
    bench.controller.arm()
    # What the driver wrote into the sleeping board meanwhile does not come alive: each servo
    # waits for its turn.
    assert not any(any(pulses) for pulses in seen)
    bench.controller.fail("again")
    bench.assert_rearms_and_moves()


def test_a_board_that_loses_its_power_in_mid_motion(bench):
    bench.go(*THERE, time=2.0)
    bench.ticks(10)
    bench.sim.chip.power_off()
    bench.ticks(2)
    assert bench.controller.state is DriverState.FAULT
    bench.controller.disarm("deactivated.")
    with pytest.raises(BusError, match="no chip acknowledges"):
        bench.controller.arm()
    bench.sim.chip.power_on()
    bench.controller.fail("again")
    bench.assert_rearms_and_moves()


def test_another_program_on_the_board_is_noticed(bench):
    bench.sim.chip.write(bytes([0x06 + 4 * 2, 0, 0, 0xE8, 0x01]))
    bench.ticks(40)
    assert bench.controller.state is DriverState.FAULT
    assert "Channel 2" in bench.controller.snapshot().message
    assert "another program" in bench.controller.snapshot().message


def test_a_moved_address_is_named_at_the_start(model, backend, clock):
    driver = Driver(model, DriverOptions(hardware="sim", backend=backend), clock)
    driver.sim.i2c.move(0x40, 0x43)
    with pytest.raises(BusError, match=r"0x40 of the simulated bus.*answer: 0x43"):
        driver.open()


@pytest.mark.parametrize("how", ["block", "lock"])
def test_a_stuck_bus_at_the_start_is_one_sentence(model, backend, clock, how):
    driver = Driver(model, DriverOptions(hardware="sim", backend=backend), clock)
    stick(driver.sim.faults, how)
    with pytest.raises(BusError, match=r"simulated bus.*the bus is stuck.*configure again"):
        driver.open()


@pytest.mark.parametrize("how", ["block", "lock"])
def test_a_bus_that_sticks_is_a_fault_and_nothing_hangs(bench, how):
    bench.go(*THERE, time=2.0)
    bench.ticks(10)
    stick(bench.sim.faults, how)
    bench.ticks(3)
    assert bench.controller.state is DriverState.FAULT
    assert "the bus is stuck" in bench.controller.snapshot().message
    bench.sim.faults.clear()
    bench.assert_rearms_and_moves()


def stick(faults, how: str) -> None:
    if how == "block":
        faults.block()
    else:
        faults.locked = True


def test_slow_transfers_are_late_but_whole(bench, clock):
    bench.sim.faults.delay = 0.004
    goal = bench.go(*THERE)
    before = clock.now()
    bench.ticks(120)
    assert goal.message.startswith("Commanded to the goal") and clock.now() > before + 0.2


class Gate:
    """A transfer that hangs until it is let go."""

    def __init__(self, chip) -> None:
        self.reached, self.free = threading.Event(), threading.Event()
        self._write, chip.write = chip.write, self

    def __call__(self, data: bytes) -> None:
        if len(data) > 2:  # a channel
            self.reached.set()
            assert self.free.wait(30)
        self._write(data)


def test_a_stop_is_answered_while_a_transfer_hangs_and_no_other_channel_follows(bench):
    bench.go(*THERE, time=2.0)
    bench.ticks(10)
    before, gate = bench.pulses(), Gate(bench.sim.chip)
    tick = threading.Thread(target=bench.ticks, args=(1,))
    tick.start()
    assert gate.reached.wait(30)
    bench.controller.stop()  # returns, though the tick has the lock and the bus
    assert tick.is_alive()
    gate.free.set()
    tick.join(30)
    changed = [a != b for a, b in zip(before, bench.pulses(), strict=True)]
    assert sum(changed) <= 1, "more than the transfer that was under way"
    held = bench.pulses()
    bench.ticks(10)
    assert bench.controller.state is DriverState.STOPPED and bench.pulses() == held
    bench.controller.reset()
    bench.ticks(10)
    assert bench.controller.state is DriverState.ARMED and bench.pulses() == held
    goal = bench.go(*THERE, time=2.0)
    bench.ticks(150)
    assert goal.message.startswith("Commanded to the goal")


def test_nothing_is_repeated_after_a_stop(bench):
    bench.go(*THERE, time=2.0)
    bench.ticks(10)
    before = bench.pulses()

    def fail_and_stop(_):
        del bench.sim.chip.write
        bench.controller.stop()
        raise OSError(errno.EIO, "on purpose")

    bench.sim.chip.write = fail_and_stop
    bench.ticks(3)
    assert bench.controller.state is DriverState.STOPPED and bench.pulses() == before


def test_closing_on_a_dead_bus_says_so_and_ends(model, backend, clock, caplog):
    options = DriverOptions(hardware="sim", backend=backend, exit_action="release")
    driver = Driver(model, options, clock)
    driver.loop.start = lambda: None
    driver.open()
    driver.begin_arming()
    driver.sim.faults.fail()
    driver.close()
    assert "could not be released" in caplog.text


def test_closing_does_not_wait_for_a_transfer_without_end(model, monkeypatch, caplog):
    monkeypatch.setattr(loop, "CLOSE_WITHIN", 0.05)
    driver = Driver(model, DriverOptions(hardware="sim", backend="i2c_dev", exit_action="release"))
    driver.open()
    driver.arm()
    gate = Gate(driver.sim.chip)
    driver.controller.follow(single_point_goal(driver.axes, 1.0, THERE))
    assert gate.reached.wait(30)
    driver.close()
    assert "hangs in a transfer" in caplog.text
    gate.free.set()


PAGE = Path(__file__).parents[4] / "docs" / "hardware.md"


def test_the_rehearsal_on_the_page_of_the_hardware_works():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.count("\n") == 1 and "Traceback" not in done.stderr
