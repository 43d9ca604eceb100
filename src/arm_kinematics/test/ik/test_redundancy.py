# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Self-motions of 7R arms: continuous, exact, inside limits, complete."""

import math

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp
from arm_kinematics.ik.redundancy import SelfMotion, sampled_solutions, self_motion
from arm_testing.arms.chains import apart, in_limits, limited, newton, posture, shipped

from arm_kinematics import Chain, ChainJoint, KinematicsError

STEP = 0.05
TURN = 2 * math.pi


def random_arm(seed: int, limit: float) -> Chain:
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(7, 3))
    w /= np.linalg.norm(w, axis=1)[:, None]
    points = np.cumsum(rng.uniform(-0.2, 0.2, (7, 3)), axis=0)
    joints = [ChainJoint(f"j{i}", False, -limit, limit) for i in range(7)]
    home = pose(so3_exp(rng.normal(size=3)), points[-1] + 0.1)
    return Chain(np.hstack([np.cross(points, w), w]).T, home, joints)


ARMS = {
    "panda": lambda: shipped("panda"),
    "rediestro": lambda: shipped("rediestro"),
    "random, narrow": lambda: random_arm(1, 2.0),
    "random, over a turn": lambda: random_arm(2, 4.0),
    "random, no limits": lambda: random_arm(3, math.inf),
}


@pytest.fixture(params=ARMS)
def arm(request: pytest.FixtureRequest) -> Chain:
    return ARMS[request.param]()


def gap(motion: SelfMotion, q) -> float:
    """Return the largest joint distance, up to turns, of q from the nearest branch posture."""
    return float(apart(np.concatenate([b.q for b in motion.branches]), q).min())


def test_branches_are_exact_continuous_inside_limits_and_sorted(arm, rng):
    for _ in range(2):
        q = posture(arm, rng)
        T = arm.fk(q)
        branches = self_motion(arm, T, q, step=STEP).branches
        assert branches and branches[0].distance < STEP
        assert [b.distance for b in branches] == sorted(b.distance for b in branches)
        for b in branches:
            assert max(np.abs(arm.fk(p) - T).max() for p in b.q) < 1e-9
            assert len(b.q) == 1 or np.abs(np.diff(b.q, axis=0)).max() <= STEP
            assert in_limits(arm, b.q)
            assert np.all(np.diff(b.length) > 0) and len(b.length) == len(b.q)


def test_open_branch_ends_at_the_limit_it_names(rng):
    arm = ARMS["panda"]()
    named = 0
    for _ in range(4):
        for b in self_motion(arm, arm.fk(posture(arm, rng))).branches:
            for p, name in ((b.q[0], b.ends[0]), (b.q[-1], b.ends[1])):
                if name:
                    named += 1
                    i = arm.joint_names.index(name)
                    assert p[i] in (arm.lower[i], arm.upper[i])
    assert named > 8


def test_limits_tighter_than_a_step_still_yield_a_branch(rng):
    free = ARMS["random, no limits"]()
    for _ in range(5):
        q = posture(free, rng)
        arm = limited(free, q - 0.006, q + 0.005)
        (branch,) = self_motion(arm, arm.fk(q), q, step=STEP).branches
        assert branch.distance < 0.01 and "" not in branch.ends
        assert in_limits(arm, branch.q)


def test_branches_without_limits_are_closed(rng):
    arm = ARMS["random, no limits"]()
    for _ in range(3):
        branches = self_motion(arm, arm.fk(posture(arm, rng))).branches
        assert branches
        for b in branches:
            turns = (b.q[-1] - b.q[0]) / TURN
            assert b.closed and b.ends == ("", "")
            assert np.abs(turns - np.round(turns)).max() < 1e-6


def test_every_posture_of_the_pose_is_on_a_branch(arm, rng):
    T = arm.fk(posture(arm, rng))
    motion = self_motion(arm, T, step=STEP)
    seen = 0
    for _ in range(60):
        q = newton(arm, T, posture(arm, rng))
        if q is None:
            continue
        q = (q + math.pi) % TURN - math.pi
        if np.all(q > arm.lower + STEP) and np.all(q < arm.upper - STEP):
            seen += 1
            assert gap(motion, q) < STEP
    assert seen > 2


def test_locked_joint_does_not_change_the_result(rng):
    arm = ARMS["panda"]()
    q = posture(arm, rng)
    every = self_motion(arm, arm.fk(q))
    one = self_motion(arm, arm.fk(q), joint="panda_joint7")
    assert gap(one, q) < STEP
    assert all(gap(every, p) < STEP for b in one.branches for p in b.q[::10])


def test_samples_are_spread_over_branches_nearest_first(arm, rng):
    q = posture(arm, rng)
    T = arm.fk(q)
    found = sampled_solutions(arm, T, q, count=40)
    distances = np.linalg.norm(found - q, axis=1)
    assert 10 < len(found) <= 40
    assert np.all(np.diff(distances) >= 0) and distances[0] < STEP
    assert max(np.abs(arm.fk(p) - T).max() for p in found) < 1e-9
    assert len(np.unique(np.round(found, 9), axis=0)) == len(found)


def test_self_motion_is_deterministic(rng):
    q = posture(ARMS["panda"](), rng)
    first, again = (self_motion(a, a.fk(q), q) for a in (ARMS["panda"](), ARMS["panda"]()))
    assert len(first.branches) == len(again.branches)
    for a, b in zip(first.branches, again.branches, strict=True):
        assert np.array_equal(a.q, b.q) and a.ends == b.ends


def test_unreachable_pose_has_no_branch():
    arm = ARMS["panda"]()
    T = arm.fk(arm.middle)
    T[:3, 3] = [5.0, 0.0, 0.0]
    assert self_motion(arm, T) == SelfMotion(())
    assert sampled_solutions(arm, T).shape == (0, 7)


@pytest.mark.parametrize(
    ("function", "arguments", "pattern"),
    [
        (self_motion, {"step": 2.0}, "step is"),
        (self_motion, {"joint": "elbow"}, "'elbow'; expected one of panda_joint1"),
        (self_motion, {"seed": [0.0] * 6}, "seed: expected 7"),
        (self_motion, {"T": np.full((4, 4), math.nan)}, "NaN"),
        (self_motion, {"chain": shipped("puma560")}, "seven revolute joints"),
        (sampled_solutions, {"count": 0}, "count"),
    ],
)
def test_invalid_arguments_are_rejected(function, arguments, pattern):
    arm = ARMS["panda"]()
    with pytest.raises(KinematicsError, match=pattern):
        function(**{"chain": arm, "T": arm.fk(arm.middle), **arguments})
