# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tracking with the last answer as the seed leaps only where no small motion reaches the target.

Paths of 0.3 to 1 mm a step begin at nearly singular postures, many with joints at their limits.
"""

import numpy as np
import pytest
from arm_kinematics.model.lie import se3_exp
from arm_testing.arms.chains import shipped
from arm_testing.arms.lie import se3_log

from arm_kinematics import Chain

ROBOTS = ("ball_arm", "panda", "puma560", "puma560_gripper", "raghavan_roth", "rediestro", "ur5")
STEPS = 60
LEAP = 0.15  # [rad] of a joint in one step
MORE = 5.0  # times the motion of the best continuation


def nearly_singular(chain: Chain, rng: np.random.Generator) -> np.ndarray:
    """Return a posture with a small singular value, by a random descent."""
    low, high = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    q, width, goal = rng.uniform(low, high), 0.5, 0.3 * 10.0 ** rng.uniform(-3.0, -1.0)
    least = np.linalg.svd(chain.jacobian(q))[1][5]
    for _ in range(200):
        other = np.clip(q + width * rng.normal(size=chain.n), low, high)
        value = np.linalg.svd(chain.jacobian(other))[1][5]
        if value < least:
            q, least = other, value
        else:
            width *= 0.95
        if least < goal:
            break
    return q


def corrected(chain: Chain, T: np.ndarray, q: np.ndarray) -> np.ndarray | None:
    """Return the posture at T that small damped steps inside the limits lead to, or None."""
    for _ in range(30):
        error = se3_log(np.linalg.inv(chain.fk(q)) @ T)
        if np.abs(error).max() < 1e-7:
            return q
        J, free = chain.body_jacobian(q), np.ones(chain.n, dtype=bool)
        for _ in range(3):
            part = J * free
            step = part.T @ np.linalg.solve(part @ part.T + 1e-10 * np.eye(6), error)
            over = (q + step > chain.upper) & (q >= chain.upper - 1e-9)
            under = (q + step < chain.lower) & (q <= chain.lower + 1e-9)
            free &= ~(over | under)
        step *= min(1.0, 0.1 / np.abs(step).max())
        q = np.clip(q + step, chain.lower, chain.upper)
    return None


def continuation(chain: Chain, q: np.ndarray, T: np.ndarray, way: np.ndarray) -> float | None:
    """Return the largest motion of a joint [rad] when a step of the path is made in small ones."""
    for pieces in (20, 100):
        at: np.ndarray | None = q
        farthest = 0.0
        for k in range(pieces):
            new = corrected(chain, T @ se3_exp(way * (k + 1) / pieces), at)
            if new is None or np.abs(new - at).max() > 0.3:
                break
            at, farthest = new, max(farthest, float(np.abs(new - q).max()))
        else:
            return farthest
    return None


@pytest.mark.parametrize("count", [6, pytest.param(1430, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", ROBOTS)
def test_tracking_never_leaps_where_a_small_motion_exists(name, count, rng):
    chain, tracked = shipped(name), 0
    for _ in range(count):
        q = nearly_singular(chain, rng)
        way = np.concatenate([rng.normal(size=3), rng.normal(size=3)])
        way[:3] *= rng.uniform(3e-4, 1e-3) / np.linalg.norm(way[:3])
        way[3:] *= rng.choice([0.0, 1e-3, 5e-3]) / np.linalg.norm(way[3:])
        T = chain.fk(q)
        for _ in range(STEPS):
            result = chain.ik(T @ se3_exp(way), seed=q)
            if not result:
                break
            motion = float(np.abs(result.q - q).max())
            if motion > LEAP:
                least = continuation(chain, q, T, way)
                assert least is None or motion <= MORE * least, (q, T, way, least)
            T, q, tracked = T @ se3_exp(way), result.q, tracked + 1
    assert tracked > 10 * count
