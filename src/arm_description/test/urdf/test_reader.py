# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reading URDFs, and rejecting invalid ones."""

import itertools
import math

import numpy as np
import pytest
from arm_common.transforms import quaternion
from arm_description.errors import UrdfError
from arm_description.urdf.kinematics import JointMotion
from arm_description.urdf.reader import read_urdf

JOINT = '<joint name="{n}" type="{t}"><parent link="{p}"/><child link="{c}"/>{x}</joint>'
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
LOW = '<limit lower="low"/>'
AFTER_AB = '<mimic joint="ab"/>'
SWAPPED = '<limit lower="0.3" upper="0.2"/>'


def robot(*joints, links=("a", "b", "c")):
    body = "".join(f'<link name="{name}"/>' for name in links)
    return f'<robot name="r">{body}{"".join(joints)}</robot>'


def joint(name, parent, child, kind="fixed", inside=""):
    return JOINT.format(n=name, t=kind, p=parent, c=child, x=inside)


AB, BC = joint("ab", "a", "b"), joint("bc", "b", "c")


def test_joints_are_ordered_from_the_root():
    tree = read_urdf(robot(BC, AB))
    assert (tree.name, tree.root) == ("r", "a")
    assert [j.name for j in tree.joints] == ["ab", "bc"]


def test_missing_elements_have_the_specified_defaults():
    (only,) = read_urdf(robot(joint("j", "a", "b", "revolute", LIMIT), links="ab")).joints
    assert only.axis == (1.0, 0.0, 0.0)
    assert only.origin.xyz == only.origin.rpy == (0.0, 0.0, 0.0)


def test_axes_are_normalised_and_mimics_read():
    inside = LIMIT + '<axis xyz="0 3 4"/><mimic joint="ab" multiplier="-2" offset="0.5"/>'
    leader = joint("ab", "a", "b", "revolute", LIMIT)
    tree = read_urdf(robot(leader, joint("j", "b", "c", "prismatic", inside)))
    assert tree.joints[1].axis == (0.0, 0.6, 0.8)
    mimic = tree.joints[1].mimic
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("ab", -2.0, 0.5)


def test_negative_speed_and_effort_are_no_limits():
    unlimited = '<limit lower="-1" upper="1" velocity="-1" effort="-1"/>'
    (only,) = read_urdf(robot(joint("j", "a", "b", "revolute", unlimited), links="ab")).joints
    assert (only.limit.velocity, only.limit.effort) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        (None, "is empty"),
        ('<!DOCTYPE r [<!ENTITY a "b">]>' + robot(AB, BC), "has a DOCTYPE"),
        (" " * 32_000_000 + robot(AB, BC), "over 32 MB"),
        (robot(AB, BC) + "\ud800", "not XML"),
        (robot(AB, BC).replace('"b"', '"&#xD800;"'), "not XML"),
        (robot(AB, BC).replace('"b"', f'"{"b" * 256}"'), "of 256 characters; at most 255"),
        ("not xml", "not XML"),
        ("<robot>", "not XML"),
        ("<model/>", "root element is <model>"),
        ("<robot/>", "this has none"),
        (robot(), "this has a, b, c"),
        (robot(AB), "this has a, c"),
        (robot(AB, BC, joint("ca", "c", "a")), "this has none"),
        (robot(joint("bc", "b", "c"), joint("cb", "c", "b")), "the links b, c form a loop"),
        (robot(AB, BC, joint("x", "a", "c")), "link 'c' is the child of two joints, 'bc' and 'x'"),
        (robot(AB, AB.replace('"b"', '"c"')), "more than one joint 'ab'"),
        (robot(AB, links="aab"), "more than one link 'a'"),
        (robot(AB, links="a"), "refers to the missing link 'b'"),
        (robot(joint("", "a", "b")), "a joint has no 'name'"),
        (robot(AB.replace('<parent link="a"/>', "")), "'ab' has no parent"),
        (robot(AB.replace('link="a"', "")), "has no 'link'"),
        (robot(AB.replace("fixed", "screw")), "has type 'screw'"),
        (robot(joint("j", "a", "b", "revolute")), "has no limit"),
        (robot(joint("j", "a", "b", "revolute", SWAPPED)), "lower limit 0.3 above its upper"),
        (robot(joint("j", "a", "b", "revolute", LOW)), "<limit lower=\"low\"> of joint 'j' must"),
        (robot(AB, joint("j", "b", "c", "fixed", '<mimic joint="no"/>')), "mimics 'no', which"),
        (robot(AB, joint("j", "b", "c", "fixed", '<mimic joint="j"/>')), "in a circle"),
        (robot(AB, joint("j", "b", "c", "revolute", LIMIT + AFTER_AB)), "'ab', which is fixed"),
        (robot(joint("j", "a", "b", "fixed", '<origin xyz="0 1e200 0"/>')), "1e\\+200 m away"),
        (robot(joint("j", "a", "b", "fixed", '<origin xyz="1 2"/>')), "must be 3 finite numbers"),
        (robot(joint("j", "a", "b", "fixed", '<origin rpy="0 0 x"/>')), "3 finite numbers"),
        (robot(joint("j", "a", "b", "fixed", '<origin xyz="0 0 nan"/>')), "3 finite numbers"),
        (robot(joint("j", "a", "b", "continuous", '<axis xyz="0 0 0"/>')), "zero length"),
    ],
    ids=itertools.count(),
)
def test_invalid_urdf_is_rejected(text, message):
    with pytest.raises(UrdfError, match=message) as caught:
        read_urdf(text)
    assert "\n" not in str(caught.value)


def link(inside, robot=""):
    return read_urdf(f'<robot name="r">{robot}<link name="forearm">{inside}</link></robot>')


BOX = '<geometry><box size="1 2 3"/></geometry>'


def test_shapes_and_masses_are_read():
    origin = '<origin xyz="1 2 3" rpy="0 0 0.5"/>'
    tree = link(
        f"<visual>{origin}{BOX}</visual>"
        '<collision><geometry><mesh filename="a.stl" scale="1 1 2"/></geometry></collision>'
        '<collision><geometry><capsule radius="1"/></geometry></collision>'
        f'<inertial>{origin}<mass value="0.5"/>'
        '<inertia ixx="1" iyy="2" izz="3" iyz="0.1"/></inertial>'
    )
    (visual,), (mesh, other), (inertial,) = tree.visuals, tree.collisions, tree.inertials
    assert (visual.link, visual.kind, visual.size) == ("forearm", "box", (1.0, 2.0, 3.0))
    assert (visual.origin.xyz, visual.origin.rpy) == ((1.0, 2.0, 3.0), (0.0, 0.0, 0.5))
    assert (mesh.kind, mesh.uri, mesh.size) == ("mesh", "a.stl", (1.0, 1.0, 2.0))
    assert (other.kind, other.size) == ("capsule", ())
    assert (inertial.mass, inertial.centre) == (0.5, (1.0, 2.0, 3.0))
    assert inertial.origin.rpy == (0.0, 0.0, 0.5)
    assert inertial.moments == (1.0, 0.0, 0.0, 2.0, 0.1, 3.0)


def test_named_materials_are_resolved():
    tree = link(
        f'<visual>{BOX}<material name="red"/></visual>'
        f'<visual>{BOX}<material name="blue"><color rgba="0 0 2 1"/></material></visual>'
        f'<visual>{BOX}<material name="blue"/></visual><visual>{BOX}</visual>',
        '<material name="red"><color rgba="1 0 0 0.5"/></material>',
    )
    blue = (0.0, 0.0, 1.0, 1.0)  # clipped
    assert [v.colour for v in tree.visuals] == [(1.0, 0.0, 0.0, 0.5), blue, blue, None]


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<visual/>", "a <visual> of link 'forearm' has no shape"),
        ("<visual><geometry><cone/></geometry></visual>", "link 'forearm' has no shape"),
        ('<visual><geometry><box size="1 2"/></geometry></visual>', "must be 3 finite numbers"),
        ("<visual><geometry><box/></geometry></visual>", "must be 3 finite numbers"),
        ("<visual><geometry><sphere/></geometry></visual>", "must be a finite number"),
        ("<visual><geometry><mesh/></geometry></visual>", "<mesh> of link 'forearm' has no 'file"),
        (f'<visual><origin xyz="0 0 nan"/>{BOX}</visual>', "must be 3 finite numbers"),
        ('<inertial><mass value="-1"/></inertial>', "link 'forearm' has the mass -1 kg"),
        ('<inertial><inertia ixx="1"/></inertial>', 'iyy="".*must be a finite number'),
    ],
)
def test_invalid_shape_or_mass_is_rejected_on_access(inside, message):
    tree = link(inside)
    with pytest.raises(UrdfError, match=message):
        _ = tree.visuals, tree.inertials


@pytest.mark.parametrize("kind", ["fixed", "floating"])
def test_axis_of_a_joint_without_motion_is_ignored(kind):
    (only,) = read_urdf(
        robot(joint("j", "a", "b", kind, '<axis xyz="0 0 0"/>'), links="ab")
    ).joints
    assert (only.kind, only.limit) == (kind, None)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous", "fixed"])
def test_joint_motion_agrees_with_pinocchio(kind, urdf_fk):
    rng = np.random.default_rng(3)
    for _ in range(20):
        xyz, rpy, axis = rng.uniform(-2, 2, (3, 3))
        axis /= np.linalg.norm(axis)
        texts = [" ".join(map(repr, map(float, v))) for v in (xyz, rpy, axis)]
        inside = '<origin xyz="{}" rpy="{}"/><axis xyz="{}"/>'.format(*texts) + LIMIT
        text = robot(joint("j", "a", "b", kind, inside), links="ab")
        motion, q = JointMotion(read_urdf(text).joints[0]), rng.uniform(-7, 7)
        if kind == "fixed":
            q = 0.0
        values = {} if kind == "fixed" else {"j": q}
        T = urdf_fk(text, values, "a", "b")
        np.testing.assert_allclose(motion.translation(q), T[:3, 3], atol=1e-14)
        found = np.array(motion.rotation(q) if kind != "fixed" else motion.quaternion)
        assert math.isclose(abs(found @ quaternion(T)), 1.0, abs_tol=1e-13)
        assert math.isclose(np.linalg.norm(found), 1.0, abs_tol=1e-13)
