# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""URDF texts become visuals, joints and sizes; wrong ones are named."""

import math

import numpy as np
import pytest
from arm_viewer.errors import VisualUrdfError
from arm_viewer.scene.robot import read_robot
from arm_viewer.scene.shapes import GREY, Box, Cylinder, Ellipsoid, MeshFile
from hypothesis import given
from hypothesis import strategies as st

number = st.floats(-10, 10).map(lambda value: round(value, 6))
size = st.floats(1e-3, 10).map(lambda value: round(value, 6))


def robot(body="", visual=None):
    link = f'<link name="a">{"" if visual is None else f"<visual>{visual}</visual>"}</link>'
    return f'<robot name="r">{link}{body}</robot>'


def joint(extra='<limit lower="-1" upper="1"/>', name="j", parent="a", child="b", type="revolute"):
    return (
        f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 1"/>{extra}</joint>'
    )


def test_the_whole_of_a_small_robot(urdf):
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


@given(xyz=st.tuples(number, number, number), rpy=st.tuples(number, number, number))
def test_an_origin_turns_about_fixed_axes(xyz, rpy):
    words = [" ".join(map(repr, values)) for values in (xyz, rpy)]
    text = robot(
        visual=f'<origin xyz="{words[0]}" rpy="{words[1]}"/><geometry><sphere radius="1"/>'
        "</geometry>"
    )
    pose = read_robot(text).visuals[0].pose

    def turn(axis, angle):
        c, s = math.cos(angle), math.sin(angle)
        return {
            0: np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
            1: np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
            2: np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
        }[axis]

    expected = turn(2, rpy[2]) @ turn(1, rpy[1]) @ turn(0, rpy[0])
    np.testing.assert_allclose(pose[:3, :3], expected, atol=1e-9)
    np.testing.assert_allclose(pose[:3, 3], xyz)


@given(radius=size, length=size)
def test_radii_become_diameters(radius, length):
    text = robot(
        visual=f'<geometry><cylinder radius="{radius}" length="{length}"/></geometry>',
        body=f'<link name="b"><visual><geometry><sphere radius="{radius}"/></geometry></visual>'
        f"</link>{joint()}",
    )
    cylinder, sphere = (visual.shape for visual in read_robot(text).visuals)
    assert cylinder == Cylinder((2 * radius, 2 * radius), length)
    assert sphere == Ellipsoid((2 * radius,) * 3)


def test_materials_are_found_wherever_they_stand():
    box = '<geometry><box size="1 2 3"/></geometry>'
    text = (
        '<robot name="r"><material name="red"><color rgba="1 0 0 0.5"/></material><link name="a">'
        f'<visual>{box}<material name="red"/></visual>'
        f'<visual>{box}<material name="blue"><color rgba="0 0 2 1"/></material></visual>'
        f'<visual>{box}<material name="blue"/></visual><visual>{box}</visual></link></robot>'
    )
    visuals = read_robot(text).visuals
    blue = (0.0, 0.0, 1.0, 1.0)  # Out of range is brought into it.
    assert [v.colour for v in visuals] == [(1.0, 0.0, 0.0, 0.5), blue, blue, GREY]
    assert visuals[0].shape == Box((1.0, 2.0, 3.0))


def test_a_mesh_keeps_its_colours_unless_it_is_given_one():
    mesh = '<geometry><mesh filename="package://p/m.stl" scale="1 1 2"/></geometry>'
    coloured = f'{mesh}<material name="x"><color rgba="1 1 0 1"/></material>'
    (plain,), (painted,) = (read_robot(robot(visual=v)).visuals for v in (mesh, coloured))
    assert plain.shape == MeshFile("package://p/m.stl", (1.0, 1.0, 2.0), own_colours=True)
    assert painted.shape == MeshFile("package://p/m.stl", (1.0, 1.0, 2.0), own_colours=False)


def test_limits_of_every_kind_of_joint():
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


TWO = '<link name="b"/>'
BAD = {
    "not xml": ("robot.urdf", "not XML"),
    "not a robot": ("<model/>", "<model>, it must be <robot>"),
    "no link": ('<robot name="r"/>', "one root link, it has 0"),
    "two roots": (robot(TWO), "it has 2: a, b"),
    "missing child": (robot(joint()), 'joint "j": its child link "b" does not exist'),
    "two parents": (
        robot(TWO + '<link name="c"/>' + joint() + joint(name="k", parent="c")),
        'link "b": it is the child of two joints',
    ),
    "loop": (
        robot(TWO + '<link name="c"/>' + joint(parent="c") + joint(parent="b", child="c")),
        'link "b": its joints form a loop',
    ),
    "unknown type": (robot(TWO + joint(type="ball")), 'type "ball" is unknown'),
    "no limit": (robot(TWO + joint("")), 'joint "j": it has no <limit>'),
    "crossed limits": (
        robot(TWO + joint('<limit lower="2" upper="1"/>')),
        "lower limit 2 is above its upper limit 1",
    ),
    "nan limit": (
        robot(TWO + joint('<limit lower="nan" upper="1"/>')),
        '<limit lower="nan"> is not a finite number',
    ),
    "mimics nobody": (
        robot(TWO + joint('<limit lower="0" upper="1"/><mimic joint="x"/>')),
        'joint "j": it mimics "x"',
    ),
    "empty geometry": (robot(visual="<geometry/>"), 'link "a": a <visual> has no <geometry>'),
    "unknown shape": (
        robot(visual="<geometry><cone/></geometry>"),
        "<cone> is no shape of URDF",
    ),
    "no radius": (
        robot(visual="<geometry><sphere/></geometry>"),
        '<sphere> lacks the attribute "radius"',
    ),
    "no size": (robot(visual="<geometry><box/></geometry>"), '<box> lacks the attribute "size"'),
    "two sizes": (
        robot(visual='<geometry><box size="1 2"/></geometry>'),
        "must hold 3 finite numbers",
    ),
    "no file": (robot(visual="<geometry><mesh/></geometry>"), 'lacks the attribute "filename"'),
}


@pytest.mark.parametrize(("text", "sentence"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_named(text, sentence):
    with pytest.raises(VisualUrdfError) as caught:
        read_robot(text)
    assert str(caught.value).startswith("robot_description")
    assert sentence in str(caught.value)
