# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Options of inverse kinematics: axis, tool, component tolerances, weights, preference."""

import math

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp, so3_log
from arm_kinematics.ik.options import MODES, OF_STEP, IkOptions, option_record
from arm_kinematics.model.lie import se3_exp
from arm_kinematics.paths.cartesian_path import PathOptions
from arm_testing.arms.chains import in_limits, limited, posture, shipped, turned
from arm_testing.arms.samples import ROBOTS

from arm_description import load_robot
from arm_kinematics import Chain, ChainJoint, IkStatus, KinematicsError

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


def position_error_along(T: np.ndarray, reached: np.ndarray, axes: str) -> np.ndarray:
    """Return the position error along the axes of the target or of the tool."""
    R = T[:3, :3] if axes == "target" else reached[:3, :3]
    return R.T @ (reached - T)[:3, 3]


def tilt_error(T: np.ndarray, reached: np.ndarray, axis: np.ndarray, axes: str) -> np.ndarray:
    """Return the shortest rotation vector from the target's axis to the tool's, along axes."""
    a, b = T[:3, :3] @ axis, reached[:3, :3] @ axis
    normal = np.cross(a, b)
    angle = math.atan2(float(np.linalg.norm(normal)), float(a @ b))
    R = T[:3, :3] if axes == "target" else reached[:3, :3]
    return R.T @ normal * angle / max(float(np.linalg.norm(normal)), 1e-300)


@pytest.mark.parametrize("mode", MODES)
def test_record_has_the_part_of_the_orientation_that_the_mode_declares(mode):
    options = IkOptions(mode, 1e-5, 1e-4, None, "target", None, "nearest")
    assert option_record(options, 1.0, ["a"])["orientation"] == MODES[mode].orientation


@pytest.mark.parametrize("mode", MODES)
def test_modes_with_the_same_part_of_the_orientation_are_equal(mode, rng, monkeypatch):
    monkeypatch.setitem(MODES, "twin", MODES[mode]._replace(name="twin"))
    chain = shipped("puma560")
    T, other = (chain.fk(rng.uniform(chain.lower, chain.upper)) for _ in range(2))
    more = {"axis": (1.0, 0.5, 0.0)} if mode == "position_axis" else {}
    target = T[:3, 3] if mode == "position" else T
    a, b = (chain.ik(target, mode=each, **more) for each in (mode, "twin"))
    assert a.status == b.status == IkStatus.SUCCESS and np.array_equal(a.q, b.q)
    a, b = (PathOptions(mode=each, **more) for each in (mode, "twin"))
    assert a.error(T, other) == b.error(T, other) and a.turns() == b.turns()


def test_tasks_keep_their_modes():
    assert OF_STEP == {"full": "pose", "any": "position", "axis": "position_axis"}


@pytest.mark.parametrize("name", ["nut_arm", "puma560", "panda"])
def test_any_tool_axis_can_be_pointed(name, rng):
    chain = shipped(name)
    for q in postures(chain, rng):
        T, axis = chain.fk(q), rng.normal(size=3)
        r = chain.ik(T, mode="position_axis", axis=tuple(axis))
        assert r.ok, r
        axis /= np.linalg.norm(axis)
        tilt = np.linalg.norm(tilt_error(T, chain.fk(r.q), axis, "target"))
        assert tilt <= 1e-4
        assert r.orientation_error == pytest.approx(tilt, abs=1e-9)


@pytest.mark.parametrize("mode", ["pose", "position", "position_axis"])
@pytest.mark.parametrize("name", ["planar3", "nut_arm", "puma560", "panda"])
def test_tool_point_reaches_the_target(name, mode, rng):
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
            assert np.linalg.norm(tilt_error(T, reached, z, "target")) <= 1e-4


@pytest.mark.parametrize("axes", ["target", "tool"])
@pytest.mark.parametrize("mode", ["pose", "position_axis", "position"])
def test_position_components_keep_their_tolerances(puma, axes, mode, rng):
    """Targets are beside reachable ones, within the box."""
    box = np.array([0.04, 1e-5, 2e-3])
    for q in postures(puma, rng):
        beside = rng.uniform(-box, box)
        T = puma.fk(q) @ pose(p=beside)  # the same axes: the error lies in the box
        r = puma.ik(T, q, mode, position_tolerance=tuple(box), tolerance_axes=axes)
        assert r.ok, r
        error = position_error_along(T, puma.fk(r.q), axes)
        assert (np.abs(error) <= box * (1.0 + 1e-6)).all()
        assert r.position_error == pytest.approx(np.linalg.norm(error), abs=1e-9)


def test_free_direction_lies_along_target_or_tool_axes():
    """A planar arm with a target above its plane, then one off the line of its tool."""
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
    assert np.abs(position_error_along(long, arm.fk(r.q), "tool")[1:]).max() <= 1e-5


def test_free_position_leaves_the_orientation(puma, rng):
    for q in postures(puma, rng, 20):
        T = puma.fk(q)
        T[:3, 3] += 100.0
        r = puma.ik(T, position_tolerance=(FREE, FREE, FREE))
        assert r.ok
        assert np.linalg.norm(so3_log(T[:3, :3].T @ puma.fk(r.q)[:3, :3])) <= 1e-4


@pytest.mark.parametrize("axes", ["target", "tool"])
def test_tilt_components_keep_their_tolerances(nut_arm, axes, rng):
    """The nut arm cannot lean sideways: only a box open in that direction is met."""
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
        tilt = tilt_error(T, nut_arm.fk(r.q), np.array([0.0, 0.0, 1.0]), axes)
        assert r.orientation_error == pytest.approx(np.linalg.norm(tilt), abs=1e-9)
        if r.ok:
            solved += 1
            assert (np.abs(tilt) <= box * (1.0 + 1e-6)).all()
        strict = nut_arm.ik(T, q, "position_axis", orientation_tolerance=(0.1, 0.1, 0.1))
        assert strict.status != IkStatus.SUCCESS
    assert solved > TARGETS // 2


@pytest.mark.parametrize("k", [0, 1])
def test_pose_free_about_one_axis_equals_pointing_that_axis(puma, k, rng):
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
            tilt = tilt_error(T, puma.fk(r.q), axis, "target")
            assert r.ok and (np.abs(tilt) <= np.where(axis, 1e-12, box)).all()


def test_single_roll_tolerance_constrains_the_roll(puma, rng):
    """Two of three components are free: the third of the rotation vector is small."""
    for q in postures(puma, rng, 20):
        T = puma.fk(q)
        r = puma.ik(T, orientation_tolerance=(FREE, FREE, 1e-4))
        assert r.ok
        assert abs(so3_log(T[:3, :3].T @ puma.fk(r.q)[:3, :3])[2]) <= 1e-4


def test_five_joints_meet_a_full_pose_within_tolerance(puma, rng):
    arm = limited(puma, puma.lower[:5], puma.upper[:5])
    solved = 0
    for q in postures(arm, rng):
        T = arm.fk(q)
        assert arm.ik(T).ok  # a reachable pose is met exactly
        T = turned(T, 0.05 * rng.uniform(-0.57, 0.57, 3))
        r = arm.ik(T, orientation_tolerance=0.05)
        assert r.ok and r.position_error <= 1e-5 and r.orientation_error <= 0.05
        near = arm.ik(T, allow_approximate=True)
        solved += near.status == IkStatus.SUCCESS
        assert near.ok and near.position_error < 1e-3
    assert solved == 0  # six conditions, five joints


def null_share(chain: Chain, q: np.ndarray, pull: np.ndarray, rows: slice) -> float:
    """Return the projection of pull onto the null space, as a share of pull."""
    free = (q > chain.lower + 1e-9) & (q < chain.upper - 1e-9)
    J = chain.jacobian(q)[rows][:, free]
    null = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-6) :]
    return float(np.linalg.norm(null @ pull[free])) / max(float(np.linalg.norm(pull)), 1e-9)


@pytest.mark.parametrize(("mode", "rows"), [("pose", slice(0, 6)), ("position", slice(0, 3))])
def test_weights_and_preference_reach_a_stationary_point(panda, mode, rows, rng):
    weights = np.array([5.0, 1.0, 0.5, 2.0, 1.0, 3.0, 0.2])
    half = 0.5 * (panda.upper - panda.lower)
    settled = []
    for q in postures(panda, rng, 25):
        T = panda.fk(q)
        near = panda.ik(T, panda.middle, mode, weights=tuple(weights))
        settled.append(null_share(panda, near.q, weights * (near.q - panda.middle), rows))
        centred = panda.ik(T, q, mode, prefer="centred")
        settled.append(null_share(panda, centred.q, (centred.q - panda.middle) / half**2, rows))
        for r in (near, centred):
            assert r.ok and r.position_error <= 1e-5 and in_limits(panda, r.q)
    assert np.median(settled) < 0.01 and np.quantile(settled, 0.9) < 0.1


def test_heavier_joint_moves_less_and_weights_may_be_named(panda, rng):
    for q in postures(panda, rng, 10):
        T = panda.fk(q)
        seed = np.clip(q + rng.uniform(-0.3, 0.3, 7), panda.lower, panda.upper)
        name = panda.joint_names[2]
        heavy = panda.ik(T, seed, "position", weights={name: 100.0})
        light = panda.ik(T, seed, "position", weights={name: 1e-3})
        assert abs(heavy.q[2] - seed[2]) < abs(light.q[2] - seed[2])
        by_order = panda.ik(T, seed, "position", weights=(1, 1, 100, 1, 1, 1, 1))
        assert np.array_equal(by_order.q, heavy.q)


def test_solutions_are_ordered_by_weighted_distance(puma, rng):
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


def test_centred_preference_returns_the_most_centred_solution(puma, rng):
    half, middle = 0.5 * (puma.upper - puma.lower), 0.5 * (puma.upper + puma.lower)
    for q in postures(puma, rng, 20):
        r = puma.ik(puma.fk(q), q, prefer="centred", max_solutions=8)
        strain = [float((((s.q - middle) / half) ** 2).sum()) for s in r.solutions]
        assert strain == sorted(strain)
        one = puma.ik(puma.fk(q), q, prefer="centred")
        assert np.allclose(one.q, r.solutions[0].q, rtol=0.0, atol=1e-6)
        assert len(one.solutions) == 1


def test_zero_weights_are_allowed(panda):
    T = panda.fk(panda.middle + 0.1)
    r = panda.ik(T, mode="position", weights=(0.0,) * 7)
    assert r.ok and r.solutions[0].distance == 0.0


@pytest.mark.parametrize("name", ["ur5", "puma560", "raghavan_roth", "panda", "five_axis"])
def test_torque_preference_returns_the_least_loaded_solution(name, rng):
    chain = Chain.from_model(load_robot(name))
    limits = chain.effort if np.isfinite(chain.effort).any() else 1.0
    for _ in range(5):
        q = rng.uniform(np.maximum(chain.lower, -3.0), np.minimum(chain.upper, 3.0))
        T = chain.fk(q)
        every = chain.all_solutions(T, q, prefer="torque").every_q
        worst = np.abs(chain.gravity_torques(every) / limits).max(axis=1)
        assert (np.diff(worst) >= 0.0).all()
        one = chain.ik(T, q, prefer="torque")
        assert one.ok and len(one.solutions) == 1
        load = np.abs(chain.gravity_torques(one.q) / limits).max()
        if name != "panda":  # of all postures that hold it, or of those that were tried
            assert load == pytest.approx(worst[0], rel=1e-6)
        near = np.abs(chain.gravity_torques(chain.ik(T, q).q) / limits).max()
        assert load <= near + 1e-3
    away = chain.fk(chain.middle)
    away[0, 3] += 100.0
    assert not chain.ik(away, prefer="torque") and chain.ik_batch([T], prefer="torque").ok.all()


def test_torque_preference_needs_masses():
    chain = Chain.from_model(load_robot("ur5"))
    bare = Chain(chain.S, chain.M, [ChainJoint(n, False, -3.0, 3.0) for n in chain.joint_names])
    with pytest.raises(KinematicsError, match="a chain of screws has no masses"):
        bare.ik(bare.fk(np.ones(6)), prefer="torque")


def near_pose(T: np.ndarray, rng: np.random.Generator, distance: float, angle: float):
    """Return a pose at a distance [m] and an angle [rad] from T."""
    shift, axis = rng.normal(size=3), rng.normal(size=3)
    shift *= distance / np.linalg.norm(shift)
    return pose(T[:3, :3] @ so3_exp(axis * angle / np.linalg.norm(axis)), T[:3, 3] + shift)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_seed_within_wide_tolerances_is_the_nearest_solution(name, weighted, rng):
    """The seed is returned by ik and ik_batch, but not if accuracy or the middle is preferred."""
    chain, inside = shipped(name), 0
    tolerances = {"position_tolerance": 5e-3, "orientation_tolerance": math.radians(10.0)}
    weights = rng.uniform(0.5, 2.0, chain.n) if weighted else None
    for q in postures(chain, rng, 30):
        if chain.constraints.violation(q) > 0.0:
            continue
        T = near_pose(chain.fk(q), rng, 1e-3, math.radians(5.0))
        for mode in ("pose", "position_axis"):
            r = chain.ik(T, q, mode, weights=weights, **tolerances)
            assert r.ok and (r.q == q).all() and r.solutions[0].distance == 0.0
            batch = chain.ik_batch([T], q, mode, weights=weights, **tolerances)
            assert (batch.q == q).all()
            accurate = chain.ik(T, q, mode, prefer="accurate", **tolerances)
            assert accurate.ok and (accurate.q != q).any()
        inside += 1
    assert inside >= 10


@pytest.mark.parametrize("name", ["nut_arm", "puma560"])
def test_seed_outside_the_tolerances_is_no_solution(name, rng):
    """One that is too far in position, in orientation, or beyond a limit is replaced."""
    chain, solved = shipped(name), 0
    for q in postures(chain, rng, 30):
        T = chain.fk(q)
        for target in (near_pose(T, rng, 6e-3, 0.0), near_pose(T, rng, 0.0, math.radians(11.0))):
            r = chain.ik(
                target, q, position_tolerance=5e-3, orientation_tolerance=math.radians(10.0)
            )
            assert not r.ok or (r.q != q).any()
            solved += r.ok
        over = np.where(np.arange(chain.n) == 0, chain.upper + 0.01, q)
        r = chain.ik(chain.fk(over), over, position_tolerance=0.05, orientation_tolerance=0.2)
        assert r.ok and in_limits(chain, r.q)
    assert solved >= 10
