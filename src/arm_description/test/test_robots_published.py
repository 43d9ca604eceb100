# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of the shipped robots: closed formulas, published poses, published URDFs."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from arm_description import load_robot

RANDOM = np.random.default_rng(7).uniform(-2, 2, (10, 3))


def cs(*angles):
    """Cosine and sine of a sum of angles."""
    return math.cos(sum(angles)), math.sin(sum(angles))


@pytest.mark.parametrize("q", RANDOM)
def test_planar3_in_closed_form(q):
    """Siciliano et al., "Robotics. Modelling, Planning and Control", eq. 2.63."""
    (c1, s1), (c12, s12), (c123, s123) = cs(q[0]), cs(*q[:2]), cs(*q)
    expected = [
        [c123, -s123, 0, 0.30 * c1 + 0.25 * c12 + 0.15 * c123],
        [s123, c123, 0, 0.30 * s1 + 0.25 * s12 + 0.15 * s123],
        [0, 0, 1, 0.10],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(load_robot("planar3").fk(q), expected, atol=1e-15)


@pytest.mark.parametrize("q", RANDOM)
def test_spherical_arm_in_closed_form(q):
    """Siciliano et al., eq. 2.65, with d2 = 0.12 and the shoulder at 0.40."""
    (c1, s1), (c2, s2), d2, d3 = cs(q[0]), cs(q[1]), 0.12, q[2]
    expected = [
        [c1 * c2, -s1, c1 * s2, c1 * s2 * d3 - s1 * d2],
        [s1 * c2, c1, s1 * s2, s1 * s2 * d3 + c1 * d2],
        [-s2, 0, c2, c2 * d3 + 0.40],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(load_robot("spherical_arm").fk(q), expected, atol=1e-15)


@pytest.mark.parametrize("q", RANDOM)
def test_anthropomorphic_arm_in_closed_form(q):
    """Siciliano et al., eq. 2.66, with a2 = 0.35, a3 = 0.30 and the shoulder at 0.30."""
    (c1, s1), (c2, s2), (c23, s23) = cs(q[0]), cs(q[1]), cs(q[1], q[2])
    reach = 0.35 * c2 + 0.30 * c23
    expected = [
        [c1 * c23, -c1 * s23, s1, c1 * reach],
        [s1 * c23, -s1 * s23, -c1, s1 * reach],
        [s23, c23, 0, 0.35 * s2 + 0.30 * s23 + 0.30],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(load_robot("anthropomorphic_arm").fk(q), expected, atol=1e-15)


@pytest.mark.parametrize("solution", ["first", "second"])
def test_raghavan_roth_as_published(solution):
    """The example's hand position; its two real solutions are printed to six digits."""
    hand = [
        [0.354937475307970, 0.461639573991743, -0.812962663562556, 6.82151837150213],
        [0.876709605247149, 0.137616185817977, 0.460914366741046, 1.46146704002829],
        [0.324653132880913, -0.876327957516839, -0.355878707125018, 5.36950521368663],
        [0, 0, 0, 1],
    ]
    model = load_robot("raghavan_roth")
    T = model.fk([model.postures[solution][name] for name in model.joint_names])
    T[:3, 3] *= 10  # the example has no unit; the file takes decimetres
    np.testing.assert_allclose(T, hand, atol=3e-5)


# Behind a shoulder z lies across the arm; the tool looks ahead.
ACROSS_AND_AHEAD = Rotation.from_euler("XY", [-90, 90], degrees=True)
X = np.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize("q", np.random.default_rng(9).uniform(-2, 2, (10, 5)))
def test_universal_arm_by_euler_angles(q):
    """SciPy's Euler angles; shoulder at 0.30, links of 0.30, 0.25 and 0.10."""
    upper = Rotation.from_euler("ZY", q[:2])
    forearm = upper * Rotation.from_euler("Y", q[2])
    hand = forearm * Rotation.from_euler("YZ", [q[3], -q[4]])
    T = load_robot("universal_arm").fk(q)
    position = np.array([0, 0, 0.30])
    position += 0.30 * upper.apply(X) + 0.25 * forearm.apply(X) + 0.10 * hand.apply(X)
    np.testing.assert_allclose(T[:3, 3], position, atol=1e-14)
    np.testing.assert_allclose(T[:3, :3], (hand * ACROSS_AND_AHEAD).as_matrix(), atol=1e-14)


@pytest.mark.parametrize("q", np.random.default_rng(9).uniform(-2, 2, (10, 7)))
def test_ball_arm_by_euler_angles(q):
    """SciPy's Euler angles; shoulder at 0.60, links of 0.30, 0.26 and 0.10."""
    upper = Rotation.from_euler("ZYX", q[:3])
    forearm = upper * Rotation.from_euler("Y", q[3])
    hand = forearm * Rotation.from_euler("YZX", [q[4], -q[5], q[6]])
    T = load_robot("ball_arm").fk(q)
    position = np.array([0, 0, 0.60])
    position += 0.30 * upper.apply(X) + 0.26 * forearm.apply(X) + 0.10 * hand.apply(X)
    np.testing.assert_allclose(T[:3, 3], position, atol=1e-14)
    np.testing.assert_allclose(T[:3, :3], (hand * ACROSS_AND_AHEAD).as_matrix(), atol=1e-14)


def test_ur5_stretched_out():
    """All joints at 0: the sums of the table's lengths, -a2 - a3 ahead and d4 + d6 to the side."""
    expected = [[-1, 0, 0, 0.81725], [0, 0, 1, 0.19145], [0, 1, 0, -0.005491], [0, 0, 0, 1]]
    np.testing.assert_allclose(load_robot("ur5").fk(np.zeros(6)), expected, atol=1e-15)


def test_rediestro_by_another_library():
    """Robotics Toolbox for Python 1.5.0, rtb.DHRobot of the same table; that one in decimetres."""
    expected = [
        [-0.744922719366593, -0.6556481481327919, -0.12335172484209797, 1.3033192466696777],
        [0.13700449895246802, 0.03061464648600978, -0.9900972228459788, 5.047472820470798],
        [0.6529317800798666, -0.7544456569366526, 0.06702120031124127, 9.158089634503277],
        [0, 0, 0, 1],
    ]
    T = load_robot("rediestro").fk([0.3, -0.7, 0.9, 1.1, -0.5, 1.3, 2.0])
    T[:3, 3] *= 10
    np.testing.assert_allclose(T, expected, atol=1e-14)


def test_rediestro_is_isotropic():
    """What the signs rest on: condition of the Jacobian divided by its characteristic length."""
    model = load_robot("rediestro")
    frames = model.dh_frames([model.postures["isotropic"][name] for name in model.joint_names])
    axes = np.array([frame[:3, 2] for frame in frames[:-1]])
    arms = np.cross(axes, [frames[-1][:3, 3] - frame[:3, 3] for frame in frames[:-1]])
    length = math.sqrt((arms**2).sum() / (axes**2).sum())
    assert np.linalg.cond(np.hstack([axes, arms / length])) < 1.00002


ZERO = {f"panda_joint{i}": 0.0 for i in range(1, 8)}

# Robot, file of example-robot-data, its tool, and how exactly: UR's writes pi to eleven digits.
PUBLISHED = [
    ("ur5", "ur_description/urdf/ur5_robot.urdf", "tool0", 1e-10),
    ("panda", "panda_description/urdf/panda.urdf", "panda_hand_tcp", 1e-14),
]


@pytest.mark.parametrize(("robot", "path", "tool", "exact"), PUBLISHED)
def test_makers_urdf_agrees(robot, path, tool, exact, pin_robot, published_urdf):
    """The makers' own URDFs, read by Pinocchio: poses and limits."""
    fk, foreign = pin_robot(published_urdf(path))
    model = load_robot(robot)
    for q in np.random.default_rng(8).uniform(model.lower, model.upper, (10, model.n)):
        found = fk(dict(zip(model.joint_names, q, strict=True)), tool)
        np.testing.assert_allclose(model.fk(q), found, atol=exact)
    at = [foreign.joints[foreign.getJointId(name)].idx_q for name in model.joint_names]
    np.testing.assert_allclose(model.lower, foreign.lowerPositionLimit[at], atol=1e-10)
    np.testing.assert_allclose(model.upper, foreign.upperPositionLimit[at], atol=1e-10)
    np.testing.assert_allclose(model.velocity, foreign.upperVelocityLimit[at], rtol=0.02)


@pytest.mark.parametrize(
    ("joint", "link"),
    [("panda_finger_joint1", "panda_leftfinger"), ("panda_finger_joint2", "panda_rightfinger")],
)
def test_panda_hand_opens_as_the_makers(joint, link, pin_robot, published_urdf, urdf_fk):
    """Each finger, by its name, moves as far and to the same side."""
    fk, _ = pin_robot(published_urdf("panda_description/urdf/panda.urdf"))
    urdf = load_robot("panda").to_urdf()

    def moved(pose):
        return pose({joint: 0.03})[:3, 3] - pose({joint: 0.0})[:3, 3]

    ours = moved(lambda values: urdf_fk(urdf, ZERO | values, "base_link", f"{joint}_link"))
    np.testing.assert_allclose(ours, moved(lambda values: fk(values, link)), atol=1e-15)
    assert np.linalg.norm(ours) == pytest.approx(0.03)
