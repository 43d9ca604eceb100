# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What may be asked of a solution: axis, tool, boxes of tolerance, weights, preference."""

import math

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp, so3_log
from arm_kinematics.lie import se3_exp
from arm_testing.chains import in_limits, limited, posture, shipped, turned

from arm_kinematics import Chain, IkStatus

FREE = math.inf
TARGETS = 60


@pytest.fixture(scope="module")
def puma() -> Chain:
    return shipped("puma560")


@pytest.fixture(scope="module")
def panda() -> Chain:
    return shipped("panda")


def postures(chain: Chain, rng: np.random.Generator, count: int = TARGETS) -> np.ndarray:
    return np.array([posture(chain, rng, 3.0) for _ in range(count)])


def seen_from(T: np.ndarray, reached: np.ndarray, axes: str) -> np.ndarray:
    """Error of the position along the axes of the target or of the tool."""
    R = T[:3, :3] if axes == "target" else reached[:3, :3]
    return R.T @ (reached - T)[:3, 3]


def tilt_of(T: np.ndarray, reached: np.ndarray, axis: np.ndarray, axes: str) -> np.ndarray:
    """Shortest rotation vector from the target's axis to the tool's, along the axes asked for."""
    a, b = T[:3, :3] @ axis, reached[:3, :3] @ axis
    normal = np.cross(a, b)
    angle = math.atan2(float(np.linalg.norm(normal)), float(a @ b))
    R = T[:3, :3] if axes == "target" else reached[:3, :3]
    return R.T @ normal * angle / max(float(np.linalg.norm(normal)), 1e-300)


@pytest.mark.parametrize("name", ["nut_arm", "puma560", "panda"])
def test_any_axis_of_the_tool_can_be_pointed(name, rng):
    chain = shipped(name)
    for q in postures(chain, rng):
        T, axis = chain.fk(q), rng.normal(size=3)
        r = chain.ik(T, mode="position_axis", axis=tuple(axis))
        assert r.ok, r
        axis /= np.linalg.norm(axis)
        tilt = np.linalg.norm(tilt_of(T, chain.fk(r.q), axis, "target"))
        assert tilt <= 1e-4
        assert r.orientation_error == pytest.approx(tilt, abs=1e-9)


@pytest.mark.parametrize("mode", ["pose", "position", "position_axis"])
@pytest.mark.parametrize("name", ["planar3", "nut_arm", "puma560", "panda"])
def test_with_a_tool_it_is_the_tools_point_that_gets_there(name, mode, rng):
    chain = shipped(name)
    tool = se3_exp([0.03, -0.02, 0.1, 0.4, -0.3, 0.2])
    for q in postures(chain, rng, 20):
        T = chain.fk(q) @ tool
        r = chain.ik(T, mode=mode, tool=tool)
        assert r.ok, r
        reached = chain.fk(r.q) @ tool
        place = np.linalg.norm((reached - T)[:3, 3])
        assert place <= 1e-5 and r.position_error == pytest.approx(place, abs=1e-9)
        if mode == "pose":
            assert np.linalg.norm(so3_log(T[:3, :3].T @ reached[:3, :3])) <= 1e-4
        if mode == "position_axis":
            z = np.array([0.0, 0.0, 1.0])
            assert np.linalg.norm(tilt_of(T, reached, z, "target")) <= 1e-4


@pytest.mark.parametrize("axes", ["target", "tool"])
@pytest.mark.parametrize("mode", ["pose", "position_axis", "position"])
def test_each_component_of_the_position_keeps_its_tolerance(puma, axes, mode, rng):
    """Targets beside reachable ones, by no more than the box allows."""
    box = np.array([0.04, 1e-5, 2e-3])
    for q in postures(puma, rng):
        beside = rng.uniform(-box, box)
        T = puma.fk(q) @ pose(p=beside)  # the same axes: the error lies in the box
        r = puma.ik(T, q, mode, position_tolerance=tuple(box), tolerance_axes=axes)
        assert r.ok, r
        error = seen_from(T, puma.fk(r.q), axes)
        assert (np.abs(error) <= box * (1.0 + 1e-6)).all()
        assert r.position_error == pytest.approx(np.linalg.norm(error), abs=1e-9)


def test_a_free_direction_of_the_target_and_of_the_tool():
    """A planar arm and a target above its plane; then one off the line that its tool draws."""
    arm = shipped("planar3")
    T = arm.fk([0.3, 0.5, -0.2])
    above = T.copy()
    above[:3, 3] += 0.1 * T[:3, :3] @ [0.0, 0.0, 1.0]
    assert abs(above[2, 3] - T[2, 3]) == pytest.approx(0.1)
    assert arm.ik(above, mode="position").status == IkStatus.UNREACHABLE_POSITION
    r = arm.ik(above, mode="position", position_tolerance=(1e-5, 1e-5, FREE))
    assert r.status == IkStatus.SUCCESS and r.position_error == pytest.approx(0.1)

    long = T @ pose(p=[1.5, 0.0, 0.0])  # along the last link, far beyond reach
    assert arm.ik(long).status == IkStatus.UNREACHABLE_POSITION
    r = arm.ik(long, position_tolerance=(FREE, 1e-5, 1e-5), tolerance_axes="tool")
    assert r.status == IkStatus.SUCCESS
    assert np.abs(seen_from(long, arm.fk(r.q), "tool")[1:]).max() <= 1e-5


def test_no_position_at_all_is_the_orientation_alone(puma, rng):
    for q in postures(puma, rng, 20):
        T = puma.fk(q)
        T[:3, 3] += 100.0
        r = puma.ik(T, position_tolerance=(FREE, FREE, FREE))
        assert r.ok
        assert np.linalg.norm(so3_log(T[:3, :3].T @ puma.fk(r.q)[:3, :3])) <= 1e-4


@pytest.mark.parametrize("axes", ["target", "tool"])
def test_each_component_of_a_tilt_keeps_its_tolerance(nut_arm, axes, rng):
    """The nut arm cannot lean sideways: a box open that way lets it, the other way round not."""
    solved = 0
    for q in postures(nut_arm, rng):
        spin = so3_exp([0.0, 0.0, rng.uniform(-3.0, 3.0)])
        T = nut_arm.fk(q)
        sideways = T[:3, :3].T @ np.cross([0.0, 0.0, 1.0], T[:3, 3])  # the axis of pitching
        lean = np.cross(sideways / np.linalg.norm(sideways), [0.0, 0.0, 1.0])
        T[:3, :3] = T[:3, :3] @ so3_exp(0.2 * lean) @ spin
        box = np.array([0.3, 0.25, 1e-4])
        r = nut_arm.ik(
            T, q, "position_axis", orientation_tolerance=tuple(box), tolerance_axes=axes
        )
        tilt = tilt_of(T, nut_arm.fk(r.q), np.array([0.0, 0.0, 1.0]), axes)
        assert r.orientation_error == pytest.approx(np.linalg.norm(tilt), abs=1e-9)
        if r.ok:
            solved += 1
            assert (np.abs(tilt) <= box * (1.0 + 1e-6)).all()
        strict = nut_arm.ik(T, q, "position_axis", orientation_tolerance=(0.1, 0.1, 0.1))
        assert strict.status != IkStatus.SUCCESS
    assert solved > TARGETS // 2


@pytest.mark.parametrize("k", [0, 1])
def test_a_pose_free_about_one_axis_is_that_axis_with_a_box(puma, k, rng):
    axis, box, open_box = np.eye(3)[k], np.full(3, 1e-3), np.full(3, 1e-3)
    box[2], open_box[2] = 1e-4, 1e-4
    box[k], open_box[k] = FREE, 1.0
    for q in postures(puma, rng, 20):
        T = puma.fk(q)
        free = puma.ik(T, orientation_tolerance=tuple(box))
        pointed = puma.ik(
            T, mode="position_axis", axis=2.0 * axis, orientation_tolerance=tuple(open_box)
        )
        for r in (free, pointed):
            tilt = tilt_of(T, puma.fk(r.q), axis, "target")
            assert r.ok and (np.abs(tilt) <= np.where(axis, 1e-12, box)).all()


def test_only_the_roll_counts(puma, rng):
    """Two of three components free: what is left of the rotation vector is small."""
    for q in postures(puma, rng, 20):
        T = puma.fk(q)
        r = puma.ik(T, orientation_tolerance=(FREE, FREE, 1e-4))
        assert r.ok
        assert abs(so3_log(T[:3, :3].T @ puma.fk(r.q)[:3, :3])[2]) <= 1e-4


def test_five_joints_hold_a_whole_pose_within_tolerance(puma, rng):
    arm = limited(puma, puma.lower[:5], puma.upper[:5])
    solved = 0
    for q in postures(arm, rng):
        T = arm.fk(q)
        assert arm.ik(T).ok  # what it can hold exactly it holds exactly
        T = turned(T, 0.05 * rng.uniform(-0.57, 0.57, 3))
        r = arm.ik(T, orientation_tolerance=0.05)
        assert r.ok and r.position_error <= 1e-5 and r.orientation_error <= 0.05
        near = arm.ik(T, allow_approximate=True)
        solved += near.status == IkStatus.SUCCESS
        assert near.ok and near.position_error < 1e-3
    assert solved == 0  # six conditions, five joints


def still(chain: Chain, q: np.ndarray, pull: np.ndarray, rows: slice) -> float:
    """Largest way left in the null space towards where pull goes, as a share of pull."""
    free = (q > chain.lower + 1e-9) & (q < chain.upper - 1e-9)
    J = chain.jacobian(q)[rows][:, free]
    null = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-6) :]
    return float(np.linalg.norm(null @ pull[free])) / max(float(np.linalg.norm(pull)), 1e-9)


@pytest.mark.parametrize(("mode", "rows"), [("pose", slice(0, 6)), ("position", slice(0, 3))])
def test_weights_and_preference_lead_to_a_stationary_point(panda, mode, rows, rng):
    weights = np.array([5.0, 1.0, 0.5, 2.0, 1.0, 3.0, 0.2])
    half = 0.5 * (panda.upper - panda.lower)
    settled = []
    for q in postures(panda, rng, 25):
        T = panda.fk(q)
        near = panda.ik(T, panda.middle, mode, weights=tuple(weights))
        settled.append(still(panda, near.q, weights * (near.q - panda.middle), rows))
        centred = panda.ik(T, q, mode, prefer="centred")
        settled.append(still(panda, centred.q, (centred.q - panda.middle) / half**2, rows))
        for r in (near, centred):
            assert r.ok and r.position_error <= 1e-5 and in_limits(panda, r.q)
    assert np.median(settled) < 0.01 and np.quantile(settled, 0.9) < 0.1


def test_a_heavy_joint_moves_less_and_a_named_weight_is_that_joints(panda, rng):
    for q in postures(panda, rng, 10):
        T = panda.fk(q)
        seed = np.clip(q + rng.uniform(-0.3, 0.3, 7), panda.lower, panda.upper)
        name = panda.joint_names[2]
        heavy = panda.ik(T, seed, "position", weights={name: 100.0})
        light = panda.ik(T, seed, "position", weights={name: 1e-3})
        assert abs(heavy.q[2] - seed[2]) < abs(light.q[2] - seed[2])
        by_order = panda.ik(T, seed, "position", weights=(1, 1, 100, 1, 1, 1, 1))
        assert np.array_equal(by_order.q, heavy.q)


def test_solutions_are_ordered_by_the_weighed_distance(puma, rng):
    weights = np.array([3.0, 1.0, 0.0, 1.0, 2.0, 0.5])
    orders = set()
    for q in postures(puma, rng, 20):
        T, seed = puma.fk(q), np.clip(q + 0.5, puma.lower, puma.upper)
        r = puma.ik(T, seed, weights=tuple(weights), max_solutions=4)
        distances = [s.distance for s in r.solutions]
        assert distances == sorted(distances)
        for s in r.solutions:
            expected = math.sqrt(float(weights @ (s.q - seed) ** 2))
            assert s.distance == pytest.approx(expected)
        best = puma.ik(T, seed, weights=tuple(weights)).q
        assert np.allclose(best, r.solutions[0].q, rtol=0.0, atol=1e-6)
        orders.add(np.allclose(best, puma.ik(T, seed).q, rtol=0.0, atol=1e-6))
    assert orders == {True, False}


def test_centred_is_the_least_strained_of_all_solutions(puma, rng):
    half, middle = 0.5 * (puma.upper - puma.lower), 0.5 * (puma.upper + puma.lower)
    for q in postures(puma, rng, 20):
        r = puma.ik(puma.fk(q), q, prefer="centred", max_solutions=8)
        strain = [float((((s.q - middle) / half) ** 2).sum()) for s in r.solutions]
        assert strain == sorted(strain)
        one = puma.ik(puma.fk(q), q, prefer="centred")
        assert np.allclose(one.q, r.solutions[0].q, rtol=0.0, atol=1e-6)
        assert len(one.solutions) == 1


def test_weights_of_nothing_are_no_reason_to_fail(panda):
    T = panda.fk(panda.middle + 0.1)
    r = panda.ik(T, mode="position", weights=(0.0,) * 7)
    assert r.ok and r.solutions[0].distance == 0.0
