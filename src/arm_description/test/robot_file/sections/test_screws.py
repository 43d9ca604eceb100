# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Robots given by axes and points: the product of exponentials, whatever the axes."""

import math
from itertools import pairwise

import numpy as np
import pytest
from arm_common.transforms import rpy_matrix
from arm_description.robot_file.editor import RobotEditor
from arm_description.robot_file.writer import robot_yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from arm_description import DescriptionError, parse_robot

LIMITS = "limits: {lower: -1, upper: 2}"


def robot(joints, home=((0, 0, 0), (0, 0, 0)), more=""):
    """Return a robot file in metres and radians of (type, axis, point)."""
    rows = "".join(
        f"  - {{name: q{i}, type: {kind}, axis: {list(axis)}, at: {list(at)}, {LIMITS}}}\n"
        for i, (kind, axis, at) in enumerate(joints)
    )
    return (
        "name: arm\nconvention: screws\nunits: {length: m, angle: rad}\n"
        f"joints:\n{rows}home: {{xyz: {list(home[0])}, rpy: {list(home[1])}}}\n{more}"
    )


def product_of_exponentials(joints, home, q):
    """R. Murray, Z. Li, S. Sastry, "Robotic Manipulation", eq. 3.3."""
    T = np.eye(4)
    for (kind, axis, at), value in zip(joints, q, strict=True):
        w = np.array(axis) / np.linalg.norm(axis)
        twist = np.zeros((4, 4))
        if kind == "prismatic":
            twist[:3, 3] = w
        else:
            twist[:3, :3] = np.cross(np.eye(3), w)
            twist[:3, 3] = -np.cross(w, at)
        T = T @ expm(twist * value)
    return T @ rpy_matrix(*home)


number = st.floats(-1, 1).map(lambda value: round(value, 3))
triple = st.tuples(number, number, number)
direction = st.one_of(
    st.sampled_from([(0, 0, 1), (0, 0, -1), (0, 1, 0), (1, 0, 0), (1, 1, 0), (-0.6, 0, 0.8)]),
    triple.filter(lambda axis: math.hypot(*axis) > 0.1),
)
joint = st.tuples(st.sampled_from(["revolute", "revolute", "prismatic"]), direction, triple)


@settings(max_examples=30)
@given(st.lists(joint, min_size=1, max_size=7), st.tuples(triple, triple), st.integers(0, 1000))
def test_axes_and_points_are_the_product_of_exponentials(urdf_fk, joints, home, seed):
    for (_, one, _), (_, other, _) in pairwise(joints):
        sine = np.linalg.norm(np.cross(one, other)) / math.hypot(*one) / math.hypot(*other)
        if 1e-15 < sine < 0.1:
            return  # a DH row of such axes is long
    model = parse_robot(robot(joints, home))
    assert parse_robot(robot_yaml(model)) == model
    urdf = model.to_urdf()
    for q in np.random.default_rng(seed).uniform(-1, 2, (3, len(joints))):
        expected = product_of_exponentials(joints, home, q)
        np.testing.assert_allclose(model.fk(q), expected, atol=1e-12)
        values = dict(zip(model.joint_names, q, strict=True))
        np.testing.assert_allclose(
            urdf_fk(urdf, values, "base_link", "tool0"), expected, atol=1e-12
        )


PLANAR = [("revolute", (0, 0, 1), (0, 0, 0)), ("revolute", (0, 0, 1), (0.3, 0, 0))]


def test_a_tool_is_mounted_at_the_home_pose():
    model = parse_robot(robot(PLANAR, ((0.5, 0, 0.1), (0, 0, 0)), "tool: pen\n"))
    np.testing.assert_allclose(model.fk([0, 0])[:3, 3], (0.5, 0, 0.22), atol=1e-15)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (robot([("revolute", (0, 0, 0), (0, 0, 0))]), "has no direction"),
        (robot(PLANAR).replace("q1", "q0"), "'q0' is used twice"),
        (robot(PLANAR).replace("home", "base"), "base"),
        (robot(PLANAR).replace("screws", "standard"), "home: is not a known key"),
        (robot(PLANAR).replace("at: [0, 0, 0], ", ""), "has no 'at'"),
    ],
)
def test_what_no_arm_can_be_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(DescriptionError, match=sentence):
        parse_robot(text)


def test_axes_and_points_are_edited_like_a_table():
    editor = RobotEditor(robot(PLANAR).encode())
    assert editor.rows()[0].numbers == ("axis x", "axis y", "axis z", "at x", "at y", "at z")
    assert editor.set(editor.rows()[1].entries["at x"], "0.4") == ""
    assert editor.model.joints[0].row.a == pytest.approx(0.4)
    assert "has no direction" in editor.set(editor.rows()[0].entries["axis z"], "0")
    assert editor.set(editor.rows()[0].entries["axis z"], "1") == ""
    assert editor.add_joints(2) == ""
    assert editor.set(("joints", 2, "type"), "prismatic") == ""
    assert editor.model.joints[2].type == "prismatic"
