# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The shipped robots against numbers published elsewhere, and against common sense."""

import math

import numpy as np
import pytest

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
def test_puma560_as_published(name):
    q, rotation, position = PUMA[name]
    T = load_robot("puma560").fk(q)
    np.testing.assert_allclose(T[:3, :3], rotation, atol=1e-14)
    np.testing.assert_allclose(T[:3, 3], position, atol=1e-14)


def test_modified_convention_as_published(table_yaml):
    """Franka Panda: Robotics Toolbox for Python 1.4.4, rtb.models.DH.Panda(), its table and fkine.

    The table is the maker's (Franka Control Interface documentation, "Denavit-Hartenberg").
    """
    table = [
        (0.333, 0.0, 0.0),
        (0.0, 0.0, -PI / 2),
        (0.316, 0.0, PI / 2),
        (0.0, 0.0825, PI / 2),
        (0.384, -0.0825, -PI / 2),
        (0.0, 0.0, PI / 2),
        (0.107, 0.088, PI / 2),
    ]
    rows = [("revolute", 0.0, d, a, alpha) for d, a, alpha in table]
    tool = ((0, 0, 0.103), (0, 0, -PI / 4))
    model = parse_robot(table_yaml(rows, "modified", tool=tool))
    expected = [
        [-0.42904474817859567, 0.8913155552980687, 0.1465509636408467, 0.41741214586080266],
        [0.7960605758277026, 0.29643618671064403, 0.5276486964082436, 0.306775944869876],
        [0.42685848202095283, 0.34304834658127614, -0.8367255632730606, 0.7287343157115923],
        [0, 0, 0, 1],
    ]
    found = model.fk([0.1, -0.2, 0.3, -1.4, 0.5, 1.6, -0.7])
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_nut_arm_at_rest():
    """Closed gripper tip 160 mm ahead at a height of 185 mm, tool z ahead, fingers level."""
    model = load_robot("nut_arm")
    T = model.fk([model.postures["rest"][name] for name in model.joint_names])
    np.testing.assert_allclose(T[:3, 3], [0.160, 0, 0.185], atol=1e-15)
    np.testing.assert_allclose(T[:3, 2], [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(T[:3, 1], [0, -1, 0], atol=1e-15)


@pytest.mark.parametrize("angle", np.linspace(-1.2, 1.2, 9))
def test_nut_arm_with_level_forearm(angle):
    T = load_robot("nut_arm").fk([0, angle, -angle, 0])
    expected = [0.160 + 0.105 * math.sin(angle), 0, 0.080 + 0.105 * math.cos(angle)]
    np.testing.assert_allclose(T[:3, 3], expected, atol=1e-15)
    np.testing.assert_allclose(T[:3, 2], [1, 0, 0], atol=1e-15)


def test_nut_arm_gripper_passes_the_nut():
    """1/4-20 hex nut across corners (ASME B18.2.2: 7/16 inch across flats)."""
    model = load_robot("nut_arm")
    assert model.gripper.joints == ("left_finger", "right_finger")
    assert model.gripper.min_width == 0.0
    assert model.gripper.max_width > 7 / 16 * 0.0254 * 2 / math.sqrt(3) + 0.01


def test_planar2_in_closed_form():
    for a, b in np.random.default_rng(4).uniform(-2, 2, (10, 2)):
        x = 0.3 * math.cos(a) + 0.2 * math.cos(a + b)
        y = 0.3 * math.sin(a) + 0.2 * math.sin(a + b)
        np.testing.assert_allclose(load_robot("planar2").fk([a, b])[:3, 3], [x, y, 0.1])


@pytest.mark.parametrize("robot", shipped_robots())
def test_every_shipped_robot_is_complete(robot):
    model = load_robot(robot)
    assert model.name == robot
    assert model.source
    assert model.description
    for posture in model.postures.values():
        assert set(model.joint_names) <= set(posture)
    assert "rest" in model.postures
    assert len(model.postures) >= 2
