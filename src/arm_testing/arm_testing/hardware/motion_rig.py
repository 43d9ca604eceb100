# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The motion core over a mirroring bus, with the nut arm's calibration."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from arm_description.library import load_robot
from arm_hardware.bus.fake import FakeBus
from arm_hardware.calibration.axes import rest_positions
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.selection import config_folder
from arm_hardware.control.controller import TrajectoryController
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.control.snapshot import DriverState
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal, validate_goal
from arm_hardware.motion.options import DEFAULT_MOTION, MotionOptions

from arm_testing.waiting import InstantClock

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
