# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import itertools
import math

import numpy as np
import pytest
from arm_hardware.calibration.axes import Axis
from arm_hardware.motion.limiter import AxisState, brake, braking_speed, settled, track
from hypothesis import given, settings
from hypothesis import strategies as st

DT = 0.02
AXIS = Axis("joint", "rad", -1.5, 1.5, 2.0, 8.0)


def stopping_distance(speed: float, acceleration: float) -> float:
    """Add up the ticks of a braking, beginning with one at full speed."""
    way = 0.0
    while speed > 0.0:
        way += speed * DT
        speed -= acceleration * DT
    return way


@given(st.floats(1e-9, 10.0), st.floats(0.1, 50.0))
def test_braking_speed_uses_exactly_the_distance(distance, acceleration):
    speed = braking_speed(distance, acceleration, DT)
    assert stopping_distance(speed, acceleration) <= distance * (1 + 1e-9)
    assert stopping_distance(speed * (1 + 1e-6) + 1e-9, acceleration) > distance


def test_braking_speed_at_the_edges():
    assert braking_speed(0.0, 8.0, DT) == braking_speed(-1.0, 8.0, DT) == 0.0
    assert math.isinf(braking_speed(math.inf, 8.0, DT))


def stepped(step, state: AxisState, *arguments) -> float:
    """Take a step that must keep all bounds; return the velocity before it."""
    before = state.velocity
    step(AXIS, state, *arguments)
    assert abs(state.velocity) <= AXIS.velocity * (1 + 1e-9)
    assert abs(state.velocity - before) <= AXIS.acceleration * DT + 1e-9
    assert AXIS.lower <= state.position <= AXIS.upper
    return before


@settings(max_examples=200)
@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=80), st.floats(-1.4, 1.4))
def test_any_reference_is_followed_within_all_bounds(jumps, start):
    state, reference = AxisState(start), start
    for target in jumps:
        stepped(track, state, reference, target, DT)
        reference = target


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_resting_target_is_reached_without_overshoot(start, target):
    state = AxisState(start)
    low, high = min(start, target), max(start, target)
    for _ in range(400):
        stepped(track, state, target, target, DT, target)
        assert low - 1e-9 <= state.position <= high + 1e-9
        if settled(state, target):
            break
    assert (state.position, state.velocity) == (target, 0.0)


def test_time_to_a_target_matches_the_trapezoidal_profile():
    state, ticks = AxisState(-1.0), 0
    while not settled(state, 1.0):
        track(AXIS, state, 1.0, 1.0, DT, 1.0)
        ticks += 1
    ideal = 2.0 / AXIS.velocity + AXIS.velocity / AXIS.acceleration
    assert abs(ticks * DT - ideal) <= 2 * DT


def test_reference_within_the_limits_is_followed_exactly():
    times = np.arange(0.0, 3.0, DT)
    reference = np.sin(1.5 * times) * 0.5 * (1 - np.exp(-times))  # at rest at first
    state = AxisState(0.0)
    for now, then in itertools.pairwise(reference):
        track(AXIS, state, float(now), float(then), DT)
        assert state.position == pytest.approx(then, abs=1e-12)


@given(st.floats(-2.0, 2.0), st.floats(-1.0, 1.0))
def test_braking_takes_the_shortest_distance(speed, start):
    state = AxisState(start, speed)
    while state.velocity != 0.0:
        before = stepped(brake, state, DT)
        assert abs(state.velocity) < abs(before)
    assert abs(state.position - start) <= speed**2 / (2 * AXIS.acceleration) + 1e-9
