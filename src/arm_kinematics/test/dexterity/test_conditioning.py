# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math
import pickle

import numpy as np
import pytest
from arm_common.transforms import pose
from arm_kinematics.dexterity.conditioning import (
    PostureCost,
    best_posture,
    finite_limits,
    frobenius_condition,
    homogeneous_jacobian,
    log_cost,
    measures,
    motion_directions,
)
from arm_kinematics.dexterity.workspace import (
    bounding_box,
    reachable_volume,
    slice_map,
    slice_rows,
)
from arm_kinematics.ik.result import IkStatus
from arm_testing.arms.chains import shipped
from scipy.optimize import approx_fprime

from arm_description import parse_robot, shipped_robots
from arm_kinematics import Chain, KinematicsError


def random_posture(chain: Chain, seed: int = 3) -> np.ndarray:
    lower, upper = finite_limits(chain)
    return np.random.default_rng(seed).uniform(lower, upper)


def two_links(l1: float, l2: float, elbow: float) -> np.ndarray:
    """Jacobian of the planar arm in closed form; Spong, Hutchinson, Vidyasagar, section 4.6."""
    s, c = math.sin(elbow), math.cos(elbow)
    J = np.zeros((6, 2))
    J[0] = -l2 * s, -l2 * s
    J[1] = l1 + l2 * c, l2 * c
    J[5] = 1.0, 1.0
    return J


def test_manipulability_of_two_links_matches_the_published_formula():
    size, _ = measures(two_links(0.3, 0.2, 0.7))
    assert size == pytest.approx(0.3 * 0.2 * math.sin(0.7), rel=1e-12)
    assert measures(two_links(0.3, 0.2, math.pi)) == (0.0, math.inf)


def test_measures_of_six_joints_include_rotation():
    J = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert measures(J) == pytest.approx((720.0, 6.0))
    assert measures(J[:, :5])[1] == pytest.approx(3.0)


def test_two_links_are_isotropic_at_the_published_posture():
    """l1 = sqrt(2) l2 with the elbow at 135 deg (Salisbury and Craig 1982)."""
    J = two_links(math.sqrt(2.0) * 0.2, 0.2, math.radians(135.0))[:2]
    assert frobenius_condition(J) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("shape", [(6, 8), (6, 6), (3, 4), (4, 3)])
def test_gradient_by_the_matrix_matches_finite_differences(shape, rng):
    H = rng.normal(size=shape)
    by_differences = approx_fprime(H.ravel(), lambda x: log_cost(x.reshape(shape))[0], 1e-7)
    assert log_cost(H)[1].ravel() == pytest.approx(by_differences, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("robot", sorted(shipped_robots()))
def test_gradient_by_the_joints_matches_finite_differences(robot):
    chain = shipped(robot)
    cost = PostureCost(chain)
    x = cost.start(random_posture(chain))
    by_differences = approx_fprime(x, lambda x: cost(x)[0], 1e-7)
    assert cost(x)[1] == pytest.approx(by_differences, rel=1e-3, abs=1e-3)


def test_rediestro_has_an_isotropic_posture():
    chain = shipped("rediestro")
    best = best_posture(chain, 24)
    assert best.condition == pytest.approx(1.0, abs=1e-4)
    assert best.length == pytest.approx(0.2207, abs=5e-4)
    assert (best.q >= chain.lower).all() and (best.q <= chain.upper).all()


def test_best_posture_beats_random_ones_and_is_deterministic():
    chain = shipped("puma560")
    best = best_posture(chain, 12)
    assert best.length is not None
    again = best_posture(chain, 12)
    assert (best.q == again.q).all() and best.condition == again.condition
    J = chain.jacobian(best.q)
    for length in best.length * np.array([0.5, 0.99, 1.01, 2.0]):
        assert frobenius_condition(homogeneous_jacobian(J, length)) > best.condition
    millimetres = np.vstack([1e3 * J[:3], J[3:]])
    same = homogeneous_jacobian(millimetres, 1e3 * best.length)
    assert frobenius_condition(same) == pytest.approx(best.condition, rel=1e-9)
    for seed in range(200):
        J = chain.jacobian(random_posture(chain, seed))
        assert frobenius_condition(homogeneous_jacobian(J, best.length)) >= best.condition


def test_planar_arm_is_measured_in_its_directions_of_motion():
    assert np.abs(motion_directions(shipped("planar3"))[:, 2]).max() < 1e-12
    best = best_posture(shipped("planar3"), 8)
    assert best.length is None and best.condition == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("length", [0.0, -1.0, math.nan, math.inf])
def test_non_positive_length_is_rejected(length):
    with pytest.raises(KinematicsError, match="positive number of metres"):
        homogeneous_jacobian(np.eye(6), length)


def test_bounding_box_of_nut_arm_is_exact():
    """Stretched: 105 + 160 mm from the shoulder, which is at 80 mm and stops at 90 deg."""
    lower, upper = bounding_box(shipped("nut_arm"))
    assert upper == pytest.approx([0.265, 0.265, 0.345], abs=1e-6)
    assert lower == pytest.approx([-0.265, -0.265, -0.080], abs=1e-6)


SHELL = """
name: shell
convention: standard
units: {length: m, angle: deg}
joints:
  - {name: yaw, type: revolute, d: 0, a: 0, alpha: 90, limits: {lower: -180, upper: 180}}
  - {name: pitch, type: revolute, d: 0, a: 0.3, alpha: 0, limits: {lower: -180, upper: 180}}
  - {name: elbow, type: revolute, d: 0, a: 0.2, alpha: 0, limits: {lower: -180, upper: 180}}
"""


def test_volume_matches_a_spherical_shell():
    found = reachable_volume(Chain.from_model(parse_robot(SHELL)), 1000)
    assert found.upper == pytest.approx(0.5, abs=1e-6)
    assert found.lower == pytest.approx(-0.5, abs=1e-6)
    assert abs(found.volume - 4.0 / 3.0 * math.pi * (0.5**3 - 0.1**3)) < 3.0 * found.error
    assert found.error < 0.05 * found.volume


@pytest.mark.parametrize("robot", ["mearm", "eezybotarm_mk2"])
def test_box_and_best_posture_keep_limits_that_depend_on_other_joints(robot):
    """The elbow's own range, which encloses them, would reach 4 cm higher with the MeArm."""
    chain = shipped(robot)
    q = np.random.default_rng(4).uniform(chain.lower, chain.upper, (20000, chain.n))
    q = q[chain.constraints.violation(q) <= 0.0]
    tips = np.array([chain.fk(one)[:3, 3] for one in q])
    lower, upper = bounding_box(chain)
    assert (lower <= tips.min(axis=0)).all() and (upper >= tips.max(axis=0)).all()
    assert lower == pytest.approx(tips.min(axis=0), abs=0.01)
    assert upper == pytest.approx(tips.max(axis=0), abs=0.01)
    best = best_posture(chain, 12)
    assert chain.constraints.violation(best.q) <= 1e-9
    cost = PostureCost(chain)
    sampled = min(frobenius_condition(cost.matrix(one)[1]) for one in q[:2000])
    assert best.condition <= sampled


def test_planar_arm_has_no_volume():
    found = reachable_volume(shipped("planar2"), 100)
    assert found.volume == 0.0 and found.upper[0] == pytest.approx(0.5, abs=1e-6)


def test_slice_of_two_links_is_a_ring():
    """Points with |l1 - l2| <= r <= l1 + l2 are reached, except where limits prevent it."""
    chain = shipped("planar2")
    cells = slice_map(chain, pose(p=(0, 0, 0.1)), (-0.6, 0.6, -0.6, 0.6), 0.03)
    r = np.hypot(*np.meshgrid(cells.x, cells.y))
    assert cells.reached[(r > 0.16) & (r < 0.49) & (cells.x[None, :] > 0)].all()
    assert not cells.reached[(r > 0.51) | (r < 0.09)].any()
    assert np.nanmax(cells.isotropy) <= 1.0
    sent = []

    def by_others(blocks):
        sent.extend(pickle.dumps(rows) for rows in reversed(blocks))
        return [slice_rows(shipped("planar2"), pickle.loads(rows)) for rows in reversed(sent)]

    extent = (-0.6, 0.6, -0.6, 0.6)
    again = slice_map(chain, pose(p=(0, 0, 0.1)), extent, 0.03, run=by_others)
    assert len(sent) > 1
    np.testing.assert_array_equal(again.isotropy, cells.isotropy)


@pytest.mark.parametrize("name", ["so101", "puma560", "scara", "stanford_arm", "mearm"])
def test_slice_reaches_what_a_full_search_reaches(name):
    chain = shipped(name)
    lower, upper = bounding_box(chain)
    plane = pose(np.column_stack([np.eye(3)[0], np.eye(3)[2], -np.eye(3)[1]]))
    extent = lower[0], upper[0], lower[2], upper[2]
    found = slice_map(chain, plane, extent, max(extent[1] - lower[0], extent[3] - lower[2]) / 14)
    cell = found.x[1] - found.x[0], found.y[1] - found.y[0]
    points = [plane[:3, 3] + x * plane[:3, 0] + y * plane[:3, 1] for y in found.y for x in found.x]
    full = chain.ik_batch(np.array(points), None, "position", position_tolerance=1e-2 * min(cell))
    reached = (full.status == IkStatus.SUCCESS).reshape(found.reached.shape)
    assert 15 < reached.sum() < reached.size - 5
    assert not (reached & ~found.reached).any()


def test_invalid_slices_are_rejected():
    chain = shipped("planar2")
    plane = pose(p=(0, 0, 0.1))
    for extent, cell in (((1, 0, 0, 1), 0.1), ((0, 1, 0, 1), 0.0), ((0, math.nan, 0, 1), 0.1)):
        with pytest.raises(KinematicsError, match="is empty"):
            slice_map(chain, plane, extent, cell)
    with pytest.raises(KinematicsError, match="cells; at most"):
        slice_map(chain, plane, (0, 1, 0, 1), 1e-4)
    with pytest.raises(KinematicsError, match="at least 100"):
        reachable_volume(chain, 99)
