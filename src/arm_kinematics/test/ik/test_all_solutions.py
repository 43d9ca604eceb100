# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Chain.all_solutions: modes, limits, whole turns, singular and unreachable targets, order."""

import itertools
import math

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp
from arm_kinematics.ik import redundancy
from arm_testing.arms.chains import in_limits, limited, shipped, turned

from arm_kinematics import Chain, ChainJoint, IkStatus, KinematicsError

Q = np.array([0.3, -1.2, 1.4, 0.5, 0.8, 2.0])


def rotating(name: str, limit: float = math.pi) -> Chain:
    return limited(shipped(name), -limit, limit)


def nearest(found: np.ndarray, q: np.ndarray) -> float:
    return float(np.abs(found - q).max(axis=1).min())


def error(chain: Chain, found: np.ndarray, T: np.ndarray) -> float:
    return max(np.abs(chain.fk(q) - T).max() for q in found)


def test_limits_only_remove_solutions(rng):
    wide, narrow = rotating("ur5"), rotating("ur5", 2.0)
    for _ in range(20):
        T = narrow.fk(rng.uniform(-2.0, 2.0, 6))
        kept = [q for q in wide.all_solutions(T).every_q if np.abs(q).max() <= 2.0]
        found = narrow.all_solutions(T).every_q
        assert len(kept) == len(found)
        for q in kept:
            assert nearest(found, q) < 1e-8


def test_joint_exactly_at_its_limit_is_inside():
    chain = rotating("ur5", 2.0)
    q = np.array([2.0, -1.2, 1.4, -2.0, 0.8, 2.0])
    found = chain.all_solutions(chain.fk(q)).every_q
    assert nearest(found, q) < 1e-8


def test_whole_turns_are_returned_where_limits_allow(rng):
    chain = rotating("ur5", 1.5 * math.pi)
    T = chain.fk(Q)
    once = chain.all_solutions(T).every_q
    every = chain.all_solutions(T, whole_turns=True)
    expected = 0
    for q in once:
        turned = [q + 2.0 * math.pi * k for k in (-1, 0, 1)]
        inside = [np.abs(t) <= 1.5 * math.pi + 1e-12 for t in turned]
        expected += int(np.prod(np.sum(inside, axis=0)))
    assert len(every.solutions) == expected > len(once)
    far = [s.distance for s in every.solutions]
    assert far == sorted(far)
    assert far == pytest.approx(np.linalg.norm(every.every_q, axis=1))
    assert error(chain, every.every_q, T) < 1e-9 and in_limits(chain, every.every_q)


def test_whole_turns_of_searched_solutions_are_returned():
    chain = rotating("planar3", 3.0 * math.pi)
    T = chain.fk([0.5, 0.6, 0.7])
    once = chain.all_solutions(T, mode="position")
    every = chain.all_solutions(T, mode="position", whole_turns=True)
    assert len(every.solutions) > len(once.solutions)
    assert in_limits(chain, every.every_q)
    assert max(s.position_error for s in every.solutions) <= 1e-5


@pytest.mark.parametrize("past", [3e-5, 1e-6, -3e-5])
@pytest.mark.parametrize("turn", [-1.0, 0.0, 1.0])
def test_solution_just_beyond_a_limit_uses_the_whole_turn_inside(past, turn):
    chain = rotating("ur5", 2.0 * math.pi)
    q = np.array([past, -1.2, 1.4, 0.5, 0.8, 2.0])
    seed = np.append(2.0 * math.pi * turn, q[1:])  # this turn of the first joint may be too far
    assert len(chain.all_solutions(chain.fk(q), seed).solutions) == 8


def test_default_is_the_whole_turn_nearest_to_the_seed():
    chain = rotating("ur5", 3.0 * math.pi)
    for turns in (-1.0, 0.0, 1.0):
        seed = Q + 2.0 * math.pi * turns
        assert np.abs(chain.all_solutions(chain.fk(Q), seed).q - seed).max() < 1e-8


def test_unlimited_joints_have_no_whole_turns_and_too_many_are_rejected():
    endless = rotating("ur5", math.inf)
    T = endless.fk(Q)
    assert len(endless.all_solutions(T, whole_turns=True).solutions) == 8
    with pytest.raises(KinematicsError, match="narrow the joint limits"):
        rotating("ur5", 100.0).all_solutions(T, whole_turns=True)


def test_straight_wrist_keeps_its_first_joint_at_the_seed_and_reports_it(rng):
    chain = rotating("puma560")
    q = np.array([0.3, 0.4, -1.2, 0.7, 0.0, 0.4])
    T = chain.fk(q)
    for roll in (-1.0, 0.2, 2.0):
        result = chain.all_solutions(T, [0.0, 0.0, 0.0, roll, 0.0, 0.0])
        assert "infinitely many" in result.message
        found = result.every_q
        assert nearest(found[:, :3], q[:3]) < 1e-8
        straight = found[np.abs(found[:, 4]) < 1e-9]
        assert len(straight) and np.abs(straight[:, 3] - roll).max() < 1e-9
        assert error(chain, found, T) < 1e-9
    assert "infinitely" not in chain.all_solutions(chain.fk(q + 0.1)).message


def test_straight_wrist_moves_off_the_seed_within_narrow_limits(rng):
    """With joint 4 at the seed, joint 6 would pass its limit; another split does not."""
    wide = rotating("puma560")
    limits = np.array([math.pi] * 5 + [0.5])
    chain = limited(wide, -limits, limits)
    q = np.array([0.3, 0.4, -1.2, 1.0, 0.0, 0.2])
    T = chain.fk(q)
    for roll in (-1.0, 0.2, 2.0):
        result = chain.all_solutions(T, [0.3, 0.4, -1.2, roll, 0.0, 0.0])
        straight = [p for p in result.every_q if np.abs(p[:3] - q[:3]).max() < 1e-6]
        assert straight and "infinitely many" in result.message
        assert error(chain, result.every_q, T) < 1e-8 and in_limits(chain, result.every_q)


def test_straight_ur_wrist_keeps_the_last_joint_at_the_seed():
    chain = rotating("ur5")
    T = chain.fk([0.3, -1.2, 1.4, 0.5, 0.0, 0.4])
    result = chain.all_solutions(T, [0.0, 0.0, 0.0, 0.0, 0.0, 1.5])
    assert "infinitely many" in result.message
    straight = [q for q in result.every_q if abs(q[4]) < 1e-9]
    assert straight and all(abs(q[5] - 1.5) < 1e-9 for q in straight)
    assert error(chain, result.every_q, T) < 1e-9


def test_wrist_above_the_shoulder_keeps_the_waist_at_the_seed():
    chain = rotating("anthropomorphic_arm")
    T = chain.fk([0.4, math.pi / 2, 0.0])  # straight up: the tip is on the first axis
    result = chain.all_solutions(T, [0.9, 0.0, 0.0], mode="position")
    assert "infinitely many" in result.message
    assert np.abs(result.every_q[:, 0] - 0.9).max() < 1e-9


def test_edge_of_reach_has_one_solution_and_beyond_it_none():
    chain = rotating("planar2")
    T = chain.fk([0.5, 0.0])
    assert len(chain.all_solutions(T, mode="position").solutions) == 1
    reach = np.linalg.norm(T[:3, 3])
    nearer, farther = T.copy(), T.copy()
    nearer[:3, 3] *= 1.0 - 1e-9
    farther[:3, 3] *= 1.0 + 1e-6 / reach
    assert len(chain.all_solutions(nearer, mode="position").solutions) == 2
    within = chain.all_solutions(farther, mode="position")  # within tolerance, as in ik
    assert within.ok and len(within.solutions) == 1
    farther[:3, 3] *= 1.1
    beyond = chain.all_solutions(farther, mode="position")
    assert beyond.status == IkStatus.UNREACHABLE_POSITION


def test_nearly_reachable_target_has_as_many_solutions_as_the_exact_one(rng):
    chain = rotating("nut_arm")
    for _ in range(10):
        T = chain.fk(rng.uniform(-1.0, 1.0, 4))
        exact = chain.all_solutions(T)
        within = chain.all_solutions(turned(T, rng.uniform(-1e-5, 1e-5, 3)))  # not held exactly
        assert within.ok and len(within.solutions) == len(exact.solutions) == 2
        assert max(s.position_error for s in within.solutions) <= 1e-5
        assert max(s.orientation_error for s in within.solutions) <= 1e-4


def test_failure_status_is_that_of_the_search():
    chain = shipped("nut_arm")
    T = turned(chain.fk([0.1, 0.2, 0.3, 0.4]), [0.0, 0.8, 0.0])
    assert chain.all_solutions(T).status == IkStatus.UNREACHABLE_ORIENTATION
    T[0, 3] += 1.0
    assert chain.all_solutions(T).status == IkStatus.UNREACHABLE_POSITION
    narrow = rotating("ur5", 1.0)
    q = [0.5, -0.5, 2.0, 0.5, 0.5, 0.5]
    result = narrow.all_solutions(narrow.fk(q))
    assert result.status == IkStatus.JOINT_LIMIT and result.limiting_joints
    best = narrow.all_solutions(narrow.fk(q), allow_approximate=True)
    assert best.status == IkStatus.APPROXIMATE


@pytest.mark.parametrize(
    ("name", "mode", "most"),
    [
        ("nut_arm", "position", 4),  # waist turned round or not, elbow either way
        ("nut_arm", "position_axis", 2),
        ("ur5", "position_axis", 8),
        ("puma560", "position_axis", 8),
    ],
)
def test_free_roll_stays_at_the_seed(name, mode, most, rng):
    chain = rotating(name)
    held = slice(3, 4) if mode == "position" else slice(2, 4)  # columns of a pose
    counts = set()
    for _ in range(5):
        q = rng.uniform(-1.5, 1.5, chain.n)
        T = turned(chain.fk(q), [0.0, 0.0, 1.0])  # another roll about the same axis
        found = chain.all_solutions(T, np.full(chain.n, 0.25), mode=mode).every_q
        counts.add(len(found))
        assert (found[:, -1] == 0.25).all()
        assert nearest(found[:, :-1], q[:-1]) < 1e-7
        for p in found:
            assert np.abs(chain.fk(p)[:3, held] - T[:3, held]).max() < 1e-9
    assert max(counts) == most


def test_tool_moves_the_placed_point(rng):
    chain = rotating("puma560")
    tool = pose(so3_exp([0.2, 0.3, 0.4]), [0.0, 0.05, 0.1])
    q = rng.uniform(-1.0, 1.0, 6)
    T = chain.fk(q) @ tool
    found = chain.all_solutions(T, tool=tool).every_q
    assert len(found) == 8 and nearest(found, q) < 1e-7


def test_weights_and_preference_order_the_solutions(rng):
    chain = rotating("ur5")
    T = chain.fk(rng.uniform(-1.0, 1.0, 6))
    plain = chain.all_solutions(T).every_q
    weighted = chain.all_solutions(T, weights=[0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    assert sorted(map(tuple, plain.round(6))) == sorted(map(tuple, weighted.every_q.round(6)))
    assert (np.diff(np.abs(weighted.every_q[:, 4])) > -1e-9).all()
    centred = chain.all_solutions(T, np.ones(6), prefer="centred")
    assert (np.diff(np.linalg.norm(centred.every_q, axis=1)) > -1e-9).all()


def test_ik_near_a_limit_returns_the_nearest_solution():
    chain = shipped("ur5")
    T = chain.fk([-5.7816, -6.2145, -0.0779, -3.4866, 2.0139, 5.0379])
    seed = [-5.6401, -6.2832, 0.2604, -3.4475, 1.9589, 5.2838]
    nearest = chain.all_solutions(T, seed).solutions[0]
    assert chain.ik(T, seed).solutions[0].distance == pytest.approx(nearest.distance, rel=1e-6)


def test_weights_use_the_free_directions_of_a_target(rng):
    chain = rotating("ur5")
    free = {"position_tolerance": (math.inf, 1e-5, 1e-5)}
    for _ in range(5):
        q = rng.uniform(-1.5, 1.5, 6)
        seed, T = q + rng.uniform(-0.5, 0.5, 6), chain.fk(q)
        near = chain.ik(T, seed, **free).solutions[0].distance
        weighted = chain.ik(T, seed, weights=(1.0,) * 6, **free).solutions[0].distance
        assert weighted < 1.01 * near


def test_ik_for_several_solutions_returns_the_nearest_ones(rng):
    chain = rotating("ur5")
    T, seed = chain.fk(rng.uniform(-1.0, 1.0, 6)), rng.uniform(-1.0, 1.0, 6)
    every = chain.all_solutions(T, seed).every_q
    assert np.allclose(chain.ik(T, seed, max_solutions=3).every_q, every[:3], rtol=0.0, atol=1e-9)
    assert len(chain.ik(T, seed, max_solutions=100).solutions) == len(every)


def test_general_6r_arm_returns_all_solutions(rng):
    wide = rotating("raghavan_roth")
    q = rng.uniform(-3.0, 3.0, 6)
    T = wide.fk(q)
    found = wide.all_solutions(T).every_q
    assert len(found) % 2 == 0 and nearest(found, q) < 1e-6
    assert error(wide, found, T) < 1e-9


@pytest.mark.parametrize(("name", "mode"), [("panda", "pose"), ("planar3", "position")])
def test_redundant_targets_return_several_solutions(name, mode):
    chain = shipped(name)
    result = chain.all_solutions(chain.fk(chain.middle + 0.1), mode=mode)
    assert result.ok and len(result.solutions) > 1


def test_self_motion_returns_partial_results_at_the_timeout(monkeypatch):
    chain = shipped("rediestro")
    T = chain.fk(chain.middle + 0.1)
    arm = redundancy.SevenR(chain.S, chain.M)
    clock = itertools.count(0.0, 0.01)
    monkeypatch.setattr(redundancy.time, "monotonic", lambda: next(clock))
    joints, ends = arm.by_motion[:2], (-1.0, 0.1, math.inf)
    found = [len(list(arm.curves(T, 0.1, joints, end))) for end in ends]
    assert found[0] == 0 and 0 < found[1] < found[2]
    assert chain.all_solutions(T, timeout=0.03).ok


def test_postures_of_a_self_motion_are_distinct(rng):
    chain = shipped("panda")
    for _ in range(5):
        q = chain.all_solutions(chain.fk(rng.uniform(chain.lower, chain.upper))).every_q
        apart = np.abs(q[:, None] - q[None]).max(axis=2) + np.eye(len(q))
        assert apart.min() > 1e-3


def iiwa() -> Chain:
    """Return an arm with spherical shoulder and wrist, as KUKA's iiwa."""
    z, y, up = [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.36, 0.36, 0.78, 0.78, 1.18, 1.18, 1.18]
    axes = np.array([z, y, z, [0.0, -1.0, 0.0], z, y, z])
    points = np.column_stack([np.zeros((7, 2)), up])
    joints = [
        ChainJoint(f"j{i + 1}", False, -2.9 + 0.8 * (i % 2), 2.9 - 0.8 * (i % 2)) for i in range(7)
    ]
    return Chain(np.vstack([np.cross(points, axes).T, axes.T]), pose(p=(0.0, 0.0, 1.33)), joints)


@pytest.mark.parametrize("arm", [lambda: shipped("panda"), iiwa], ids=["panda", "iiwa"])
def test_a_locked_joint_gives_postures_of_each_long_branch(arm, rng):
    chain, tool = arm(), pose(so3_exp([0.3, -0.2, 0.5]), (0.02, 0.0, 0.1))
    for _ in range(10):
        q = rng.uniform(chain.lower, chain.upper)
        T = chain.fk(q)
        found = chain.all_solutions(T @ tool, q, tool=tool)
        assert np.allclose(found.q, q, rtol=0.0, atol=1e-6) and 1 < len(found.solutions) <= 32
        assert max(np.abs(chain.fk(p) - T).max() for p in found.every_q) < 1e-7
        assert all(in_limits(chain, p) for p in found.every_q)
        for branch in redundancy.self_motion(chain, T, q).branches:
            if np.ptp(branch.q[:, 6]) > 1.2:
                gaps = np.abs(branch.q[:, None] - found.every_q[None]).max(axis=2)
                assert gaps.min() < 0.1


def test_ik_from_far_seeds_returns_the_nearest_of_all_solutions(rng):
    for name in ("puma560", "ur5"):
        chain = shipped(name)
        for _ in range(100):
            T = chain.fk(rng.uniform(chain.lower, chain.upper))
            seed = rng.uniform(chain.lower, chain.upper)
            nearest, one = chain.all_solutions(T, seed).solutions[0], chain.ik(T, seed)
            assert one.solutions[0].distance == pytest.approx(nearest.distance, abs=1e-6)


def test_every_q_holds_all_solutions_and_is_read_only(rng):
    chain = shipped("ur5")
    result = chain.all_solutions(chain.fk(rng.uniform(-3.0, 3.0, 6)))
    assert np.array_equal(result.every_q, [s.q for s in result.solutions])
    beyond = chain.ik(pose(p=(99.0, 0.0, 0.0)))
    assert not beyond.ok and np.array_equal(beyond.every_q, beyond.q[None])
    for read in (result.every_q, result.q, result.solutions[0].q):
        with pytest.raises(ValueError, match="read-only"):
            read[...] = 0.0


def test_rounded_rotation_loses_no_solution(rng):
    chain = rotating("ur5")
    T = chain.fk([0.3, -1.2, 1.4, 0.5, 0.8, -0.4])
    T[:3, :3] = T[:3, :3].round(7)
    assert "8 solutions" in chain.all_solutions(T).message


def test_invalid_arguments_are_rejected():
    chain = shipped("ur5")
    T = chain.fk(np.zeros(6))
    for arguments, pattern in (((2.0 * T,), "rotation"), ((T, np.zeros(5)), "seed")):
        with pytest.raises(KinematicsError, match=pattern):
            chain.all_solutions(*arguments)
