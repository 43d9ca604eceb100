# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import errno
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from arm_hardware.bus.fake import FakeBus
from arm_hardware.calibration.axes import rest_positions
from arm_hardware.calibration.calibration import BACKENDS, config_folder
from arm_hardware.calibration.coupling import axes_of
from arm_hardware.calibration.file import load_calibration
from arm_hardware.control.controller import TrajectoryController
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.control.state_machine import DriverState
from arm_hardware.driver import Driver
from arm_hardware.errors import HardwareError
from arm_hardware.motion.goal_validation import (
    GoalPoint,
    TrajectoryGoal,
    single_point_goal,
    validate_goal,
)
from arm_hardware.motion.options import DEFAULT_MOTION, DriverOptions, MotionOptions
from arm_testing.factories import factory
from arm_testing.waiting import InstantClock

from arm_description import load_robot

DT = 0.02


class Rig:
    """The motion core over a mirroring bus with real servo maps, ticked by hand."""

    def __init__(self, model, calibration, motion_options=DEFAULT_MOTION, sag=None) -> None:
        axes = axes_of(model)
        self.maps = calibration.maps(axes)
        self.axes = calibration.narrowed(axes)
        self.bus = FakeBus()
        self.output = ServoOutput(self.bus, self.axes, self.maps, DT, sag and sag(self.axes))
        self.controller = TrajectoryController(
            self.axes, self.output, DT, rest_positions(model, axes), motion_options=motion_options
        )

    def arm(self) -> None:
        self.controller.read()
        self.controller.arm()
        while self.controller.arming:
            self.tick()

    def tick(self, number: int = 1) -> list[np.ndarray]:
        """Tick so many times; return what was sent at each tick."""
        rows = []
        for _ in range(number):
            self.controller.tick()
            rows.append(self.positions)
        return rows

    def run(self, goal, limit: float = 60.0) -> int:
        """Tick until a goal ends; return the number of ticks."""
        for k in range(int(limit / DT)):
            if goal.done:
                return k
            self.tick()
        raise AssertionError("the goal does not end")

    def rest(self) -> list[np.ndarray]:
        """Tick until the arm is at rest; return what was sent at each tick."""
        rows = [self.positions]
        while self.controller.state is DriverState.MOVING:
            rows += self.tick()
            assert len(rows) < 5000
        return rows

    def follow(self, *points, tolerances=None, streamed=False, end=False, **more):
        request = self.request(*points, **more)
        goal = validate_goal(request, self.axes, allow_end_velocity=end)
        return self.controller.follow(goal, tolerances, streamed)

    def request(self, *points, names=None, start=None, velocities=None) -> TrajectoryGoal:
        """Return a request of (time, positions) pairs."""
        rates = velocities or [()] * len(points)
        rows = tuple(
            GoalPoint(t, tuple(map(float, q)), tuple(map(float, v)))
            for (t, q), v in zip(points, rates, strict=True)
        )
        return TrajectoryGoal(names or self.axes.names, rows, start)

    @property
    def positions(self) -> np.ndarray:
        return np.array(self.controller.command()[0])


class Bench:
    """A driver on the simulated board; its control loop is turned by hand."""

    def __init__(self, model, clock, **options) -> None:
        options = {"hardware": "sim", "backend": "i2c_dev"} | options
        self.clock, self.driver = clock, Driver(model, DriverOptions(**options), clock)
        self.driver.loop.start = lambda: None
        self.controller, self.sim = self.driver.controller, self.driver.sim
        if self.sim is not None:
            self.chip, self.faults = self.sim.chip, self.sim.faults

    def tick(self, number: int = 1) -> None:
        """Turn the loop, as it does: what a tick raises it logs."""
        for _ in range(number):
            self.clock.time += self.driver.period
            try:
                self.controller.tick()
            except HardwareError as error:
                assert str(error) == self.controller.snapshot().message

    def arm(self) -> None:
        self.controller.arm()
        while self.controller.arming:
            self.tick()

    def go(self, *q, time=1.0):
        return self.controller.follow(single_point_goal(self.driver.axes, time, q))

    def close(self) -> None:
        if self.sim is not None:
            self.faults.clear()
        self.driver.close()

    @property
    def pulses(self) -> list[float]:
        return [self.chip.pulse_us(servo.channel) for servo in self.driver.output.maps]


@pytest.fixture(scope="session")
def model():
    return load_robot("nut_arm")


@pytest.fixture(scope="session")
def calibration_path() -> Path:
    return config_folder() / "nut_arm_servos.yaml"


@pytest.fixture(scope="session")
def calibration(calibration_path):
    return load_calibration(calibration_path)


@pytest.fixture(scope="session")
def make_rig(model, calibration):
    """Return a function that makes an armed rig of some motion options, and of axes a sag."""

    def make(sag=None, **options) -> Rig:
        rig = Rig(model, calibration, MotionOptions(**options), sag)
        rig.arm()
        return rig

    return make


@pytest.fixture
def rig(model, calibration) -> Iterator[Rig]:
    return Rig(model, calibration)


@pytest.fixture
def armed(rig) -> Rig:
    rig.arm()
    return rig


@pytest.fixture
def gentle(make_rig) -> Rig:
    """An armed rig with a limit of jerk."""
    return make_rig(jerk_time=0.15)


@pytest.fixture
def clock() -> InstantClock:
    return InstantClock()


@pytest.fixture
def make_bench(model, clock):
    """Return a function that makes a bench of some options; its driver is not opened yet."""

    def make(robot=model, **options):
        return Bench(robot, clock, **options)

    yield from factory(make, Bench.close)


@pytest.fixture
def make_feetech(make_bench):
    """Return a function that makes a bench on simulated servos that answer, still closed."""
    pytest.importorskip("scservo_sdk")
    return partial(make_bench, backend="feetech", calibration="nut_arm_feetech")


@pytest.fixture
def opened(model):
    """Return a function that opens a driver of some options, its loop in a thread."""
    usual = {"hardware": "sim", "backend": "i2c_dev", "speed": 10.0}

    def make(model=model, **options):
        driver = Driver(model, DriverOptions(**usual | options))
        driver.open()
        return driver

    yield from factory(make, lambda driver: driver.close("hold"))


class Gpio:
    """One GPIO chip below libgpiod's Python bindings: what their C extension would do."""

    def __init__(self) -> None:
        self.names = {"GPIO4": 4, "GPIO17": 17}
        self.requested: dict[int, dict] = {}
        self.levels: list[int] = []  # of the requested line, one after another
        self.error: OSError | None = None  # raised by whatever touches a line
        self.changed = lambda: None

    def chip(self, path):
        """Return a chip as the extension's Chip(path) does."""
        return SimpleNamespace(
            path=path,
            line_offset_from_id=self._offset,
            request_lines=self._request,
            get_info=lambda: SimpleNamespace(num_lines=54),
            close=lambda: None,
        )

    def _offset(self, name):
        if name not in self.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return self.names[name]

    def _request(self, config, consumer, size):
        if self.error:
            raise self.error
        self.requested |= config.lines
        return SimpleNamespace(
            set_values=self._set,
            release=self.requested.clear,
            chip_name="gpiochip0",
            offsets=list(config.lines),
        )

    def _set(self, values):
        if self.error:
            raise self.error
        (value,) = values.values()
        self.levels.append(value.value)
        self.changed()


class GpioConfig:
    """The extension's LineConfig."""

    def __init__(self) -> None:
        self.lines: dict[int, dict] = {}

    def add_line_settings(self, offsets, settings) -> None:
        self.lines |= dict.fromkeys(offsets, settings)


@pytest.fixture
def gpio(tmp_path, monkeypatch) -> Gpio:
    """Return a GPIO chip in place of the kernel's."""
    pytest.importorskip("gpiod")
    made = Gpio()
    (tmp_path / "gpiochip0").touch()
    monkeypatch.setattr("arm_hardware.bus.gpio_line.DEVICES", tmp_path)
    monkeypatch.setattr("gpiod._ext.Chip", made.chip)
    monkeypatch.setattr("gpiod._ext.LineConfig", GpioConfig)
    monkeypatch.setattr("gpiod._ext.LineSettings", dict)
    return made


@pytest.fixture(params=BACKENDS)
def backend(request) -> str:
    if request.param == "servokit":
        pytest.importorskip("adafruit_servokit")
    return request.param
