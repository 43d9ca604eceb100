# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Moments of a grid: each once, a period apart on average, without drift."""

import numpy as np
import pytest
from arm_hardware.ros.state_publisher import EARLY, RateLimiter

PERIOD = 0.02


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def told(grid, looks):
    return [now for now in looks if grid.is_due(now)]


def test_looks_that_come_in_time_are_each_told_once(rng):
    late = rng.uniform(0.0, 0.4 * PERIOD, 1000)
    looks = 5.0 + PERIOD * np.arange(1000) + late
    grid = RateLimiter(PERIOD)
    grid.put_off(5.0 - PERIOD)
    assert len(told(grid, looks)) == 1000
    assert grid.due == pytest.approx(5.0 + 1000 * PERIOD)  # however late each of them was


def test_many_looks_are_told_once_a_period(rng):
    looks = np.sort(rng.uniform(5.0, 15.0, 20_000))
    found = np.diff(told(RateLimiter(PERIOD), looks))
    assert found.mean() == pytest.approx(PERIOD, rel=0.01)
    assert found.min() > PERIOD - EARLY - 5e-3


def test_who_is_late_by_more_than_a_period_begins_anew():
    grid = RateLimiter(PERIOD)
    assert told(grid, [1.0, 1.01, 1.02, 1.5, 1.505, 1.51, 1.5201]) == [1.0, 1.02, 1.5, 1.5201]


def test_a_clock_that_was_set_back_stops_nothing():
    grid = RateLimiter(PERIOD)
    assert told(grid, [100.0, 3.0, 3.01, 3.02]) == [100.0, 3.0, 3.02]


def test_what_is_put_off_is_not_due_for_a_period():
    grid = RateLimiter(PERIOD)
    grid.put_off(1.0)
    assert told(grid, [1.0, 1.01, 1.015, 1.0199]) == [1.0199]
