# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Chains: three ways to the same pose, Jacobians against finite differences, rejected input."""

import math

import numpy as np
import pytest
from arm_common.transforms import inverse
from arm_kinematics.model.lie import se3_exp
from arm_testing.arms.chains import random_chain, shipped
from arm_testing.arms.lie import se3_log

from arm_description import RobotModel, load_robot
from arm_kinematics import Chain, ChainJoint, KinematicsError


def product_of_exponentials(chain: Chain, q: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    for screw, value in zip(chain.S.T, q, strict=True):
        T = T @ se3_exp(screw * value)
    return T @ chain.M


TABLE = """
name: mixed
convention: {convention}
units: {{length: m, angle: deg}}
base: {{xyz: [0.1, 0, 0.2], rpy: [10, 20, 30]}}
joints:
  - {{name: one, type: revolute, theta: 20, d: 0.3, a: 0.1, alpha: 40, limits: {limits}}}
  - {{name: two, type: prismatic, theta: 35, d: 0.2, a: 0.05, alpha: -70, limits: {slide}}}
  - {{name: three, type: revolute, theta: -50, d: -0.1, a: 0.2, alpha: 15, limits: {limits}}}
  - {{name: four, type: ball, theta: 15, d: 0.1, a: 0.2, alpha: 25,
     limits: {{z: {limits}, y: {limits}, x: {limits}}}}}
  - {{name: five, type: universal, theta: -30, d: 0.1, a: 0.1, alpha: -65,
     limits: {{z: {limits}, y: {limits}}}}}
tool: {{xyz: [0, 0.01, 0.1], rpy: [5, 0, 0]}}
"""
LIMITS = "{lower: -90, upper: 90, velocity: 90, acceleration: 90}"
SLIDE = "{lower: 0, upper: 0.2, velocity: 0.1, acceleration: 1}"


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_model_urdf_and_chain_agree_with_offsets_in_both_conventions(convention, rng, tmp_path):
    file = tmp_path / "mixed.yaml"
    file.write_text(TABLE.format(convention=convention, limits=LIMITS, slide=SLIDE))
    assert_agreement(load_robot(str(file)), rng)


def test_model_urdf_and_chain_agree(model, rng):
    assert_agreement(model, rng)


def assert_agreement(model: RobotModel, rng: np.random.Generator) -> None:
    chain, from_urdf = Chain.from_model(model), Chain.from_urdf(model.to_urdf())
    assert from_urdf.joint_names == chain.joint_names == model.joint_names
    assert np.allclose(from_urdf.S, chain.S, atol=1e-12)
    assert np.allclose(from_urdf.lower, chain.lower) and np.allclose(from_urdf.upper, chain.upper)
    assert np.allclose(chain.velocity, model.velocity)
    assert np.allclose(chain.acceleration, model.acceleration)
    for _ in range(50):
        q = rng.uniform(model.lower, model.upper)
        T = model.fk(q)
        assert np.abs(chain.fk(q) - T).max() < 1e-12
        assert np.abs(from_urdf.fk(q) - T).max() < 1e-12
        poses = chain.link_poses(q)
        assert np.abs(poses["tool0"] - T).max() < 1e-12
        for link, pose in from_urdf.link_poses(q).items():
            assert np.allclose(poses[link], pose, atol=1e-12), link


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 12])
def test_fk_equals_the_product_of_exponentials(rng, n):
    for _ in range(20):
        chain = random_chain(rng, [(-2.0, 2.0)] * n)
        q = rng.uniform(-7.0, 7.0, n)
        assert np.abs(chain.fk(q) - product_of_exponentials(chain, q)).max() < 1e-11


@pytest.mark.parametrize("n", [2, 4, 6, 7])
def test_jacobians_match_finite_differences(rng, n):
    h = 1e-6
    for _ in range(10):
        chain = random_chain(rng, [(-2.0, 2.0)] * n)
        q = rng.uniform(-2.0, 2.0, n)
        T = chain.fk(q)
        for k, step in enumerate(h * np.eye(n)):
            ahead, behind = chain.fk(q + step), chain.fk(q - step)
            space = se3_log(ahead @ inverse(behind)) / (2 * h)
            body = se3_log(inverse(behind) @ ahead) / (2 * h)
            velocity = (ahead - behind)[:3, 3] / (2 * h)
            assert np.array_equal(chain.fk_jacobian(q)[0], chain.fk(q))
            assert np.allclose(chain.jacobian(q)[:3, k], velocity, atol=1e-7)
            assert np.allclose(chain.jacobian(q)[3:, k], space[3:], atol=1e-7)
            assert np.allclose(chain.space_jacobian(q)[:, k], space, atol=1e-7)
            assert np.allclose(chain.body_jacobian(q)[:, k], body, atol=1e-7)
        assert np.allclose(chain.jacobian(q)[3:], T[:3, :3] @ chain.body_jacobian(q)[3:])


def test_sine_and_cosine_match_the_math_library(rng):
    about_z = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]).T
    chain = Chain(about_z, np.eye(4), [ChainJoint("j", False, -math.inf, math.inf)])
    grid = np.concatenate(
        [rng.uniform(-10.0, 10.0, 2000), rng.uniform(-1e5, 1e5, 500), [0.0, 1e-300, 1e7, -3e9]]
    )
    for x in np.concatenate([grid, np.arange(-20, 21) * math.pi / 4]):
        R = chain.fk([x])[:3, :3]
        assert abs(R[1, 0] - math.sin(x)) < 3e-16 and abs(R[0, 0] - math.cos(x)) < 3e-16


@pytest.mark.parametrize("bad", [[0.0], "home", None, [[0.0] * 4], [math.nan] * 4, [math.inf] * 4])
def test_bad_joint_positions_are_rejected(nut_arm, bad):
    several = bad == [[0.0] * 4]  # one posture in a list is fine for fk
    for ask in (nut_arm.jacobian, nut_arm.fk_jacobian, nut_arm.link_poses, nut_arm.fk)[
        : 3 if several else 4
    ]:
        with pytest.raises(KinematicsError, match="waist, shoulder, elbow, wrist_roll"):
            ask(bad)


def test_joint_positions_may_be_any_kind_of_sequence(nut_arm):
    expected = nut_arm.fk([0.1, 0.2, 0.3, 0.4])
    frozen = np.array([0.1, 0.2, 0.3, 0.4])
    frozen.setflags(write=False)
    spread = np.zeros(8)
    spread[::2] = frozen
    for q in ((0.1, 0.2, 0.3, 0.4), frozen, spread[::2]):
        assert np.array_equal(nut_arm.fk(q), expected)
    assert np.allclose(nut_arm.fk([1, 0, 0, 0]), nut_arm.fk([1.0, 0.0, 0.0, 0.0]))


def test_chain_arrays_are_read_only(nut_arm):
    for array in (nut_arm.S, nut_arm.M, nut_arm.lower, nut_arm.upper, nut_arm.velocity):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@pytest.mark.parametrize(
    ("screw", "joint", "pattern"),
    [
        ([0, 0, 0, 0, 0, 2], ChainJoint("a", False, -1, 1), "neither a pure rotation"),
        ([0, 0, 1, 0, 0, 1], ChainJoint("a", False, -1, 1), "neither a pure rotation"),
        ([0, 0, 0, 0, 0, 1], ChainJoint("a", True, -1, 1), "neither a pure rotation"),
        ([0, 0, 0, 0, 0, math.nan], ChainJoint("a", False, -1, 1), "finite"),
        ([0, 0, 0, 0, 0, 1], ChainJoint("a", False, 1, -1), "lower limit"),
    ],
)
def test_invalid_screws_and_limits_are_rejected(screw, joint, pattern):
    with pytest.raises(KinematicsError, match=pattern):
        Chain(np.transpose([screw]), np.eye(4), [joint])


def test_empty_or_duplicate_joint_names_are_rejected():
    with pytest.raises(KinematicsError, match="at least one"):
        Chain(np.empty((6, 0)), np.eye(4), [])
    joint = ChainJoint("a", False, -1, 1)
    with pytest.raises(KinematicsError, match="not unique"):
        Chain(np.transpose([[0, 0, 0, 0, 0, 1]] * 2), np.eye(4), [joint, joint])


def test_positions_are_picked_by_name(nut_arm):
    q = nut_arm.positions({"elbow": 3, "waist": 1, "shoulder": 2, "wrist_roll": 4, "other": 5})
    assert q.tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(KinematicsError, match="'elbow'"):
        nut_arm.positions({"waist": 1.0, "shoulder": 2.0})


@pytest.mark.parametrize("n", [2, 4, 6, 7])
def test_joint_rates_inverts_twist(rng, n):
    for _ in range(10):
        chain = random_chain(rng, [(-2.0, 2.0)] * n)
        q, rates, h = rng.uniform(-2.0, 2.0, n), rng.uniform(-1.0, 1.0, n), 1e-6
        twist = chain.twist(q, rates)
        ahead, behind = chain.fk(q + h * rates), chain.fk(q - h * rates)
        assert np.allclose(twist[:3], (ahead - behind)[:3, 3] / (2 * h), atol=1e-7)
        back = chain.joint_rates(q, twist)
        assert np.allclose(chain.twist(q, back), twist, atol=1e-9)
        assert np.linalg.norm(back) <= np.linalg.norm(rates) + 1e-9  # the smallest ones
        damped = chain.joint_rates(q, twist, damping=0.1)
        J = chain.jacobian(q)
        gradient = J.T @ (J @ damped - twist) + 0.01 * damped
        assert np.allclose(gradient, 0.0, atol=1e-12)


def test_damping_bounds_the_rates_near_a_singular_posture():
    """Along the nearly singular direction, the rates grow as one over its singular value."""
    arm = shipped("puma560")
    q = np.array([0.1, 0.2, 0.3, 0.4, 1e-7, 0.6])
    directions, left, _ = np.linalg.svd(arm.jacobian(q))
    assert left[-1] < 1e-6
    lost = directions[:, -1]
    assert np.linalg.norm(arm.joint_rates(q, lost)) == pytest.approx(1.0 / left[-1], rel=1e-6)
    assert np.linalg.norm(arm.joint_rates(q, lost, damping=0.05)) <= 0.5 / 0.05


@pytest.mark.parametrize(
    ("ask", "pattern"),
    [
        (lambda arm: arm.twist([0.0] * 4, [0.0] * 3), "rates: expected 4"),
        (lambda arm: arm.twist([0.0] * 4, [math.nan] * 4), "rates: expected 4"),
        (lambda arm: arm.joint_rates([0.0] * 4, [0.0] * 4), "twist: expected 6"),
        (lambda arm: arm.joint_rates([0.0] * 4, "up"), "twist: expected 6"),
        (lambda arm: arm.joint_rates([0.0] * 4, [0.0] * 6, damping=-1.0), "damping is -1.0"),
        (lambda arm: arm.joint_rates([0.0] * 4, [0.0] * 6, damping=math.nan), "damping"),
    ],
)
def test_bad_rates_and_twists_are_rejected(nut_arm, ask, pattern):
    with pytest.raises(KinematicsError, match=pattern):
        ask(nut_arm)


class TestEase:
    """Arguments in the form at hand, and results that read well."""

    chain = Chain.from_model(load_robot("nut_arm"))
    q = np.array([0.3, 0.2, -0.4, 1.0])

    def test_result_is_true_if_it_has_a_solution(self):
        far = np.eye(4)
        far[0, 3] = 9.0
        assert self.chain.ik(self.chain.fk(self.q)) and not self.chain.ik(far)
        assert self.chain.ik(far, allow_approximate=True)

    def test_fk_of_many_postures_is_that_of_each(self, rng):
        postures = rng.uniform(-1.0, 1.0, (7, 4))
        expected = [self.chain.fk(q) for q in postures]
        assert np.array_equal(self.chain.fk(postures), expected)
        assert self.chain.fk(np.empty((0, 4))).shape == (0, 4, 4)
        for bad in (np.zeros((2, 3)), np.zeros((1, 1, 4)), [[np.nan] * 4], "q"):
            with pytest.raises(KinematicsError, match="joint positions: expected 4"):
                self.chain.fk(bad)

    def test_seed_by_name_is_the_seed_in_order(self):
        T = self.chain.fk(self.q)
        by_name = dict(zip(self.chain.joint_names[::-1], (self.q + 0.1)[::-1], strict=True))
        by_name["gripper"] = 1.0  # as in joint states of the whole robot
        for call in (self.chain.ik, self.chain.all_solutions):
            assert np.array_equal(call(T, by_name).q, call(T, self.q + 0.1).q)
        batch = self.chain.ik_batch([T, T], by_name)
        assert np.array_equal(batch.q, self.chain.ik_batch([T, T], self.q + 0.1).q)
        with pytest.raises(KinematicsError, match="no position given for joint 'elbow'"):
            self.chain.ik(T, {"waist": 0.0, "shoulder": 0.0})
        with pytest.raises(KinematicsError, match="joint positions: expected 4"):
            self.chain.ik(T, dict.fromkeys(self.chain.joint_names, "middle"))

    def test_position_is_three_numbers(self):
        p = self.chain.fk(self.q)[:3, 3]
        for result in (
            self.chain.ik(p, self.q, "position"),
            self.chain.all_solutions(p.tolist(), mode="position"),
        ):
            assert np.allclose(self.chain.fk(result.q)[:3, 3], p, atol=1e-5)
        batch = self.chain.ik_batch([p, p + np.array([0.0, 0.0, 0.01])], self.q, "position")
        assert batch.ok.all()
        with pytest.raises(KinematicsError, match=r"expected numbers of shape \(4, 4\)"):
            self.chain.ik(p)
        arm = Chain.from_model(load_robot("mearm"))  # its limits depend on other joints
        q = arm.constraints.inside(arm.middle)
        assert arm.ik(arm.fk(q)[:3, 3], q, "position")

    def test_repr_names_joints_and_frames(self):
        expected = "<Chain base_link -> tool0: waist, shoulder, elbow, wrist_roll>"
        assert repr(self.chain) == expected

    def test_rotation_of_few_digits_is_made_orthonormal(self, rng):
        chain = Chain.from_model(load_robot("puma560"))
        for _ in range(20):
            q = rng.uniform(0.3, 0.75, 6)
            T = chain.fk(q)
            T[:3, :3] = np.round(T[:3, :3], 4)
            result = chain.ik(T, q)
            assert result and result.orientation_error < 1e-4
            assert chain.ik_batch([T], q).ok.all()
            T[0, 0] += 0.02
            with pytest.raises(KinematicsError, match=r"off by 0\.0\d+; u, _, v = numpy"):
                chain.ik(T, q)
