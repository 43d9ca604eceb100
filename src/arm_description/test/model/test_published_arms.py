# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of shipped arms as published by others, whose numbers and formulas are here."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_common.transforms import rpy_matrix
from arm_description.model.transmissions.transmission import Drivetrain

from arm_description import load_robot, parse_robot

SAMPLES = 200
UP = (0.0, 0.0, 1.0)


def random_postures(model, n=SAMPLES):
    return np.random.default_rng(0).uniform(model.lower, model.upper, (n, model.n))


def product(joints, q):
    """Return the pose (4, 4) at the end of (xyz, rpy, axis) of joints, as a URDF has them."""
    T = np.eye(4)
    for (xyz, rpy, axis), angle in zip(joints, q, strict=True):
        T = T @ rpy_matrix(xyz, rpy)
        turn = np.eye(4)
        x, y, z = axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn[:3, :3] += math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
        T = T @ turn
    return T


# kinematic_model.py of github.com/meisben/easyEEZYbotARM: L1, L2, L3, L4 [mm]
EEZYBOTARMS = {"eezybotarm_mk1": (61, 80, 80, 57), "eezybotarm_mk2": (92, 135, 147, 87)}


def eezybotarm(lengths, q1, q2, q3):
    """Return x, y, z [mm] of its forwardKinematics() for angles in degrees."""
    l1, l2, l3, l4 = lengths
    q1, q2, q3 = np.radians([q1, q2, q3])
    out = math.cos(q2 + q3) * l3 + math.cos(q2) * l2 + l4
    up = l1 + math.sin(q2) * l2 + math.sin(q2 + q3) * l3
    return np.array([math.cos(q1) * out, math.sin(q1) * out, up])


@pytest.mark.parametrize("name", EEZYBOTARMS)
def test_eezybotarm_is_where_its_library_computes(name):
    model = load_robot(name)
    for q in random_postures(model):
        T = model.fk(q)
        assert T[:3, 3] * 1e3 == pytest.approx(eezybotarm(EEZYBOTARMS[name], *np.degrees(q)))
        assert T[2, 2] == pytest.approx(0.0, abs=1e-12)  # the hand is level


def test_eezybotarm_mk2_solves_the_example_of_its_library():
    """example3_inverseKinematics.py: x 240, y 85, z 200 mm."""
    model = load_robot("eezybotarm_mk2")
    r, z = math.hypot(240, 85) - 87, 200 - 92
    side = math.hypot(r, z)
    q3 = -(math.pi - math.acos((135**2 + 147**2 - side**2) / (2 * 135 * 147)))
    q2 = math.atan2(z, r) + math.acos((side**2 + 135**2 - 147**2) / (2 * side * 135))
    T = model.fk([math.atan2(85, 240), q2, q3])
    assert T[:3, 3] * 1e3 == pytest.approx([240, 85, 200])


@pytest.mark.parametrize(
    ("shoulder", "lower", "upper"), [(39, -97.1125, -41.0875), (95, -134.9405, -81.2115)]
)
def test_eezybotarm_elbow_is_limited_by_its_shoulder(shoulder, lower, upper):
    (constraint,) = load_robot("eezybotarm_mk2").constraints
    found = constraint.bounds({"shoulder": math.radians(shoulder)})
    assert np.degrees(found) == pytest.approx((lower, upper))


@pytest.mark.parametrize("name", EEZYBOTARMS)
def test_eezybotarm_servos_turn_as_its_library_maps_them(name):
    """map_kinematicsToServoAngles() of kinematic_model.py, without its rounding."""
    model = load_robot(name)
    train = Drivetrain.of(model)
    for q in random_postures(model):
        q1, q2, q3 = np.degrees(q)
        waist, shoulder, elbow = np.degrees(train.to_actuators(q))
        assert 91.726 - waist == pytest.approx(-2.0497 * q1 + 91.726)
        assert 180 - shoulder == pytest.approx(180 - q2)
        assert elbow + 135 == pytest.approx(q2 - 45 + 180 + q3)


def test_mearm_is_where_its_library_computes():
    """fk.cpp of github.com/yorkhackspace/meArm: L1 = L2 = 80, L3 = 68; z from the shoulder."""
    model = load_robot("mearm")
    for q in random_postures(model):
        a0, a1, a2 = q[0], q[1], q[1] + q[2]
        out = 80 * math.cos(a1) + 80 * math.cos(a2) + 68
        expected = [out * math.cos(a0), out * math.sin(a0), 80 * math.sin(a1) + 80 * math.sin(a2)]
        T = model.fk(q)
        assert T[:3, 3] * 1e3 - [0, 0, 55] == pytest.approx(expected)
        assert T[:3, 2] == pytest.approx([math.cos(a0), math.sin(a0), 0.0], abs=1e-12)


HALF = math.pi / 2
# urdf/braccio_arm.urdf of github.com/ohlr/braccio_arduino_ros_rviz
BRACCIO = [
    ((0, 0, 0), (0, 0, 0), UP),
    ((0, -0.002, 0.072), (-HALF, 0, 0), (1, 0, 0)),
    ((0, 0, 0.125), (-HALF, 0, 0), (1, 0, 0)),
    ((0, 0, 0.125), (-HALF, 0, 0), (1, 0, 0)),
    ((0, 0, 0.06), (0, 0, HALF), (0, 0, -1)),
]


def test_braccio_is_where_its_urdf_is():
    model = load_robot("braccio")
    for q in random_postures(model):
        T, there = model.fk(q), product(BRACCIO, [*(q[:4] + HALF), HALF - q[4]])
        ahead = there @ [0, 0, 0.03 + math.sqrt(0.1009**2 - 0.01559**2), 1]
        jaw = T @ [0, 0.02, 0, 1]  # the face of the fixed jaw
        assert jaw[:3] == pytest.approx(ahead[:3], abs=1e-12)
        assert T[:3, 2] == pytest.approx(there[:3, 2], abs=1e-12)
        assert abs(T[:3, 1] @ there[:3, 0]) == pytest.approx(1.0)  # both open along the same


# learm_ros2_description/urdf/learm.urdf of github.com/andrewda/learm_ros2
LEARM = [
    ((0, 0, 0.059), (0, 0, 0), UP),
    ((-0.010, 0, 0.028), (0, 0, 0), (0, 1, 0)),
    ((0, 0, 0.105), (0, 0, 0), (0, -1, 0)),
    ((0, 0, 0.090), (0, 0, 0), (0, -1, 0)),
    ((0, 0, 0.060), (0, 0, 0), UP),
]


def test_learm_is_where_its_urdf_is():
    model = load_robot("learm")
    for q in random_postures(model):
        there = product(LEARM, q * [1, 1, -1, -1, 1]) @ rpy_matrix((0, 0, 0.11), (0, 0, math.pi))
        assert model.fk(q) == pytest.approx(there, abs=1e-12)


# Simulation/SO101/so101_new_calib.urdf of github.com/TheRobotStudio/SO-ARM100
SO101 = [
    ((0.0388353, -8.97657e-09, 0.0624), (3.14159, 4.18253e-17, -3.14159), UP),
    ((-0.0303992, -0.0182778, -0.0542), (-1.5708, -1.5708, 0), UP),
    ((-0.11257, -0.028, 1.73763e-16), (-3.63608e-16, 8.74301e-16, 1.5708), UP),
    ((-0.1349, 0.0052, 3.62355e-17), (4.02456e-15, 8.67362e-16, -1.5708), UP),
    ((5.55112e-17, -0.0611, 0.0181), (1.5708, 0.0486795, 3.14159), UP),
]
SO101_FRAME = rpy_matrix((-0.0079, -0.000218121, -0.0981274), (0, 3.14159, 0))


def test_so101_is_where_its_urdf_is():
    model = load_robot("so101")
    off_the_jaw = rpy_matrix((-model.gripper.claw.face, 0, 0), (0, 0, HALF))
    for q in random_postures(model):
        assert np.abs(model.fk(q) - product(SO101, q) @ SO101_FRAME @ off_the_jaw).max() < 1e-7


def test_an_arm_without_postures_starts_clear_of_itself_inside_its_limits():
    link = "{name: %s, type: revolute, theta: 0, d: 0, a: %g, alpha: 0, limits: %s}"
    rows = [
        (name, 0.3, f"{{lower: {low}, upper: {high}, velocity: 1, acceleration: 4}}")
        for name, low, high in (("a", 0, 1), ("b", 2.4, 3.1), ("c", 1.8, 4.5))
    ]
    text = "\n".join(f"  - {link % row}" for row in rows)
    model = parse_robot(
        f"name: folded\nunits: {{length: m, angle: rad}}\nconvention: standard\njoints:\n{text}\n"
    )
    name, posture = model.home_posture
    assert name == "clear of itself" and model.home_posture[1] == posture
    q = [posture[joint] for joint in model.joint_names]
    assert model.constraint_set.worst(q) is None


def test_the_start_is_the_files_own():
    model = load_robot("nut_arm")
    assert model.home_posture[0] == "rest"
    others = {name: q for name, q in model.postures.items() if name != "rest"}
    assert replace(model, postures=others).home_posture[0] == next(iter(others))
