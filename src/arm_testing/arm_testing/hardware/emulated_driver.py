# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Drivers on emulated hardware; the fixtures need those of motion_rig."""

from __future__ import annotations

from functools import partial

import pytest
from arm_hardware.backends import backends_of
from arm_hardware.bus.interface import PCA9685
from arm_hardware.driver import Driver
from arm_hardware.errors import HardwareError
from arm_hardware.motion.goal_validation import single_point_goal
from arm_hardware.motion.options import DriverOptions
from arm_simulation.emulation.board import SimulatedBoard

from arm_testing.hardware.factories import factory


class Bench:
    """A driver on the simulated board; its control loop is turned by hand."""

    def __init__(self, model, clock, **options) -> None:
        options = {"hardware": "sim", "backend": "i2c_dev"} | options
        self.clock, self.driver = clock, Driver(model, DriverOptions(**options), clock)
        self.driver.loop.start = lambda: None
        self.controller, self.sim = self.driver.controller, self.driver.emulation
        if isinstance(self.sim, SimulatedBoard):
            self.chip, self.faults = self.sim.chip, self.sim.faults

    def tick(self, number: int = 1) -> None:
        """Turn the loop, as it does: what a tick raises it logs."""
        for _ in range(number):
            self.clock.time += self.driver.period
            try:
                self.controller.tick()
            except HardwareError as error:
                assert str(error) == self.message

    def armed(self) -> Bench:
        """Open the driver and arm it."""
        self.driver.open()
        self.arm()
        return self

    def arm(self) -> None:
        self.controller.arm()
        while self.controller.arming:
            self.tick()

    def go(self, *q, time=1.0):
        return self.controller.follow(single_point_goal(self.driver.axes, time, q))

    def close(self) -> None:
        if self.sim is not None:
            self.sim.faults.clear()
        self.driver.close()

    @property
    def message(self) -> str:
        return self.controller.snapshot().message

    @property
    def pulses(self) -> list[float]:
        return [self.chip.pulse_us(servo.channel) for servo in self.driver.output.maps]


@pytest.fixture
def make_bench(model, clock):
    """Return a function that makes a bench of some options; its driver is not opened yet."""

    def make(robot=model, **options):
        return Bench(robot, clock, **options)

    yield from factory(make, Bench.close)


@pytest.fixture
def make_feetech(make_bench):
    """Return a function that makes a bench on simulated smart servos, still closed."""
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


@pytest.fixture(params=tuple(backends_of(PCA9685)))
def backend(request) -> str:
    if request.param == "servokit":
        pytest.importorskip("adafruit_servokit")
    return request.param
