# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver of the shipped linkage arms keeps the elbow where the shoulder allows it."""

import contextlib

import numpy as np
import pytest
from arm_hardware.calibration.selection import config_folder
from arm_hardware.control.snapshot import DriverState
from arm_hardware.driver import Driver
from arm_hardware.errors import CommandError
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal, validate_goal
from arm_hardware.motion.options import DriverOptions

from arm_description import load_robot

COUNT = 0.01  # [rad] of a joint, by the rounding of two servos to counts
ARMS = ["mearm", "eezybotarm_mk1", "eezybotarm_mk2"]
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 10))]


@pytest.fixture(params=ARMS)
def model(request):
    return load_robot(request.param)


@pytest.fixture
def arm(model, clock):
    """An armed driver of an arm on the simulated board, whose loop is turned by hand."""
    calibration = str(config_folder() / f"{model.name}_servos.yaml")
    options = DriverOptions(hardware="sim", backend="i2c_dev", calibration=calibration)
    driver = Driver(model, options, clock)
    driver.loop.start = lambda: None
    driver.open()
    driver.controller.arm()
    while driver.controller.arming:
        turn(driver, clock)
    yield driver
    driver.close()


def turn(driver, clock):
    clock.time += driver.period
    driver.controller.tick()


def of_pulses(driver):
    """The joints' positions by the pulses on the board."""
    chip, maps = driver.emulation.chip, driver.output.maps
    servos = [m.position_of(chip.count(m.channel)) for m in maps]
    return np.array(driver.output.to_axes(servos)[: len(driver.axes.arm)])


def goal(driver, *points):
    rows = tuple(GoalPoint(time, tuple(q)) for time, q in points)
    return validate_goal(TrajectoryGoal(driver.axes.names, rows), driver.axes)


@pytest.mark.parametrize("seed", SEEDS)
def test_pulses_never_leave_what_the_linkage_allows(arm, model, clock, seed):
    """Goals anywhere in the joints' ranges, of several points, preempted, slowed and cancelled."""
    rng, calibrated = np.random.default_rng(seed), arm.axes.coupling.constraints
    lower, upper = np.transpose([(a.lower, a.upper) for a in arm.axes.arm])
    taken = refused = 0
    for _ in range(500):
        if rng.uniform() < 0.1:
            times = np.cumsum(rng.uniform(1.0, 3.0, rng.integers(1, 3)))
            rows = rng.uniform(lower, upper, (len(times), len(lower)))
            try:
                arm.controller.follow(goal(arm, *zip(times, rows, strict=True)))
                taken += 1
            except CommandError as error:
                refused += "elbow: at shoulder" in str(error)
        elif rng.uniform() < 0.05:
            arm.controller.set_speed_scaling(float(rng.choice([0.0, 0.3, 1.0])))
        turn(arm, clock)
        assert arm.controller.state in (DriverState.ARMED, DriverState.MOVING)
        assert calibrated.violation(of_pulses(arm)) < COUNT
        assert model.constraint_set.violation(of_pulses(arm)) < COUNT
    assert taken and refused


@pytest.mark.parametrize("seed", SEEDS)
def test_stream_towards_the_limit_never_leaves_it(arm, clock, seed):
    """Short steps, as a slider that is dragged or a jogging client sends them."""
    rng, limits = np.random.default_rng(seed), arm.axes.coupling.constraints
    lower, upper = np.transpose([(a.lower, a.upper) for a in arm.axes.arm])
    nearest = -np.inf
    for k in range(400):
        if k % 100 == 0:
            target = next(q for q in rng.uniform(lower, upper, (99, 3)) if limits.worst(q))
        if k % 4 == 0:
            at = np.array(arm.controller.command()[0][: len(lower)])
            step = 0.1 * (target - at)
            with contextlib.suppress(CommandError):
                arm.controller.follow(goal(arm, (0.2, at + step)), streamed=True)
        turn(arm, clock)
        violation = float(limits.violation(of_pulses(arm)))
        nearest = max(nearest, violation)
        assert violation < COUNT
    assert arm.controller.state in (DriverState.ARMED, DriverState.MOVING)
    assert nearest > -0.3  # it came near


def go(arm, clock, *q):
    asked = arm.controller.follow(goal(arm, (3.0, q)))
    while not asked.done:
        turn(arm, clock)


def test_reported_position_at_a_limit_is_accepted_again(arm, clock):
    """Counts are rounded, and the elbow's position is that of two servos."""
    axes, tried = arm.axes.arm, 0
    places = [(shoulder, axes[2].upper) for shoulder in (1.3, 1.5)]
    for constraint in arm.axes.coupling.constraints.constraints:
        for shoulder in (0.9, 1.1, 1.3, 1.5, 1.7):
            places += [(shoulder, end) for end in constraint.bounds({"shoulder": shoulder})]
    for shoulder, elbow in places:
        q = np.array([0.0, shoulder, elbow])
        if not axes[2].lower <= elbow <= axes[2].upper:
            continue
        if arm.axes.coupling.constraints.violation(q) > 1e-9:
            continue
        go(arm, clock, *q)
        go(arm, clock, 0.2, *arm.controller.snapshot().positions[1:3])
        tried += 1
    assert tried > 2
