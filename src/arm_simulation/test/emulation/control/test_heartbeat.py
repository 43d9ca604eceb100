# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Watchdogs outside the process, as they see the control loop: systemd, and a circuit at OE."""

import errno
import itertools
import os
import socket
import threading
import time

import pytest
from arm_hardware.control.loop import SystemdNotifier
from arm_hardware.control.snapshot import DriverState
from arm_hardware.driver import Driver
from arm_hardware.errors import BusError, HardwareError
from arm_hardware.motion.options import DriverOptions
from arm_simulation.emulation.pca9685_chip import PCA9685_CHIP_CHANNELS
from arm_testing.waiting import wait_for

WATCHDOG = 0.1  # [s]
LINE = "GPIO17"


class Manager:
    """A service manager that receives notifications."""

    def __init__(self, address) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.setblocking(False)

    def received(self) -> list[str]:
        """Return the messages since the last call."""
        found = []
        try:
            while True:
                found.append(self.socket.recv(100).decode())
        except BlockingIOError:
            return found


@pytest.fixture
def manager(tmp_path, monkeypatch):
    """Return the service manager that the environment names."""
    path = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    monkeypatch.setenv("WATCHDOG_USEC", str(round(WATCHDOG * 1e6)))
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    made = Manager(path)
    yield made
    made.socket.close()


@pytest.fixture(autouse=True)
def oe_timeout(monkeypatch):
    """Return a function that sets the OE timeout [s], which a busy machine must not exceed."""

    def set_it(seconds):
        monkeypatch.setattr("arm_hardware.control.loop.OE_TIMEOUT", seconds)

    set_it(1e9)
    return set_it


class Hang:
    """A transfer that hangs within a tick of an armed driver until it is let go."""

    def __init__(self, driver) -> None:
        self.entered, self._go_on = threading.Event(), threading.Event()
        verify = driver.output.verify_registers

        def hang():
            self.entered.set()
            self._go_on.wait()
            verify()

        driver.output.verify_registers = hang
        assert self.entered.wait(10.0)

    def last(self, seconds: float) -> None:
        """Let time pass, in which nothing must happen."""
        time.sleep(seconds)

    def end(self) -> None:
        self._go_on.set()


def pulses(driver) -> int:
    return sum(driver.emulation.chip.pulse_us(c) > 0.0 for c in range(PCA9685_CHIP_CHANNELS))


def test_systemd_is_notified_while_ticks_run_and_not_while_one_hangs(opened, manager):
    driver = opened()
    assert manager.received()[0] == f"WATCHDOG_USEC={WATCHDOG * 1e6:.0f}"
    driver.arm()
    wait_for(lambda: "WATCHDOG=1" in manager.received(), "notification")
    hang = Hang(driver)
    manager.received()
    hang.last(3 * WATCHDOG)
    assert manager.received() == []
    hang.end()
    wait_for(lambda: manager.received() == ["WATCHDOG=1"], "notification after the hang")


def test_failing_ticks_are_ticks(opened, manager):
    driver = opened()
    driver.arm()
    driver.output.verify_registers = lambda: 1 / 0
    wait_for(lambda: driver.controller.state is DriverState.FAULT, "fault")
    manager.received()
    wait_for(lambda: "WATCHDOG=1" in manager.received(), "notification")


def test_systemd_does_not_watch_where_no_loop_is_meant_to_run(opened, manager):
    opened().close()
    assert manager.received()[-1] == "WATCHDOG_USEC=0"


def test_nothing_is_sent_without_a_service_manager(opened, manager, monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET")
    opened().close()
    assert manager.received() == []


def test_watchdog_of_another_process_is_not_ours(manager):
    environment = {**os.environ, "WATCHDOG_PID": "1"}
    notifier = SystemdNotifier(environment)
    notifier.watch()
    notifier.beat(1.0)
    notifier.ready()
    assert manager.received() == ["READY=1"]


def test_abstract_socket_is_reached():
    name = f"arm-{os.getpid()}"
    manager = Manager(f"\0{name}")
    SystemdNotifier({"NOTIFY_SOCKET": f"@{name}"}).ready()
    assert manager.received() == ["READY=1"]
    manager.socket.close()


def test_manager_that_does_not_read_blocks_nothing(manager):
    notifier = SystemdNotifier(os.environ)
    for _ in range(2000):  # more than net.unix.max_dgram_qlen
        notifier.watch()
    manager.socket.close()
    notifier.ready()


def test_line_toggles_at_every_tick(opened, gpio):
    opened(oe_heartbeat_line=LINE)
    wait_for(lambda: len(gpio.levels) > 10, "toggles")
    assert all(a != b for a, b in itertools.pairwise(gpio.levels))


def test_line_stands_while_a_tick_hangs_and_servos_do_not_jump_afterwards(
    opened, gpio, oe_timeout
):
    """After the circuit's time the servos were limp: the next beat finds no pulse to jump to."""
    driver = opened(oe_heartbeat_line=LINE)
    driver.arm()
    assert pulses(driver) == 5
    hang = Hang(driver)
    oe_timeout(WATCHDOG)
    before, seen = len(gpio.levels), []
    gpio.changed = lambda: seen.append(pulses(driver))
    hang.last(3 * WATCHDOG)
    assert len(gpio.levels) == before
    hang.end()
    wait_for(lambda: len(seen) > 3, "toggles after the hang")
    assert set(seen) == {0}
    assert driver.controller.state is DriverState.UNKNOWN
    assert "heartbeat" in driver.controller.snapshot().message
    oe_timeout(1e9)
    driver.arm()
    assert driver.controller.state is DriverState.ARMED and pulses(driver) == 5


def test_pulses_of_an_earlier_process_end_before_the_first_beat(opened, gpio, tmp_path):
    kept = str(tmp_path / "board")
    driver = opened(sim_registers=kept)
    driver.arm()
    driver.close("hold")
    driver = opened(sim_registers=kept)
    assert pulses(driver) == 5  # without the circuit they are adopted
    driver.close("hold")
    seen = []
    gpio.changed = lambda: seen.append(driver.emulation.chip.pulse_us(0))
    driver = opened(sim_registers=kept, oe_heartbeat_line=LINE)
    wait_for(lambda: len(seen) > 2, "toggles")
    assert not any(seen) and driver.controller.state is DriverState.UNKNOWN


def test_line_that_cannot_be_driven_is_a_fault(opened, gpio):
    driver = opened(oe_heartbeat_line=LINE)
    driver.arm()
    gpio.error = OSError(errno.ENODEV, "No such device")
    wait_for(lambda: driver.controller.state is DriverState.FAULT, "fault")
    assert "GPIO17 cannot be set" in driver.controller.snapshot().message


def test_missing_line_prevents_the_start(opened, gpio):
    with pytest.raises(BusError, match="no GPIO line GPIO99"):
        opened(oe_heartbeat_line="GPIO99")


@pytest.mark.parametrize("action", ["auto", "release", "park"])
def test_line_is_given_back_and_no_pulse_is_left(opened, gpio, action):
    driver = opened(oe_heartbeat_line=LINE, exit_action=action)
    driver.arm()
    driver.close()
    assert gpio.requested == {} and pulses(driver) == 0


def test_holding_without_a_heartbeat_is_rejected(model):
    with pytest.raises(HardwareError, match="'hold' is impossible with oe_heartbeat_line"):
        Driver(model, DriverOptions(oe_heartbeat_line=LINE, exit_action="hold"))
