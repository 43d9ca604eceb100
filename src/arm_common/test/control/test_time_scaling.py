# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Time scaling along parabolas is as fast as the acceleration limits allow."""

import numpy as np
import pytest
from arm_common.control.time_scaling import backward_pass, forward_pass, reachable_speeds

LIMIT = np.array([4.0, 2.0])


def scaled(first, bend, s, cap=np.inf):
    """Return x, and u in each interval, of a path with dq/ds = first + bend s; rest to rest."""
    rates = first + bend * s[:, None]
    step = np.diff(s)
    bends = np.tile(bend, (len(step), 1))
    reachable = reachable_speeds(step, rates[:-1], rates[1:], bends, bends, LIMIT)
    x = np.append(np.minimum(reachable.cap, cap), 0.0)
    backward_pass(reachable.back_offset, reachable.back_gain, x)
    x[0] = 0.0
    forward_pass(reachable.offset, reachable.gain, x)
    return x, np.diff(x) / (2.0 * step), rates, bends


@pytest.mark.parametrize("seed", range(20))
def test_acceleration_limits_are_kept_and_always_active(seed):
    rng = np.random.default_rng(seed)
    s = np.concatenate([[0.0], np.cumsum(rng.uniform(0.01, 0.05, 60))])
    x, u, rates, bends = scaled(rng.uniform(-1, 1, 2), rng.uniform(-2, 2, 2), s)
    used = np.abs(
        [
            (rates[:-1] * u[:, None] + bends * x[:-1, None]) / LIMIT,
            (rates[1:] * u[:, None] + bends * x[1:, None]) / LIMIT,
        ]
    )
    assert used.max() <= 1.0 + 1e-9 and (x >= 0.0).all()
    assert np.median(used.max(axis=(0, 2))) == pytest.approx(1.0, abs=0.02)


def test_straight_line_has_a_triangular_or_trapezoidal_profile():
    s = np.linspace(0.0, 1.0, 101)
    line = np.array([2.0, 0.5]), np.zeros(2)
    x, *_ = scaled(*line, s)
    np.testing.assert_allclose(x, 2.0 * 2.0 * np.minimum(s, 1.0 - s), atol=1e-9)
    x, *_ = scaled(*line, s, cap=1.0)
    np.testing.assert_allclose(x, np.minimum(1.0, 4.0 * np.minimum(s, 1.0 - s)), atol=1e-9)
