# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math
from types import SimpleNamespace

import numpy as np
import pytest
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf
from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import postures_of, read_robot
from arm_viewer.scene.shapes import GREY, Cylinder, Ellipsoid, MeshFile
from hypothesis import given
from hypothesis import strategies as st

size = st.floats(1e-3, 10).map(lambda value: round(value, 6))


def robot(body="", visual=None):
    link = f'<link name="a">{"" if visual is None else f"<visual>{visual}</visual>"}</link>'
    return f'<robot name="r">{link}{body}</robot>'


def joint(extra='<limit lower="-1" upper="1"/>', name="j", parent="a", child="b", type="revolute"):
    return (
        f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 1"/>{extra}</joint>'
    )


def test_small_robot_is_read_completely(urdf):
    picture = read_robot(urdf)
    assert (picture.name, picture.root) == ("desk_arm", "base_link")
    assert [j.name for j in picture.joints] == ["waist", "elbow", "left_finger", "right_finger"]
    assert [j.prismatic for j in picture.joints] == [False, False, True, True]
    assert picture.joints[3].mimic.joint == "left_finger"
    assert len(picture.visuals) == 6
    assert {v.link for v in picture.visuals} <= set(picture.links)
    np.testing.assert_allclose(picture.zero["tool0"][:3, 3], [0.19, 0, 0.19], atol=1e-12)
    # The tool is the farthest tip: 0.06 + 0.13 + 0.19 m; the fingers end before it.
    assert picture.reach == pytest.approx(0.38)


def test_pose_of_a_link_is_that_at_the_given_positions(urdf):
    picture, tree = read_robot(urdf), read_urdf(urdf)
    values = {"waist": 0.3, "elbow": -0.4, "left_finger": 0.01, "right_finger": 0.01}
    expected = link_poses(tree.root, tree.joints, values)
    del values["right_finger"]  # mimics the left one
    for link in picture.links:
        np.testing.assert_allclose(picture.pose_of(link, values), expected[link], atol=1e-15)


def test_pose_of_a_link_is_unknown_without_its_joints(urdf):
    picture = read_robot(urdf)
    assert picture.pose_of("tool0", {"waist": 0.3}) is None
    assert picture.pose_of("camera", {"waist": 0.3, "elbow": 0.0}) is None


@given(radius=size, length=size)
def test_radii_are_converted_to_diameters(radius, length):
    text = robot(
        visual=f'<geometry><cylinder radius="{radius}" length="{length}"/></geometry>',
        body=f'<link name="b"><visual><geometry><sphere radius="{radius}"/></geometry></visual>'
        f"</link>{joint()}",
    )
    cylinder, sphere = (visual.shape for visual in read_robot(text).visuals)
    assert cylinder == Cylinder((2 * radius, 2 * radius), length)
    assert sphere == Ellipsoid((2 * radius,) * 3)


def test_mesh_keeps_its_colours_unless_a_material_is_given():
    mesh = '<geometry><mesh filename="package://p/m.stl" scale="1 1 2"/></geometry>'
    coloured = f'{mesh}<material name="x"><color rgba="1 1 0 1"/></material>'
    (plain,), (painted,) = (read_robot(robot(visual=v)).visuals for v in (mesh, coloured))
    assert (plain.colour, painted.colour) == (GREY, (1.0, 1.0, 0.0, 1.0))
    assert plain.shape == MeshFile("package://p/m.stl", (1.0, 1.0, 2.0), own_colours=True)
    assert painted.shape == MeshFile("package://p/m.stl", (1.0, 1.0, 2.0), own_colours=False)


def test_joint_limits_of_every_type():
    links = "".join(f'<link name="{name}"/>' for name in "bcd")
    text = robot(
        links
        + joint(type="continuous", extra="")
        + joint('<limit upper="0.3"/>', "k", "b", "c", "prismatic")
        + joint("", "f", "c", "d", "fixed")
    )
    picture = read_robot(text)
    assert [(j.lower, j.upper) for j in picture.joints] == [(-math.pi, math.pi), (0.0, 0.3)]
    assert picture.reach == pytest.approx(3.3)  # Three origins of 1 m and the stroke.


MIMIC = joint('<limit lower="0" upper="1"/><mimic joint="f"/>', "j", "b", "c")
FOLLOWER = '<link name="b"/><link name="c"/>' + joint("", "f", type="fixed") + MIMIC


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("robot.urdf", "not XML"),
        (robot(visual="<geometry><cone/></geometry>"), "link 'a' has no shape"),
    ],
)
def test_error_names_the_topic_and_the_element(text, sentence):
    with pytest.raises(ViewerError, match=f"^robot_description: .*{sentence}"):
        read_robot(text)


def test_joint_that_mimics_a_fixed_one_moves_by_itself():
    (found,) = read_robot(robot(FOLLOWER)).joints
    assert (found.name, found.mimic) == ("j", None)


def test_postures_move_each_finger_by_half_the_width():
    model = SimpleNamespace(
        postures={"ready": {"waist": 0.5, "gripper": 0.02}, "rest": {"waist": 0.0}},
        gripper=SimpleNamespace(positions=lambda width: {"left": width / 2, "right": width / 2}),
    )
    assert postures_of(model) == {
        "ready": {"waist": 0.5, "left": 0.01, "right": 0.01},
        "rest": {"waist": 0.0},
    }
