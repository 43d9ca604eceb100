# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Universal and ball joints: two and three rotations at one point."""

import math
from dataclasses import astuple

import numpy as np
import pytest
from arm_common.transforms import rpy_matrix
from arm_description.model.elements import dh_matrix, turn_matrix
from hypothesis import given
from hypothesis import strategies as st

from arm_description import DhRow, parse_robot

CONVENTIONS = st.sampled_from(["standard", "modified"])
angles = st.floats(-3, 3) | st.sampled_from([k * math.pi / 2 for k in range(-2, 3)])
lengths = st.just(0.0) | st.floats(0.01, 1) | st.floats(-1, -0.01)
rows = st.builds(DhRow, theta=angles, d=lengths, a=lengths, alpha=angles)
KINDS = ("universal", "ball")


def robot(table_yaml, convention, *table):
    text = table_yaml([(kind, *astuple(row)) for kind, row in table], convention)
    return parse_robot(text.replace("-3,", "-3.5,").replace("upper: 3", "upper: 3.5"))


@given(rows, rows, CONVENTIONS, st.sampled_from(KINDS))
def test_compound_joint_at_zero_is_revolute(table_yaml, row, following, convention, kind):
    table = [(kind, row), ("revolute", following)]
    plain = robot(table_yaml, convention, *[("revolute", row) for _, row in table])
    model = robot(table_yaml, convention, *table)
    assert [joint.type for joint in model.joints] == ["revolute"] * model.n
    np.testing.assert_allclose(model.fk(np.zeros(model.n)), plain.fk([0, 0]), rtol=0, atol=1e-15)


@given(rows, CONVENTIONS, st.sampled_from(KINDS), st.tuples(angles, angles, angles))
def test_compound_joint_rotates_about_z_y_x(table_yaml, row, convention, kind, turns):
    model = robot(table_yaml, convention, (kind, row))
    yaw, pitch, roll = (*turns[: model.n], 0.0)[:3]
    turned = rpy_matrix((0, 0, 0), (roll, pitch, yaw))  # Rz(yaw) Ry(pitch) Rx(roll)
    link = dh_matrix(row, convention)
    expected = turned @ link if convention == "standard" else link @ turned
    found = model.fk(turns[: model.n])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@given(st.sampled_from("zyx"), angles)
def test_turn_matrix_follows_the_right_hand_rule(axis, angle):
    rpy = [angle if axis == name else 0.0 for name in "xyz"]
    np.testing.assert_allclose(turn_matrix(axis, angle), rpy_matrix((0, 0, 0), rpy), atol=1e-14)


BALL = """\
name: b
convention: standard
units: {length: m, angle: deg}
joints:
  - name: hip
    type: ball
    d: 0
    a: 0.3
    alpha: 0
    limits:
      z: {lower: -90, upper: 90, velocity: 10}
      y: {lower: -60, upper: 60}
      x: {lower: -30, upper: 30, effort: 2}
    source: a book
  - {name: knee, type: universal, theta: 90, d: 0, a: 0.3, alpha: 0,
     limits: {z: {lower: 0, upper: 1}, y: {lower: 0, upper: 2}}}
postures:
  rest: {hip_z: 0, hip_y: 10, hip_x: 0, knee_z: 0, knee_y: 0}
"""


def test_compound_joints_have_names_limits_and_sources():
    model = parse_robot(BALL)
    assert model.joint_names == ("hip_z", "hip_y", "hip_x", "knee_z", "knee_y")
    np.testing.assert_allclose(np.degrees(model.upper), [90, 60, 30, 1, 2])
    hip = model.joints[:3]
    assert [joint.direction for joint in hip] == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert {joint.source for joint in hip} == {"a book"}
    assert hip[0].velocity == pytest.approx(math.radians(10))
    assert hip[2].effort == 2.0
    assert model.postures["rest"]["hip_y"] == pytest.approx(math.radians(10))


@pytest.mark.parametrize(
    ("old", "new", "message", "line", "key"),
    [
        ("      y: {lower: -60, upper: 60}\n", "", "has no 'y'", 10, "joints[0].limits"),
        ("      z:", "      a:", "known are z, y, x", 11, "joints[0].limits.a"),
        ("y: {lower: -60", "y: {lower: 70", "lower must be", 12, "joints[0].limits.y"),
        (", y: {lower: 0, upper: 2}", "", "has no 'y'", 16, "joints[1].limits"),
        ("upper: 2}}", "upper: 2}, x: {lower: 0, upper: 1}}", "known are z, y", 16,
         "joints[1].limits.x"),
        ("name: knee", "name: hip", "the name 'hip_z' is used twice", 15, "joints[1]"),
        ("hip_z: 0", "hip: 0", "did you mean 'hip_", 18, "postures.rest.hip"),
    ],
)  # fmt: skip
def test_invalid_compound_joints_are_rejected(refusal, old, new, message, line, key):
    assert old in BALL
    error = refusal(BALL.replace(old, new, 1))
    assert message in str(error)
    assert (error.line, error.key) == (line, key)
