# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""All solutions of 6R arms: complete and exact; published examples; special geometry."""

import math
from itertools import pairwise

import numpy as np
import pytest
from arm_common.transforms import pose
from arm_kinematics.ik.general_6r import General6R
from arm_testing.arms.chains import apart, dh_parts, newton, shipped
from arm_testing.arms.samples import sampled

from arm_description import load_robot
from arm_kinematics import Chain, ChainJoint, KinematicsError

JOINTS = [ChainJoint(f"j{i}", False, -math.inf, math.inf) for i in range(6)]
RIGHT = math.pi / 2


def arm(a, d, alpha) -> Chain:
    return Chain(*dh_parts(a, d, alpha), JOINTS)


def size(chain: Chain) -> float:
    return float(np.abs(chain.S).max() + np.abs(chain.M[:3, 3]).max())


def solve(chain: Chain, T: np.ndarray) -> np.ndarray:
    return General6R(chain.S, chain.M).solve(T)


def check(chain: Chain, q) -> np.ndarray:
    """Check solutions of the pose at q: exact, distinct, even in number, in range, with q."""
    T = chain.fk(q)
    found = solve(chain, T)
    scale = np.array([1, 1, 1, size(chain)])
    assert all(np.abs((chain.fk(p) - T) / scale).max() < 1e-10 for p in found)
    assert np.all(found <= math.pi) and np.all(found > -math.pi)
    assert len(found) % 2 == 0 and len(found) <= 16
    assert all(apart(found[i + 1 :], found[i]).min() > 1e-6 for i in range(len(found) - 1))
    assert apart(found, q).min() < 1e-6
    return found


@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0])
@pytest.mark.parametrize("seed", sampled(range(4), 0))
def test_general_arm_solutions_are_complete(seed, scale):
    rng = np.random.default_rng(seed)
    a, d = rng.uniform(-scale, scale, (2, 6))
    chain = arm(a, d, rng.uniform(-math.pi, math.pi, 6))
    for k in range(10):
        q = rng.uniform(-math.pi, math.pi, 6)
        found = check(chain, q)
        if k > 0:
            continue
        reached = 0
        for start in rng.uniform(-math.pi, math.pi, (60, 6)):
            end = newton(chain, chain.fk(q), start, rcond=1e-15)
            if end is not None:
                reached += 1
                assert apart(found, end).min() < 1e-6
        assert reached > 3


def test_published_arm_has_sixteen_real_solutions():
    """R. Manseur and K. L. Doty, "A robot manipulator with 16 real inverse kinematic solution
    sets", Int. J. Robotics Research 8(5), 1989, pp. 75-79; pose printed to six digits."""
    chain = arm([0.3, 1, 0, 1.5, 0, 0], [0, 0, 0.2, 0, 0, 0], [RIGHT, 0, RIGHT, 0, RIGHT, 0])
    T = np.eye(4)
    T[:3] = [
        [-0.760117, -0.641689, 0.102262, -1.140175],
        [0.133333, 0.0, 0.991071, 0.0],
        [-0.635959, 0.766965, 0.085558, 0.0],
    ]
    u, _, w = np.linalg.svd(T[:3, :3])
    T[:3, :3] = u @ w
    found = solve(chain, T)
    assert len(found) == 16
    assert all(np.abs(chain.fk(q) - T).max() < 1e-10 for q in found)
    assert min(apart(found[i + 1 :], found[i]).min() for i in range(15)) > 0.1


def test_raghavan_and_roth_example_has_its_two_printed_solutions():
    chain, postures = shipped("raghavan_roth"), load_robot("raghavan_roth").postures
    printed = [chain.positions(postures[name]) for name in ("first", "second")]
    found = solve(chain, chain.fk(printed[0]))
    assert len(found) == 2
    assert all(apart(found, q).min() < math.radians(2e-3) for q in printed)


SKEW = [0.3, 0.1, 0.1, 0.4, 0, 0.1], [1.1, 0.7, -1.3, RIGHT, -RIGHT, 0]  # d, alpha
SQUARE = [0.3, 0.2, 0.1, 0.4, 0.1, 0.1], [0.2, 0.1, 0.3, 0.2, 0.1, 0.1]  # a, d
OFFSET = [0, 0, 0, 0.54, 0.15, 0.16]
SPECIAL = {
    "spherical wrist": ([0.2, 0.4, 0.1, 0, 0, 0], *SKEW),
    "parallel axes 4 and 5": (
        [0.2, 0.4, 0.1, 0.3, 0.1, 0],
        [0.3, 0.1, 0.1, 0.4, 0.1, 0.1],
        [1.1, 0.7, -1.3, 0, -RIGHT, 0],
    ),
    "three axes through a point": (
        [0.2, 0.4, 0, 0, 0.2, 0],
        [0.3, 0.1, 0.1, 0, 0, 0.1],
        [1.1, 0.7, -1.3, 1.2, -0.7, 0],
    ),
    "offset wrist": ([0, 0.54, 0, 0, 0, 0], OFFSET, [-RIGHT, 0, -RIGHT, RIGHT, -RIGHT, 0]),
    "all right angles": (*SQUARE, [RIGHT, -RIGHT, RIGHT, RIGHT, -RIGHT, 0]),
    "nearly parallel": (*SQUARE, [1e-6, -RIGHT, 1e-4, RIGHT, 1e-9, 0]),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_geometry_is_solved(name, rng):
    chain = arm(*SPECIAL[name])
    for _ in range(15):
        check(chain, rng.uniform(-math.pi, math.pi, 6))


@pytest.mark.parametrize("name", ["puma560", "ur5"])
def test_industrial_arms_have_at_most_eight_solutions(name, rng):
    chain = shipped(name)
    counts = [len(check(chain, rng.uniform(-math.pi, math.pi, 6))) for _ in range(25)]
    assert max(counts) == 8 and set(counts) <= {2, 4, 6, 8}


@pytest.fixture
def general(rng) -> Chain:
    a, d = rng.uniform(-0.5, 0.5, (2, 6))
    return arm(a, d, rng.uniform(-math.pi, math.pi, 6))


def test_unreachable_pose_has_no_solution(general):
    far = pose(p=(50.0, 0.0, 0.0))
    assert solve(general, far).shape == (0, 6)


def singular_posture(chain: Chain, rng) -> np.ndarray:
    """Return a posture where the Jacobian's determinant crosses zero, by bisection."""

    def sign(q):
        return np.linalg.det(chain.jacobian(q)) > 0

    path = np.cumsum(rng.uniform(-0.5, 0.5, (2000, 6)), axis=0)
    low, high = next((p, q) for p, q in pairwise(path) if sign(p) != sign(q))
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if sign(middle) == sign(low) else (low, middle)
    return low


def test_singular_posture_is_found_where_two_solutions_meet(general, rng):
    for _ in range(80):
        q = singular_posture(general, rng)
        found = solve(general, general.fk(q))
        assert apart(found, q).min() < 1e-6
        assert np.sum(apart(found, q) < 1e-3) <= 2


@pytest.mark.parametrize("off", [1e-2, 1e-4, 1e-5])
def test_both_solutions_near_a_singular_posture_are_found(general, rng, off):
    for _ in range(10):
        q = singular_posture(general, rng)
        null = np.linalg.svd(general.jacobian(q))[2][-1]
        found = check(general, q + off * null)
        assert np.sum(apart(found, q) < 10 * off) >= 2


def test_general_6r_is_deterministic(general, rng):
    T = general.fk(rng.uniform(-math.pi, math.pi, 6))
    first = solve(general, T)
    again = General6R(general.S.copy(), np.asfortranarray(general.M)).solve(T.tolist())
    assert np.array_equal(first, again)


def test_other_arms_and_invalid_poses_are_rejected(general):
    sliding = general.S.copy()
    sliding[:, 2] = [0, 0, 1, 0, 0, 0]
    with pytest.raises(KinematicsError, match="joint 3"):
        General6R(sliding, general.M).solve(general.M)
    with pytest.raises(KinematicsError, match=r"shape \(6, 6\)"):
        General6R(general.S[:, :5], general.M).solve(general.M)
    with pytest.raises(KinematicsError, match="NaN"):
        solve(general, np.full((4, 4), math.nan))
