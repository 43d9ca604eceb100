# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from arm_hardware.ros.state_publisher import EARLY_TOLERANCE, RateLimiter

PERIOD = 0.02


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def told(limiter, looks):
    return [now for now in looks if limiter.is_due(now)]


def test_each_timely_poll_is_due_once(rng):
    late = rng.uniform(0.0, 0.4 * PERIOD, 1000)
    looks = 5.0 + PERIOD * np.arange(1000) + late
    limiter = RateLimiter(PERIOD)
    limiter.postpone(5.0 - PERIOD)
    assert len(told(limiter, looks)) == 1000
    assert limiter.due == pytest.approx(5.0 + 1000 * PERIOD)  # however late each of them was


def test_frequent_polls_are_due_once_per_period(rng):
    looks = np.sort(rng.uniform(5.0, 15.0, 20_000))
    found = np.diff(told(RateLimiter(PERIOD), looks))
    assert found.mean() == pytest.approx(PERIOD, rel=0.01)
    assert found.min() > PERIOD - EARLY_TOLERANCE - 5e-3


@pytest.mark.parametrize(
    ("looks", "due"),
    [
        ([1.0, 1.01, 1.02, 1.5, 1.505, 1.51, 1.5201], [1.0, 1.02, 1.5, 1.5201]),  # begins anew
        ([100.0, 3.0, 3.01, 3.02], [100.0, 3.0, 3.02]),
    ],
)
def test_limiter_restarts_after_a_long_delay_or_a_clock_set_back(looks, due):
    assert told(RateLimiter(PERIOD), looks) == due


def test_postponed_limiter_is_not_due_for_a_period():
    limiter = RateLimiter(PERIOD)
    limiter.postpone(1.0)
    assert told(limiter, [1.0, 1.01, 1.015, 1.0199]) == [1.0199]
