# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Import of URDFs: the DH table gives the same poses, zeros, signs and limits."""

import math
from dataclasses import astuple, replace

import numpy as np
import pytest
from arm_description.commands.convert import urdf2dh
from arm_description.importers.urdf import import_urdf
from arm_testing.samples import ROBOTS
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import DescriptionError, load_robot, parse_robot, robot_yaml

CONVENTIONS = ("standard", "modified")
QUARTERS = (0.0, math.pi / 2, -math.pi / 2, math.pi)
AXES = ("1 0 0", "-1 0 0", "0 1 0", "0 -1 0", "0 0 1", "0 0 -1", "0.6 0 -0.8")


def joint(name, parent, child, kind="revolute", xyz="0 0 0", rpy="0 0 0", axis="0 0 1", more=""):
    limit = '<limit lower="-1" upper="2" velocity="3" effort="4"/>' if kind != "fixed" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def robot(*joints, name="arm"):
    """Return the URDF of some joints and the links that they name."""
    words = " ".join(joints).split('link="')[1:]
    links = dict.fromkeys(word.split('"')[0] for word in words)
    empty = "".join(f'<link name="{link}"/>' for link in links)
    return f'<robot name="{name}">{empty}{"".join(joints)}</robot>'


def chain(*joints):
    links = ["base", *(f"link{i}" for i in range(1, len(joints))), "tip"]
    return robot(
        *(joint(chr(97 + i), links[i], links[i + 1], **keys) for i, keys in enumerate(joints))
    )


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


@st.composite
def chains(draw):
    """Chains with parallel, coincident, perpendicular and arbitrary axes."""
    angle = st.one_of(st.sampled_from(QUARTERS), st.floats(-3, 3).map(lambda v: round(v, 2)))
    length = st.one_of(st.just(0.0), st.floats(-1, 1).map(lambda v: round(v, 3)))
    triple = {"xyz": st.tuples(length, length, length), "rpy": st.tuples(angle, angle, angle)}
    joints = []
    for _ in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(["revolute", "revolute", "prismatic", "fixed"]))
        keys = {key: numbers(draw(values)) for key, values in triple.items()}
        joints.append({"kind": kind, "axis": draw(st.sampled_from(AXES)), **keys})
    joints[0]["kind"] = "revolute"
    return joints


@settings(max_examples=40)
@given(chains(), st.sampled_from(CONVENTIONS), st.integers(0, 1000))
def test_imported_table_agrees_with_the_urdf(urdf_fk, joints, convention, seed):
    text = chain(*joints)
    try:
        found = import_urdf(text, convention, parallel=1e-9, tip="tip")
    except DescriptionError as error:
        assert "rad from parallel" in str(error)
        return
    model = parse_robot(robot_yaml(found.model))
    assert model == found.model
    assert set(model.lower) == {-1.0} and set(model.upper) == {2.0}  # signs and zeros are kept
    for q in np.random.default_rng(seed).uniform(-1, 2, (5, model.n)):
        values = dict(zip(model.joint_names, q, strict=True))
        np.testing.assert_allclose(model.fk(q), urdf_fk(text, values, "base", "tip"), atol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_shipped_robots_round_trip_through_urdf(name, convention):
    model = load_robot(name)
    found = import_urdf(model.to_urdf(), convention)
    again = found.model
    assert found.error < 1e-9
    assert again.convention == convention
    assert again.joint_names == model.joint_names
    for old, new in zip(model.joints, again.joints, strict=True):
        assert (new.type, new.lower, new.upper) == (old.type, old.lower, old.upper)
        assert (new.velocity, new.effort) == (old.velocity, old.effort)
    for q in np.random.default_rng(3).uniform(model.lower, model.upper, (20, model.n)):
        np.testing.assert_allclose(again.fk(q), model.fk(q), atol=1e-9)
    slides = model.gripper is not None and model.gripper.claw is None
    assert (again.gripper is not None) == slides
    if slides:
        assert again.gripper.joints == model.gripper.joints
        assert again.gripper.max_width == model.gripper.max_width
        assert again.gripper.velocity == model.gripper.velocity


def test_imported_puma560_has_the_textbook_table():
    model = load_robot("puma560")
    again = import_urdf(model.to_urdf(), "standard").model
    height = {"waist": model.base.xyz[2]}
    for old, new in zip(model.joints, again.joints, strict=True):
        lifted = replace(old.row, d=old.row.d + height.get(old.name, 0.0))
        np.testing.assert_allclose(astuple(new.row), astuple(lifted), atol=1e-9)


def test_missing_limits_are_noted():
    bare = '<limit lower="-1" upper="1"/>'
    spin = '<joint name="spin" type="continuous"><parent link="base"/><child link="l"/></joint>'
    lame = (
        f'<joint name="lame" type="revolute"><parent link="l"/><child link="tip"/>{bare}</joint>'
    )
    model = import_urdf(robot(spin, lame)).model
    assert (model.joints[0].lower, model.joints[0].upper) == (-math.pi, math.pi)
    assert "continuous in the URDF" in model.joints[0].source
    assert model.joints[1].source == "no velocity in the URDF; no effort in the URDF"
    assert (model.joints[1].velocity, model.joints[1].effort) == (1.0, 10.0)


def test_invalid_names_are_replaced():
    text = robot(joint("joint 1/a", "b", "l"), joint("base", "l", "tip"), name="my arm")
    model = import_urdf(text).model
    assert model.name == "my_arm"
    assert model.joint_names == ("joint_1_a", "base_joint")


def test_nearly_parallel_axes_need_an_option():
    """1.57 for a quarter turn is rejected, or treated as parallel with a note."""
    turns = ("0 0 0", "1.57 0 0", "-1.571 0 0", "0.001 0 0")
    text = chain(*({"xyz": "0.3 0.1 0.2", "rpy": rpy} for rpy in turns))
    with pytest.raises(DescriptionError, match=r"0.001 rad from parallel.*--parallel 0.002"):
        import_urdf(text)
    found = import_urdf(text, parallel=0.002)
    assert 1e-6 < found.error < 2e-3
    assert any("treated as parallel" in note for note in found.notes)


def fingers(low="0 -1 0", more="", kind="prismatic", xyz="0 0 0.1"):
    left = joint("left", "hand", "l", kind, xyz, axis=low, more=more)
    right = joint("right", "hand", "r", kind, xyz, axis="0 1 0")
    return tuple(text.replace('lower="-1"', 'lower="0"') for text in (left, right))


ARM = (joint("a", "base", "u"), joint("b", "u", "hand", xyz="0.1 0 0", axis="0 1 0"))


FRAMES = [joint(name, "hand", name, kind="fixed") for name in ("cam", "tcp")]


def test_two_prismatic_fingers_become_the_gripper():
    mimic = '<mimic joint="right"/>'
    for text in (robot(*ARM, *fingers()), robot(*ARM, *fingers(more=mimic))):
        found = import_urdf(text)
        gripper = found.model.gripper
        assert gripper.joints == ("left", "right")
        assert (gripper.min_width, gripper.max_width, gripper.velocity) == (0.0, 4.0, 6.0)
        np.testing.assert_allclose(found.model.fk([0, 0])[:3, 3], [0.1, 0, 0.1], atol=1e-12)
        assert "tool0 is where the fingers" in " ".join(found.notes).replace("Tool0", "tool0")


@pytest.mark.parametrize(
    ("hand", "tip", "message"),
    [
        (fingers(kind="revolute"), "", "not left, right; measure its jaws and write"),
        (fingers()[:1], "hand", "two prismatic fingers, not left"),
        (fingers(more='<mimic joint="right" multiplier="-1"/>'), "", "by the same amount"),
        (fingers(low="0 1 0"), "", "do not close onto one point"),
        (fingers(), "hand", ""),
        (fingers(xyz="0.1 0 0"), "hand", "along y of hand from its z axis"),
    ],
)
def test_unsuitable_fingers_are_omitted_with_a_note(hand, tip, message):
    found = import_urdf(robot(*ARM, *hand), tip=tip)
    assert (found.model.gripper is None) == bool(message)
    assert message in " ".join(found.notes)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("nonsense", {}, "is not XML"),
        (robot(joint("a", "base", "tip", kind="fixed")), {}, "no joint moves between"),
        (robot(joint("a", "base", "u", kind="floating"), joint("b", "u", "tip")), {}, "--base u"),
        (robot(joint("a", "base", "u", kind="planar"), joint("b", "u", "tip")), {}, "is planar"),
        (
            robot(*ARM[:1], joint("b", "u", "tip", more='<mimic joint="a"/>')),
            {"base": "u"},
            "mimics 'a', which is not on the path",
        ),
        (robot(*ARM, joint("c", "base", "x")), {}, "with --tip, for example hand, x"),
        (robot(*ARM), {"tip": "hnad"}, "there is no link 'hnad'; did you mean 'hand'"),
        (robot(*ARM), {"base": "hand", "tip": "u"}, "'u' is not below 'hand'"),
        (robot(*ARM, *FRAMES), {}, "several frames; choose the tip with --tip, for example c"),
        (robot(*ARM).replace('"-1" upper="2"', '"0" upper="0"'), {}, "both limits are 0"),
    ],
)
def test_urdf_that_is_not_one_arm_is_rejected(text, options, message):
    with pytest.raises(DescriptionError) as caught:
        import_urdf(text, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_jaw_belongs_to_the_arm_only_as_the_tip():
    jaw = joint("jaw", "hand", "lip")
    found = import_urdf(robot(*ARM, jaw))
    assert found.model.joint_names == ("a", "b")
    assert "two prismatic fingers, not jaw" in " ".join(found.notes)
    assert import_urdf(robot(*ARM, jaw), tip="lip").model.n == 3


def test_frame_named_tool0_is_the_tip():
    frames = (joint(n, "hand", n, kind="fixed", xyz="0 0 1") for n in ("cam", "tool0"))
    assert "to tool0" in import_urdf(robot(*ARM, *frames)).model.source


def test_command_converts_and_reports_errors(tmp_path, capsys, sentence):
    source, target = tmp_path / "arm.urdf", tmp_path / "arm.yaml"
    source.write_text(robot(*ARM))
    command = [str(source), "--convention", "modified", "--name", "mine", "-o", str(target)]
    assert urdf2dh(command) == 0
    model = load_robot(target)
    assert (model.name, model.convention, model.n) == ("mine", "modified", 2)
    assert "differs from the URDF by at most" in capsys.readouterr().err
    assert "already exists" in sentence(urdf2dh, *command)
    assert urdf2dh([*command, "--force"]) == 0
    assert urdf2dh([str(source)]) == 0
    assert "joints:" in capsys.readouterr().out
    found = sentence(urdf2dh, source, "--tip", "base")
    assert found.startswith(f"urdf2dh: {source}: no joint moves")
    assert "cannot be read" in sentence(urdf2dh, tmp_path / "none.urdf")
    with pytest.raises(SystemExit, match="2"):
        urdf2dh([str(source), "--parallel", "1"])


@pytest.mark.parametrize(
    ("file", "tip", "axes"),
    [
        ("ur_description/urdf/ur10_robot.urdf", "", 6),
        ("panda_description/urdf/panda.urdf", "", 7),
        ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector", 6),
        ("xarm_description/urdf/xarm7.urdf", "", 7),
        ("z1_description/urdf/z1.urdf", "", 6),
        ("so_arm_description/urdf/so101.urdf", "", 5),
        ("tiago_description/robots/tiago.urdf", "arm_tool_link", 8),
    ],
)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_manufacturer_urdfs_are_imported(published_urdf, urdf_fk, convention, file, tip, axes):
    text = published_urdf(file)
    model = parse_robot(robot_yaml(import_urdf(text, convention, tip=tip).model))
    assert model.n == axes
    base, end = model.source.removeprefix("URDF, from ").split(" to ")
    for q in np.random.default_rng(5).uniform(model.lower, model.upper, (5, model.n)):
        expected = urdf_fk(text, dict(zip(model.joint_names, q, strict=True)), base, end)
        np.testing.assert_allclose(model.fk(q), expected, atol=1e-9)


def test_imported_panda_has_the_published_table(published_urdf):
    """Modified DH; the shipped panda has the numbers of the manufacturer's page."""
    model = import_urdf(published_urdf("panda_description/urdf/panda.urdf"), "modified").model
    for ours, printed in zip(model.joints[:6], load_robot("panda").joints[:6], strict=True):
        np.testing.assert_allclose(astuple(ours.row), astuple(printed.row), atol=1e-9)
    assert model.gripper is not None
