# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every solution is inside limits that depend on other joints, and one is found if it exists."""

import math

import numpy as np
import pytest
from arm_description.model.constraints import LinearExpression, LinearLimits
from arm_kinematics.model.chain_model import ChainJoint, one_turn
from arm_testing.files.robot_files import LINKAGE
from hypothesis import given
from hypothesis import strategies as st

from arm_description import load_robot, parse_robot
from arm_kinematics import Chain, IkStatus, KinematicsError

MODEL = parse_robot(LINKAGE)


def constrained(name, joint, lower, upper):
    """Return the chain of a shipped arm with limits (offset, factor by joint) of one joint."""
    model = load_robot(name)
    chain = Chain.from_model(model)
    limits = LinearLimits(
        joint, *((LinearExpression(o, tuple(f.items())),) for o, f in (lower, upper))
    )
    joints = [
        ChainJoint(j.name, j.type == "prismatic", j.lower, j.upper, j.velocity, j.acceleration)
        for j in model.joints
    ]
    return Chain(chain.S, chain.M, joints, links=chain.links, constraints=[limits])


def puma():
    names = load_robot("puma560").joint_names
    return constrained("puma560", names[2], (-1.2, {names[1]: -0.6}), (1.0, {names[1]: -0.8}))


def panda():
    names = load_robot("panda").joint_names
    return constrained("panda", names[5], (0.6, {names[3]: -0.4}), (2.2, {names[3]: -0.4}))


def inside_and_outside(chain, count):
    q = np.random.default_rng(3).uniform(chain.lower, chain.upper, (count, chain.n))
    within = chain.constraints.violation(q) <= 0.0
    assert 0.1 < within.mean() < 0.9  # the law is not empty
    return q[within], q[~within]


CHAINS = {
    "table": (lambda: Chain.from_model(MODEL), "position", 60),
    "urdf": (lambda: Chain.from_urdf(MODEL.to_urdf()), "position", 60),
    "closed form": (puma, "pose", 60),
    "redundant": (panda, "pose", 16),
}


@pytest.fixture(params=CHAINS.values(), ids=CHAINS)
def case(request):
    make, mode, count = request.param
    return make(), mode, count


def assert_inside(chain, result):
    assert chain.constraints.violation(result.every_q).max() <= 1e-9
    assert (result.every_q >= chain.lower - 1e-12).all()
    assert (result.every_q <= chain.upper + 1e-12).all()


@pytest.mark.parametrize("count", [15, pytest.param(1500, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("robot", ["mearm", "eezybotarm_mk1", "eezybotarm_mk2"])
def test_linkage_arm_reaches_exactly_what_its_linkage_allows(robot, count):
    """Their elbows bend one way only, so that a point has one posture, inside or outside."""
    model = load_robot(robot)
    chain = Chain.from_urdf(model.to_urdf())  # the node has nothing else
    assert chain.constraints and chain.upper[2] < 0.0
    rng = np.random.default_rng(8)
    drawn, seeds = rng.uniform(chain.lower, chain.upper, (2, count, chain.n))
    edge = np.array([chain.constraints.inside(q) for q in drawn[::4]])
    for q, seed in zip((*drawn, *edge), (*seeds, *seeds[::4]), strict=True):
        T, violation = chain.fk(q), model.constraint_set.violation(q)
        for mode in ("position", "pose"):
            result = chain.ik(T, seed, mode)
            assert result.ok == (violation <= 1e-9), (q, result.message)
            assert_inside(chain, result)
            if result.ok:
                np.testing.assert_allclose(chain.fk(result.q)[:3, 3], T[:3, 3], atol=1.01e-5)
            else:
                assert "elbow: at shoulder" in result.message
        assert chain.all_solutions(T, seed).ok == result.ok


def test_posture_inside_makes_a_target_with_an_answer_inside(case):
    chain, mode, count = case
    for q in inside_and_outside(chain, count)[0]:
        T = chain.fk(q)
        for result in (chain.ik(T, mode=mode), chain.all_solutions(T, mode=mode)):
            assert result.ok, (q, result.message)
            assert_inside(chain, result)
            reached = chain.fk(result.q)
            assert np.linalg.norm(reached[:3, 3] - T[:3, 3]) < 1e-5


def test_best_effort_and_approximate_answer_are_inside(case):
    chain, mode, count = case
    refused = 0
    for q in inside_and_outside(chain, count)[1]:
        result = chain.ik(chain.fk(q), mode=mode, allow_approximate=True)
        assert result.ok
        assert_inside(chain, result)
        refused += result.status == IkStatus.APPROXIMATE
    assert refused or chain.n == 7


@pytest.mark.parametrize("elbow", [-0.8, -0.5], ids=["within its range", "beyond it"])
def test_refusal_names_joint_and_the_range_that_is_allowed(elbow):
    """The elbow's range, -152 to -41 deg, is that for every position of the shoulder."""
    chain = Chain.from_model(MODEL)
    result = chain.ik(chain.fk([0.0, np.radians(95.0), elbow]), mode="position")
    assert result.status == IkStatus.JOINT_LIMIT
    assert result.limiting_joints == ("elbow",)
    assert "elbow: at shoulder 95 deg the linkage allows -134.9 to -81.21 deg" in result.message


def test_all_solutions_are_those_of_the_free_arm_that_are_inside():
    chain, free = puma(), Chain.from_model(load_robot("puma560"))
    for q in inside_and_outside(chain, 40)[0]:
        expected = free.all_solutions(free.fk(q)).every_q
        expected = expected[chain.constraints.violation(expected) <= 1e-9]
        np.testing.assert_allclose(chain.all_solutions(chain.fk(q)).every_q, expected, atol=1e-9)
        few = chain.ik(chain.fk(q), max_solutions=2)
        assert_inside(chain, few)
        assert len(few.solutions) <= 2


def test_batch_equals_single_calls():
    chain = puma()
    q = np.random.default_rng(5).uniform(chain.lower, chain.upper, (40, chain.n))
    Ts = np.array([chain.fk(one) for one in q])
    batch = chain.ik_batch(Ts, allow_approximate=True)
    for k, T in enumerate(Ts):
        single = chain.ik(T, allow_approximate=True)
        assert batch.status[k] == single.status
        np.testing.assert_array_equal(batch.q[k], single.q)


def test_tool_point_and_invalid_arguments():
    chain = puma()
    tool = np.eye(4)
    tool[:3, 3] = 0.02, -0.03, 0.1
    for q in inside_and_outside(chain, 12)[0]:
        result = chain.ik(chain.fk(q) @ tool, tool=tool)
        assert result.ok
        assert_inside(chain, result)
    far = chain.ik(np.diag([1.0, 1.0, 1.0, 1.0]) + 9.0 * np.eye(4, k=3), allow_approximate=True)
    assert_inside(chain, far)
    with pytest.raises(KinematicsError, match="max_solutions"):
        chain.ik(chain.M, max_solutions=0)


def test_jacobian_of_dependent_joints_is_the_derivative():
    chain = Chain.from_model(MODEL)
    for q in np.random.default_rng(6).uniform(chain.lower, chain.upper, (20, 3)):
        J, step = chain.jacobian(q), 1e-6
        for j, e in enumerate(step * np.eye(3)):
            rate = (chain.fk(q + e) - chain.fk(q - e)) / (2.0 * step)
            np.testing.assert_allclose(J[:3, j], rate[:3, 3], atol=1e-8)
            spin = rate[:3, :3] @ chain.fk(q)[:3, :3].T
            np.testing.assert_allclose(J[3:, j], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)


def test_chain_of_the_table_equals_that_of_the_urdf():
    one, other = Chain.from_model(MODEL), Chain.from_urdf(MODEL.to_urdf())
    np.testing.assert_array_equal(one.lower, other.lower)
    np.testing.assert_array_equal(one.velocity, other.velocity)
    np.testing.assert_allclose(one.S, other.S, atol=1e-15)
    assert one.gearing.screw_names == other.gearing.screw_names
    for q in np.random.default_rng(7).uniform(one.lower, one.upper, (10, 3)):
        poses, expected = one.link_poses(q), other.link_poses(q)
        assert set(poses) <= set(expected)
        for link, pose in poses.items():
            np.testing.assert_allclose(pose, expected[link], atol=1e-14)


limits = st.lists(
    st.tuples(st.floats(-20, 20), st.floats(1e-3, 20), st.booleans()), min_size=1, max_size=4
)


@given(limits)
def test_one_turn_is_within_the_limits_and_near_0_where_they_reach_it(joints):
    lower, width, sliding = map(np.array, zip(*joints, strict=True))
    upper = lower + width
    low, high = one_turn(lower, upper, sliding)
    assert (lower <= low).all() and (low < high).all() and (high <= upper).all()
    assert (sliding | (high - low <= math.tau + 1e-9)).all()
    assert (sliding <= ((low == lower) & (high == upper))).all()
    near = ~sliding & (lower < math.pi) & (upper > -math.pi)
    assert (np.abs(low[near]) <= math.pi).all() and (np.abs(high[near]) <= math.pi).all()
