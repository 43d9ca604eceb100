# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The shipped robots agree with published numbers, formulas and manufacturers' URDFs."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from arm_description import load_robot, parse_robot, shipped_robots

PI = math.pi

# Puma 560: Robotics Toolbox for Python 1.4.4, rtb.models.DH.Puma560().fkine(q).A, base at the
# floor (26.45 inch below the shoulder). To four digits the first four are printed in P. Corke,
# "Robotics, Vision and Control", with the base at the shoulder: (0.4521, -0.15, 0.4318), ...
PUMA = {
    "qz": ([0, 0, 0, 0, 0, 0], np.eye(3), (0.4521, -0.15005, 1.10363)),
    "qr": ([0, PI / 2, -PI / 2, 0, 0, 0], np.eye(3), (0.0203, -0.15005, 1.53543)),
    "qs": (
        [0, 0, -PI / 2, 0, 0, 0],
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        (0.8636, -0.15005, 0.65153),
    ),
    "qn": (
        [0, PI / 4, PI, 0, PI / 4, 0],
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        (0.59630314857461553, -0.15005, 0.65747573234191292),
    ),
    "general": (
        [0.3, -0.7, 0.9, -1.1, 0.5, 1.3],
        [
            [0.8120466287122738, -0.30680305853928824, -0.4964394787564429],
            [0.4897012355884488, 0.8209427138177888, 0.29367628520639943],
            [0.3174475904148231, -0.4815858634765164, 0.8168855999706451],
        ],
        (0.2969039596018502, -0.06522192045330633, 0.8208825383777528),
    ),
}


@pytest.mark.parametrize("name", PUMA)
def test_puma560_matches_published_poses(name):
    q, rotation, position = PUMA[name]
    T = load_robot("puma560").fk(q)
    np.testing.assert_allclose(T[:3, :3], rotation, atol=1e-14)
    np.testing.assert_allclose(T[:3, 3], position, atol=1e-14)


def test_travpuma_is_the_puma560_on_a_track_along_y():
    q, rotation, position = PUMA["general"]
    T = load_robot("travpuma").fk([0.4, *q])
    np.testing.assert_allclose(T[:3, :3], rotation, atol=1e-14)
    np.testing.assert_allclose(T[:3, 3], np.add(position, (0.45, 0.4, 0.12)), atol=1e-14)


def test_modified_convention_matches_published_pose(table_yaml):
    """Robotics Toolbox for Python 1.4.4, rtb.models.DH.Panda(): the maker's table, and fkine."""
    ds, lengths = (0.333, 0, 0.316, 0, 0.384, 0, 0.107), (0, 0, 0, 0.0825, -0.0825, 0, 0.088)
    alphas = np.array([0, -1, 1, 1, -1, 1, 1]) * PI / 2
    rows = [
        ("revolute", 0.0, d, a, float(alpha))
        for d, a, alpha in zip(ds, lengths, alphas, strict=True)
    ]
    model = parse_robot(table_yaml(rows, "modified", tool=((0, 0, 0.103), (0, 0, -PI / 4))))
    expected = [
        [-0.42904474817859567, 0.8913155552980687, 0.1465509636408467, 0.41741214586080266],
        [0.7960605758277026, 0.29643618671064403, 0.5276486964082436, 0.306775944869876],
        [0.42685848202095283, 0.34304834658127614, -0.8367255632730606, 0.7287343157115923],
        [0, 0, 0, 1],
    ]
    found = model.fk([0.1, -0.2, 0.3, -1.4, 0.5, 1.6, -0.7])
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("angle", np.linspace(-1.2, 1.2, 9))
def test_nut_arm_tip_with_level_forearm(angle):
    """At 0, its rest, the gripper's tip is 160 mm ahead at a height of 185 mm, fingers level."""
    T = load_robot("nut_arm").fk([0, angle, -angle, 0])
    expected = [0.160 + 0.105 * math.sin(angle), 0, 0.080 + 0.105 * math.cos(angle)]
    np.testing.assert_allclose(T[:3, 3], expected, atol=1e-15)
    np.testing.assert_allclose(T[:3, 1:3].T, [[0, -1, 0], [1, 0, 0]], atol=1e-15)


def test_nut_arm_gripper_opens_wider_than_the_nut():
    """1/4-20 hex nut across corners (ASME B18.2.2: 7/16 inch across flats)."""
    model = load_robot("nut_arm")
    assert model.gripper.joints == ("left_finger", "right_finger")
    assert model.gripper.min_width == 0.0
    assert model.gripper.max_width > 7 / 16 * 0.0254 * 2 / math.sqrt(3) + 0.01


def test_planar2_matches_closed_form():
    for a, b in np.random.default_rng(4).uniform(-2, 2, (10, 2)):
        x = 0.3 * math.cos(a) + 0.2 * math.cos(a + b)
        y = 0.3 * math.sin(a) + 0.2 * math.sin(a + b)
        np.testing.assert_allclose(load_robot("planar2").fk([a, b])[:3, 3], [x, y, 0.1])


@pytest.mark.parametrize("robot", shipped_robots())
def test_shipped_robots_are_complete(robot):
    model = load_robot(robot)
    assert model.name == robot
    assert model.source
    assert model.description
    for posture in model.postures.values():
        assert set(model.joint_names) <= set(posture)
    assert "rest" in model.postures
    assert len(model.postures) >= 2


RANDOM = np.random.default_rng(7).uniform(-2, 2, (10, 3))


def cs(*angles):
    return math.cos(sum(angles)), math.sin(sum(angles))


@pytest.mark.parametrize("q", RANDOM)
def test_planar3_matches_closed_form(q):
    """Siciliano et al., "Robotics. Modelling, Planning and Control", eq. 2.63."""
    (c1, s1), (c12, s12), (c123, s123) = cs(q[0]), cs(*q[:2]), cs(*q)
    expected = [
        [c123, -s123, 0, 0.30 * c1 + 0.25 * c12 + 0.15 * c123],
        [s123, c123, 0, 0.30 * s1 + 0.25 * s12 + 0.15 * s123],
        [0, 0, 1, 0.10],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(load_robot("planar3").fk(q), expected, atol=1e-15)


@pytest.mark.parametrize("q", [(*q, 0.4) for q in RANDOM])
def test_scara_matches_closed_form(q):
    """Spong, Hutchinson, Vidyasagar 2006, the example of table 3.5; d4 = 0, links 0.387 high."""
    (c1, s1), (c12, s12), (c4, s4) = cs(q[0]), cs(q[0] + q[1]), cs(q[3])
    expected = [
        [c12 * c4 + s12 * s4, s12 * c4 - c12 * s4, 0, 0.325 * c1 + 0.275 * c12],
        [s12 * c4 - c12 * s4, -c12 * c4 - s12 * s4, 0, 0.325 * s1 + 0.275 * s12],
        [0, 0, -1, 0.387 - q[2]],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(load_robot("scara").fk(q), expected, atol=1e-15)


@pytest.mark.parametrize("q", [(*q, *p) for q, p in pairwise(RANDOM)])
def test_stanford_arm_matches_closed_form(q):
    """Spong, Hutchinson, Vidyasagar 2006, the example of table 3.4; the shoulder 0.412 high."""
    (c1, s1), (c2, s2), d3, (c4, s4), (c5, s5), (c6, s6) = (
        q[i] if i == 2 else cs(q[i]) for i in range(6)
    )
    d2, d6 = 0.154, 0.263
    z = [
        c1 * (c2 * c4 * s5 + s2 * c5) - s1 * s4 * s5,
        s1 * (c2 * c4 * s5 + s2 * c5) + c1 * s4 * s5,
        c2 * c5 - s2 * c4 * s5,
    ]
    x = [
        c1 * (c2 * (c4 * c5 * c6 - s4 * s6) - s2 * s5 * c6) - s1 * (s4 * c5 * c6 + c4 * s6),
        s1 * (c2 * (c4 * c5 * c6 - s4 * s6) - s2 * s5 * c6) + c1 * (s4 * c5 * c6 + c4 * s6),
        -s2 * (c4 * c5 * c6 - s4 * s6) - c2 * s5 * c6,
    ]
    p = [
        c1 * s2 * d3 - s1 * d2 + d6 * z[0],
        s1 * s2 * d3 + c1 * d2 + d6 * z[1],
        c2 * d3 + d6 * z[2],
    ]
    T = load_robot("stanford_arm").fk(q)
    np.testing.assert_allclose(T[:3, 0], x, atol=1e-14)
    np.testing.assert_allclose(T[:3, 2], z, atol=1e-14)
    np.testing.assert_allclose(T[:3, 3] - [0, 0, 0.412], p, atol=1e-14)


@pytest.mark.parametrize("q", RANDOM)
def test_spherical_arm_matches_closed_form(q):
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
def test_anthropomorphic_arm_matches_closed_form(q):
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
def test_raghavan_roth_matches_published_pose(solution):
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


# After a shoulder z is across the arm; the tool points ahead.
ACROSS_AND_AHEAD = Rotation.from_euler("XY", [-90, 90], degrees=True)
X = np.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("robot", "height", "lengths", "axes"),
    [
        ("universal_arm", 0.3, (0.30, 0.25, 0.10), "ZY"),
        ("ball_arm", 0.6, (0.30, 0.26, 0.10), "ZYX"),
    ],
)
def test_universal_and_ball_joints_match_euler_angles(robot, height, lengths, axes):
    """SciPy's Euler angles, with the height of the shoulder and the lengths of three links."""
    n = len(axes)
    for q in np.random.default_rng(9).uniform(-2, 2, (10, 2 * n + 1)):
        upper = Rotation.from_euler(axes, q[:n])
        forearm = upper * Rotation.from_euler("Y", q[n])
        hand = forearm * Rotation.from_euler("YZX"[:n], q[n + 1 :] * np.array([1, -1, 1])[:n])
        links = [
            length * turn.apply(X)
            for length, turn in zip(lengths, (upper, forearm, hand), strict=True)
        ]
        T = load_robot(robot).fk(q)
        np.testing.assert_allclose(T[:3, 3], np.sum([[0, 0, height], *links], axis=0), atol=1e-14)
        np.testing.assert_allclose(T[:3, :3], (hand * ACROSS_AND_AHEAD).as_matrix(), atol=1e-14)


def test_rediestro_matches_another_library():
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
    """Condition number of the Jacobian, positions divided by its characteristic length."""
    model = load_robot("rediestro")
    frames = model.dh_frames([model.postures["isotropic"][name] for name in model.joint_names])
    axes = np.array([frame[:3, 2] for frame in frames[:-1]])
    arms = np.cross(axes, [frames[-1][:3, 3] - frame[:3, 3] for frame in frames[:-1]])
    length = math.sqrt((arms**2).sum() / (axes**2).sum())
    assert np.linalg.cond(np.hstack([axes, arms / length])) < 1.00002


ZERO = {f"panda_joint{i}": 0.0 for i in range(1, 8)}

# Robot, file of example-robot-data, its tool, and tolerance: UR's writes pi with eleven digits.
PUBLISHED = [
    ("ur5", "ur_description/urdf/ur5_robot.urdf", "tool0", 1e-10),
    ("panda", "panda_description/urdf/panda.urdf", "panda_hand_tcp", 1e-14),
]


@pytest.mark.parametrize(("robot", "path", "tool", "exact"), PUBLISHED)
def test_manufacturer_urdfs_agree(robot, path, tool, exact, pin_robot, published_urdf):
    """Poses and limits of the manufacturers' URDFs, read by Pinocchio."""
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
def test_panda_fingers_move_as_published(joint, link, pin_robot, published_urdf, urdf_fk):
    fk, _ = pin_robot(published_urdf("panda_description/urdf/panda.urdf"))
    urdf = load_robot("panda").to_urdf()

    def displacement(pose):
        return pose({joint: 0.03})[:3, 3] - pose({joint: 0.0})[:3, 3]

    ours = displacement(lambda values: urdf_fk(urdf, ZERO | values, "base_link", f"{joint}_link"))
    np.testing.assert_allclose(ours, displacement(lambda values: fk(values, link)), atol=1e-15)
    assert np.linalg.norm(ours) == pytest.approx(0.03)
