# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Time scaling of joint paths: limits are kept between points too, ends exact, time-optimal."""

import math

import numpy as np
import pytest
from arm_kinematics.paths.timing import TimedPath, keep_pace, time_path
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from arm_kinematics import KinematicsError

V = np.array([3.0, 2.0, 1.0, 4.0])
A = np.array([8.0, 6.0, 5.0, 20.0])
SAMPLES = np.linspace(0.0, 1.0 - 1e-9, 11)[:, None]  # of an interval, its end before the next


def resampled(timed: TimedPath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations of the densely sampled Hermite curve."""
    curve = CubicHermiteSpline(*timed)
    t = (timed.times[:-1] + SAMPLES * np.diff(timed.times)).ravel()
    return curve(t), curve(t, 1), curve(t, 2)


def check_limits(path: np.ndarray, timed: TimedPath, velocity=V, acceleration=A) -> None:
    p, v, a = resampled(timed)
    assert (np.abs(v) <= velocity * (1 + 1e-6)).all()
    assert (np.abs(a) <= acceleration * (1 + 1e-6)).all()
    assert np.array_equal(timed.positions[0], path[0])
    assert np.array_equal(timed.positions[-1], path[-1])
    assert not timed.velocities[[0, -1]].any()
    assert timed.times[0] == 0.0 and (np.diff(timed.times) > 0.0).all()
    assert (p <= path.max(axis=0) + 1e-9).all() and (p >= path.min(axis=0) - 1e-9).all()
    for waypoint in path:
        assert np.abs(timed.positions - waypoint).max(axis=1).min() < 1e-9


def smooth(points: int) -> np.ndarray:
    u = np.linspace(0.0, 1.0, points)[:, None]
    return np.hstack([np.sin(6 * u), np.cos(5 * u), u, np.zeros_like(u)])


PATHS = {
    "two points": np.array([[0.0] * 4, [1.0, 0.5, -0.2, 0.0]]),
    "smooth and dense": smooth(400),
    "smooth and coarse": smooth(12),
    "a corner": np.vstack(
        [
            np.linspace([0.0] * 4, [1.0, 0.0, 0.0, 0.0], 50),
            np.linspace([1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], 50),
        ]
    ),
    "there and back": np.vstack(
        [np.linspace([0.0] * 4, [1.0] * 4, 30), np.linspace([1.0] * 4, [0.0] * 4, 30)]
    ),
    "tiny": np.array([[0.0] * 4, [1e-6, 0.0, 0.0, 0.0]]),
    "uneven": np.array([[0.0] * 4, [1e-7] * 4, [0.5] * 4, [0.5 + 1e-6] * 4, [2.0] * 4]),
}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("scaling", [1.0, 0.1])
def test_trajectories_keep_the_limits(name, scaling):
    path = PATHS[name]
    check_limits(path, time_path(path, V, A, scaling), V * scaling)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 40), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_random_walks_keep_the_limits(points, joints, seed):
    rng = np.random.default_rng(seed)
    path = np.cumsum(rng.normal(size=(points, joints)) * rng.choice([0.001, 0.1, 1.0]), axis=0)
    velocity, acceleration = rng.uniform(0.1, 5.0, joints), rng.uniform(0.1, 50.0, joints)
    check_limits(path, time_path(path, velocity, acceleration), velocity, acceleration)


def test_straight_path_takes_the_time_of_a_trapezoidal_profile():
    """Long enough to cruise: distance / v + v / a; too short: twice the root of distance / a."""
    long = time_path([[0.0], [6.0]], [2.0], [4.0])
    assert long.times[-1] == pytest.approx(6.0 / 2.0 + 2.0 / 4.0, rel=2e-3)
    short = time_path([[0.0], [0.5]], [2.0], [4.0])
    assert short.times[-1] == pytest.approx(2.0 * math.sqrt(0.5 / 4.0), rel=2e-3)


def test_some_limit_is_always_reached():
    _, v, a = resampled(time_path(smooth(400), V, A))
    busy = np.maximum(np.abs(v) / V, np.abs(a) / A).max(axis=1)
    assert np.quantile(busy, 0.05) > 0.8 and np.median(busy) > 0.95


def test_density_of_waypoints_does_not_change_the_duration():
    coarse, fine = (np.linspace([0.0] * 4, [1.0] * 4, k) for k in (3, 300))
    assert time_path(coarse, V, A).times[-1] == pytest.approx(
        time_path(fine, V, A).times[-1], rel=1e-3
    )


@pytest.mark.parametrize("path", [[[0.1, 0.2]], [[0.1, 0.2]] * 5])
def test_path_without_length_is_one_point_at_rest(path):
    timed = time_path(path, [1.0, 1.0], [1.0, 1.0])
    assert timed.times.tolist() == [0.0]
    assert timed.positions.tolist() == [[0.1, 0.2]]
    assert timed.velocities.tolist() == [[0.0, 0.0]]


def test_repeated_points_are_skipped():
    path = np.repeat(smooth(30), 3, axis=0)
    check_limits(path, time_path(path, V, A))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [1.0], [1.0]), "path"),
        (([0.0, 1.0], [1.0], [1.0]), "path"),
        (([[0.0], [math.nan]], [1.0], [1.0]), "path"),
        ((["a"], [1.0], [1.0]), "path"),
        (([[0.0], [1.0]], [1.0, 1.0], [1.0]), "velocity: expected 1"),
        (([[0.0], [1.0]], [0.0], [1.0]), "velocity"),
        (([[0.0], [1.0]], [1.0], [math.inf]), "acceleration"),
        (([[0.0], [1.0]], [1.0], [1.0], 0.0), "scaling"),
        (([[0.0], [1.0]], [1.0], [1.0], 1.5), "scaling"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, message):
    with pytest.raises(KinematicsError, match=message):
        time_path(*arguments)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 40), st.integers(1, 7), st.floats(0.1, 10.0), st.integers(0, 2**32 - 1))
def test_pace_is_kept_within_the_limits(points, joints, pace, seed):
    rng = np.random.default_rng(seed)
    path = np.cumsum(rng.normal(size=(points, joints)) * rng.choice([0.0, 0.01, 1.0]), axis=0)
    velocity, acceleration = rng.uniform(0.1, 5.0, joints), rng.uniform(0.1, 50.0, joints)
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.01, 2.0, points - 1))])
    timed = keep_pace(times, path, velocity, acceleration, pace)
    check_limits(path, timed, velocity, acceleration)
    assert timed.times[-1] >= times[-1] / pace * (1 - 1e-9)


def test_slow_path_keeps_its_own_pace_except_at_the_ends():
    times = np.linspace(0.0, 20.0, 400)
    path = smooth(400)
    timed = keep_pace(times, path, V, A)
    assert timed.times[-1] == pytest.approx(20.0, abs=0.5)
    assert keep_pace(times, path, V, A, 0.5).times[-1] == pytest.approx(40.0, abs=0.5)
    assert keep_pace(times, path, V, A, 1e6).times[-1] < 5.0


def test_pauses_keep_their_duration():
    path = [[0.0], [1.0], [1.0], [0.0]]
    timed = keep_pace([0.0, 5.0, 9.0, 14.0], path, [3.0], [8.0])
    still = timed.times[np.abs(timed.positions[:, 0] - 1.0) < 1e-12]
    assert np.ptp(still) == pytest.approx(4.0, rel=1e-6)


def test_pauses_and_bends_of_a_recording_raise_no_warning():
    rng = np.random.default_rng(1)
    with np.errstate(all="raise"):
        for _ in range(20):
            path = np.cumsum(rng.normal(size=(30, 4)) * rng.choice([0.0, 0.1], (30, 4)), axis=0)
            path[8:14] = path[8]
            times = np.cumsum(rng.choice([0.05, 1.0, 100.0], 30))
            timed = keep_pace(times - times[0], path, [3.0] * 4, [8.0] * 4)
            assert np.isfinite(timed.velocities).all()


@pytest.mark.parametrize(
    ("times", "pace", "message"),
    [([0.0], 1.0, "times"), ([0.0, 0.0], 1.0, "times"), ([1.0, 2.0], 1.0, "times")]
    + [([0.0, 1.0], pace, "pace") for pace in (0.0, -1.0, math.nan, math.inf)],
)
def test_invalid_pace_is_rejected(times, pace, message):
    with pytest.raises(KinematicsError, match=message):
        keep_pace(times, [[0.0], [1.0]], [1.0], [1.0], pace)
