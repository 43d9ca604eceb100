# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The clock, functions of time, and a trajectory under a clock."""

import math
from functools import partial

import numpy as np
import pytest
from arm_common.errors import InputError
from arm_description.trajectories.trajectory import JointTrajectory
from arm_studio.motion import Clock, Playback, TimeFunctions


def test_a_clock_never_jumps_when_it_is_started_paused_or_changed():
    random, clock, now = np.random.default_rng(4), Clock(), 0.0
    for wait, event, rate in zip(
        random.uniform(0.0, 1e3, 200),
        random.integers(0, 3, 200),
        random.uniform(-4.0, 4.0, 200),
        strict=True,
    ):
        now += wait
        before = clock.at(now)
        (clock.start, clock.pause, partial(clock.set_rate, rate))[event](now)
        assert clock.at(now) == pytest.approx(before, abs=1e-6)


def test_a_clock_runs_endlessly_stands_and_goes_on():
    clock = Clock()
    clock.start(10.0)
    assert clock.at(10_000.0) == 9_990.0
    clock.pause(12.0)
    assert clock.at(99.0) == 2.0 and not clock.running
    clock.start(100.0)
    assert clock.at(101.0) == 3.0
    clock.set(0.0, 102.0)
    assert clock.at(103.0) == 1.0 and clock.running


def test_functions_are_in_degrees_as_are_the_angles_in_them():
    functions = TimeFunctions()
    functions.set("waist", "30*sin(90*t)", 0.0)
    functions.set("slide", "10 + t", 0.0)
    assert functions.at(1.0) == pytest.approx({"waist": 30.0, "slide": 11.0})
    functions.set("slide", "  ", 0.0)
    assert functions.names == ("waist",)
    lengths = TimeFunctions({"l1": "0.2", "half": "l1/2"})
    lengths.set("l2", "half + 0.01*sin(180*t)", 0.0)
    assert lengths.at(0.5)["l2"] == pytest.approx(0.11)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("30*sin(90*q1)", "'q1' is not a name"), ("2*", "not a number"), ("1/t", "divides by zero")],
)
def test_refused_function_keeps_the_former_one(text, problem):
    functions = TimeFunctions()
    functions.set("waist", "5*t", 0.0)
    with pytest.raises(InputError, match=problem):
        functions.set("waist", text, 0.0)
    assert functions.at(2.0) == {"waist": 10.0}


def test_function_without_a_value_at_some_time_is_named():
    functions = TimeFunctions()
    functions.set("elbow", "sqrt(1 - t)", 0.0)
    with pytest.raises(InputError, match=r"at t = 2 s") as caught:
        functions.at(2.0)
    assert caught.value.key == "elbow"
    functions.keep(frozenset(("waist",)))
    assert functions.at(2.0) == {}


@pytest.fixture
def playback():
    rows = np.array([[0.0, 1.0], [2.0, 1.0], [2.0, -3.0]])
    result = Playback()
    result.load(JointTrajectory(("a", "b"), np.array([0.0, 1.0, 3.0]), rows), 50.0)
    return result


def test_played_to_its_end_where_it_stays(playback):
    assert playback.positions(51.0) == {"a": 0.0, "b": 1.0}  # paused
    playback.play(1.0, 51.0)
    assert playback.positions(51.5) == {"a": 1.0, "b": 1.0}
    assert playback.positions(53.0) == {"a": 2.0, "b": -1.0}
    assert playback.positions(59.0) == {"a": 2.0, "b": -3.0}
    assert not playback.clock.running and playback.time(60.0) == 3.0
    playback.play(2.0, 60.0)  # again, from its start
    assert playback.time(61.0) == 2.0


def test_played_backwards_from_its_end_and_dragged(playback):
    playback.play(-0.5, 0.0)
    assert playback.time(2.0) == 2.0
    playback.seek(1.0, 2.0)
    assert playback.time(3.0) == 0.5
    playback.seek(-7.0, 3.0)
    assert playback.time(4.0) == 0.0 and not playback.clock.running


@pytest.mark.parametrize("rate", [-3.0, -1.0, 0.5, 2.0])
@pytest.mark.parametrize("later", [0.0, 0.7, 6.1, 97.3])
def test_a_loop_stays_within_the_trajectory(later, rate):
    playback = Playback(loop=True)
    playback.load(JointTrajectory(("a",), np.array([0.0, 3.0]), np.array([[0.0], [3.0]])), 0.0)
    playback.play(rate, 0.0)
    begin = 0.0 if rate > 0.0 else 3.0
    time = playback.time(later)
    assert 0.0 <= time <= 3.0
    assert math.isclose(math.cos(math.tau * (time - begin - rate * later) / 3.0), 1.0)
    assert playback.clock.running
    playback.clock.pause(later)
    assert playback.time(later + 1.0) == pytest.approx(time)  # the arm stays where it is
