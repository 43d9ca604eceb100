# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""No request ends the driver's process or breaks a bound: each interface is fuzzed in mid-motion.

The last layer before the bus turns a step beyond the limits into FAULT, which must not occur.
"""

import signal
import threading
import time

import pytest
from arm_hardware.calibration.calibration import axes_of
from arm_simulation.emulation.pca9685_chip import ChipMemory, Pca9685Chip
from arm_testing.programs.processes import read_output
from arm_testing.ros import driver as nc
from arm_testing.ros.fuzz import FLOATS, Attacker, Messages
from control_msgs.msg import SpeedScalingFactor
from lifecycle_msgs.msg import Transition
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system

WORDS = (*nc.NAMES, "gripper", "rate_hz", "configure", "transition_error")
ACTIVE = {Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVE_SHUTDOWN}  # allowed


class DriverMessages(Messages):
    """Random messages for the driver; more of the trajectories can be executed."""

    def __init__(self, seed: int) -> None:
        super().__init__(
            seed, WORDS, {JointTrajectory: self.trajectory, Transition: self.transition}
        )

    def floats(self) -> list[float]:
        if self.random.random() < 0.5:
            return [self.random.uniform(-0.5, 0.5) for _ in nc.NAMES]
        return [self.pick(FLOATS) for _ in range(self.pick((0, 1, 4, 4, 4, 5)))]

    def point(self, k: int) -> JointTrajectoryPoint:
        point = JointTrajectoryPoint(positions=self.floats())
        for what in ("velocities", "accelerations", "effort"):
            if self.random.random() < 0.15:
                setattr(point, what, self.floats())
        point.time_from_start.sec = 2 * (k + 1)
        if self.random.random() < 0.3:
            point.time_from_start = self.time(type(point.time_from_start))
        return point

    def trajectory(self, kind: type) -> JointTrajectory:
        names = list(nc.NAMES)
        if self.random.random() < 0.2:
            names = [self.pick(self.words) for _ in range(self.pick((0, 1, 4, 5)))]
        number = self.pick((0, 1, 1, 2, 3, 300))
        message = kind(joint_names=names, points=[self.point(k) for k in range(number)])
        if self.random.random() < 0.2:
            message.header.stamp = self.time(type(message.header.stamp))
        return message

    def transition(self, kind: type) -> Transition:
        """Return a transition that the active driver must refuse."""
        label = self.pick(self.words) if self.random.random() < 0.5 else ""
        return kind(id=self.pick([k for k in range(256) if k not in ACTIVE]), label=label)


class Watch:
    """Watches the pulses on the board, in a thread, until it is closed."""

    def __init__(self, file, model, calibration) -> None:
        self.chip = Pca9685Chip(memory=ChipMemory(file))
        axes = calibration.narrowed(axes_of(model))
        self._bounds = [
            (servo.channel, *sorted(map(servo.count_of, (axis.lower, axis.upper))))
            for axis, servo in zip(axes, calibration.maps(axes_of(model)), strict=True)
        ]
        self.broken: set[tuple[int, int]] = set()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def counts(self) -> list[int]:
        """Return the counts on the board, 0 where it sends no pulses."""
        return [self.chip.count(channel) for channel, *_ in self._bounds]

    def _run(self) -> None:
        while not self._closing.wait(0.003):
            for count, (channel, low, high) in zip(self.counts(), self._bounds, strict=True):
                if count and not low - 1 <= count <= high + 1:
                    self.broken.add((channel, count))

    def close(self) -> None:
        self._closing.set()
        self._thread.join()


class Driver(nc.Client):
    """A client that lets the arm move and checks the laws."""

    def __init__(self, process, watch) -> None:
        super().__init__()
        self._process, self._side = process, 1.0
        self.wait_armed()
        self.watch = watch()

    def move(self) -> None:
        """Let the arm move, whatever happened before, to the other side than the last time."""
        self.scaling.publish(SpeedScalingFactor(factor=1.0))
        self._arm_again()  # the first request to the service may have released the servos
        assert self.trigger("stop").success
        self.wait_settled(HardwareStatus.STOPPED)
        assert self.trigger("reset").success
        self._side = -self._side
        self.creep(*(self._side * q for q in nc.AWAY))
        self.wait_state(HardwareStatus.MOVING)

    def _arm_again(self) -> bool:
        """Arm the servos if they are released or disarmed; return whether they were."""
        is_active = self.lifecycle() == "active"
        if is_active and 0 not in self.watch.counts():
            return False
        if is_active:
            assert self.change(Transition.TRANSITION_DEACTIVATE)
        assert self.change(Transition.TRANSITION_ACTIVATE)
        self.wait_armed()
        return True

    def check(self, what: str) -> None:
        """Check that the driver lives, has no fault and answers."""
        assert self._process.poll() is None, what
        assert self.lifecycle() == ("inactive" if what.endswith("/disarm") else "active"), what
        assert self._arm_again() == what.endswith(("/release", "/disarm")), what
        nc.wait_for(lambda: self.status.state != HardwareStatus.UNKNOWN, what)
        assert self.status.state != HardwareStatus.FAULT, (what, self.status.message)
        assert "internal error" not in self.status.message, (what, self.status.message)
        assert not self.watch.broken, what


@pytest.fixture
def driver(start, tmp_path, model, calibration, fresh_domain):
    board = tmp_path / "board"
    process = start(hardware="sim", backend="i2c_dev", autostart="activate", sim_registers=board)
    running = process.process
    output = read_output(running)  # which has thousands of refusals
    made = Driver(running, lambda: Watch(board, model, calibration))
    yield made
    made.watch.close()
    running.send_signal(signal.SIGINT)
    code = running.wait(nc.BOUND)
    made.close()
    log = output()
    assert code == 0 and "Traceback" not in log, log[-3000:]
    assert "internal error" not in log, log[-3000:]


@pytest.mark.parametrize(
    "number", [pytest.param(10, id="small"), pytest.param(10_000, marks=pytest.mark.thorough)]
)
def test_no_message_ends_the_process_or_breaks_a_bound(driver, number):
    attacker = Attacker("arm_hardware", DriverMessages(1), driver.move, driver.check)
    attacker.attack(number)
    attacker.close()
    driver.move()
    assert driver.trigger("stop").success
    held = driver.watch.counts()
    driver.wait_settled(HardwareStatus.STOPPED)
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        assert driver.watch.counts() == held
