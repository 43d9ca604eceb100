# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import itertools

import numpy as np
import pytest
from arm_hardware.motion.trajectory import Trajectory
from hypothesis import given, settings
from hypothesis import strategies as st


def random_trajectory(seed: int, cubic: bool) -> Trajectory:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 8)), int(rng.integers(1, 6))
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.05, 1.0, m - 1))])
    rates = rng.uniform(-2, 2, (m, n)) if cubic else None
    return Trajectory(times, rng.uniform(-1.5, 1.5, (m, n)), rates)


seeds = st.integers(0, 10_000)


@given(seeds, st.booleans())
def test_sample_passes_through_the_points_and_rests_outside(seed, cubic):
    t = random_trajectory(seed, cubic)
    for time, position in zip(t.times, t.positions, strict=True):
        np.testing.assert_allclose(t.sample(float(time)), position, atol=1e-12)
    np.testing.assert_array_equal(t.sample(-1.0), t.positions[0])
    np.testing.assert_array_equal(t.sample(t.duration + 1.0), t.positions[-1])


@given(seeds)
def test_cubics_have_the_velocities_of_the_points(seed):
    t = random_trajectory(seed, True)
    h = 1e-7
    for k in range(1, len(t.times) - 1):
        time = float(t.times[k])
        slope = (t.sample(time + h) - t.sample(time - h)) / (2 * h)
        np.testing.assert_allclose(slope, t.velocities[k], atol=1e-3)


def test_linear_interpolation_halfway():
    t = Trajectory(np.array([0.0, 2.0]), np.array([[0.0, 1.0], [1.0, -1.0]]))
    np.testing.assert_allclose(t.sample(1.0), [0.5, 0.0])


@settings(max_examples=50)
@given(seeds, st.booleans())
def test_extremes_and_peak_speeds_bound_the_samples_tightly(seed, cubic):
    t = random_trajectory(seed, cubic)
    times = np.linspace(0.0, t.duration, 4001)
    samples = t.samples(times)
    low, high = t.extremes()
    peak = t.peak_speeds.max(axis=0)
    near = peak * times[1] + 1e-9  # a corner lies between two samples
    assert (samples.min(axis=0) <= low + near).all()
    assert (samples.max(axis=0) >= high - near).all()
    assert (samples >= low - 1e-12).all() and (samples <= high + 1e-12).all()
    speeds = np.abs(np.diff(samples, axis=0)) / np.diff(times)[:, None]
    assert (speeds.max(axis=0) <= peak * (1 + 1e-6) + 1e-9).all()
    np.testing.assert_allclose(speeds.max(axis=0), peak, rtol=0.05)


@settings(max_examples=50)
@given(seeds, st.booleans())
def test_motion_is_monotonic_between_reversals(seed, cubic):
    t = random_trajectory(seed, cubic)
    for joint, (times, positions) in enumerate(t.reversals):
        edges = [0.0, *times]
        assert positions[-1] == t.final[joint] and times[-1] == t.duration
        for a, b in itertools.pairwise(edges):
            inside = t.samples(np.linspace(a, b, 50))[:, joint]
            steps = np.diff(inside)
            assert (steps >= -1e-9).all() or (steps <= 1e-9).all()


def test_pause_counts_as_a_reversal():
    t = Trajectory(np.array([0.0, 1.0, 2.0, 3.0]), np.array([[0.0], [1.0], [1.0], [2.0]]))
    assert t.reversals[0] == ([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
    assert [t.next_reversal(0, x) for x in (0.5, 1.0, 1.5, 2.5, 9.0)] == [1.0, 1.0, 1.0, 2.0, 2.0]


def test_single_point_is_a_trajectory():
    t = Trajectory(np.array([0.0]), np.array([[0.3, 0.4]]), np.zeros((1, 2)))
    np.testing.assert_array_equal(t.sample(0.0), [0.3, 0.4])
    assert t.reversals[0] == ([0.0], [0.3]) and len(t.peak_speeds) == len(t.mean_speeds()) == 0
    assert t.duration == pytest.approx(0.0)
