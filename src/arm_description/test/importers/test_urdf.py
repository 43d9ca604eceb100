# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Import of URDFs: the DH table gives the same poses, zeros, signs and limits."""

import math
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest
from arm_common.transforms import rpy_matrix
from arm_description.commands.convert import urdf2dh
from arm_description.importers.urdf import import_urdf
from arm_description.model.elements import dh_matrix
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.file import scaled_urdf
from arm_description.urdf.reader import read_urdf
from arm_testing.arms.samples import ROBOTS
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import DescriptionError, DhRow, load_robot, parse_robot

CASES = Path(__file__).parent / "cases"
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
    found = import_urdf(text, convention, parallel=1e-9, tip="tip")
    model = parse_robot(robot_yaml(found.model))
    assert model == found.model or found.model.is_tilted
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
    assert model.joints[1].source == (
        "no velocity in the URDF, limited to 1; no effort in the URDF"
    )
    assert (model.joints[1].velocity, model.joints[1].effort) == (1.0, math.inf)


def test_invalid_names_are_replaced():
    text = robot(joint("joint 1/a", "b", "l"), joint("base", "l", "tip"), name="my arm")
    model = import_urdf(text).model
    assert model.name == "my_arm"
    assert model.joint_names == ("joint_1_a", "base_joint")


def test_nearly_parallel_axes_are_written_as_axes_or_with_an_option_as_parallel(urdf_fk):
    turns = ("0 0 0", "1.57 0 0", "-1.571 0 0", "0.001 0 0")
    text = chain(*({"xyz": "0.3 0.1 0.2", "rpy": rpy} for rpy in turns))
    exact = import_urdf(text, tip="tip")
    assert any("rad from parallel" in note and "screws" in note for note in exact.notes)
    model = parse_robot(robot_yaml(exact.model))
    for q in np.random.default_rng(1).uniform(-1, 2, (5, model.n)):
        values = dict(zip(model.joint_names, q, strict=True))
        np.testing.assert_allclose(model.fk(q), urdf_fk(text, values, "base", "tip"), atol=1e-9)
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
    for joint in ("left", "right")[: len(hand)]:
        assert bool(listed(found, "Not carried over", f"joint {joint!r}")) == bool(message)


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


def case(name, **options):
    return import_urdf((CASES / f"{name}.urdf").read_text(encoding="utf-8"), **options)


def listed(found, *words):
    """Return whether one of the notes has all of some words."""
    return any(all(word in note for word in words) for note in found.notes)


@pytest.mark.parametrize(
    ("q", "tool"),
    [
        ([0, 0, 0, 0, 0, 0], (-0.81725, -0.12369374, -0.005491)),
        ([0.3, -1.2, 1.5, -0.4, 0.7, 2], (-0.48719897, -0.27669026, 0.27609143)),
    ],
)
def test_an_arm_calibrated_at_a_factory_is_read_as_table_and_as_urdf(q, tool):
    """Its rows need links of 613 m; all frames stay near the arm."""
    imported = case("calibrated")
    assert listed(imported, "612.9 m", "convention: screws")
    text = robot_yaml(imported.model)
    assert "convention: screws" in text
    models = [load_robot(CASES / "calibrated.yaml"), parse_robot(text), imported.model]
    for model in models:
        np.testing.assert_allclose(model.fk(q)[:3, 3], tool, atol=1e-8)
        np.testing.assert_allclose(model.fk(q), models[0].fk(q), atol=1e-8)
        assert max(np.abs(frame[:3, 3]).max() for frame in model.dh_frames(q)) < 1.0


@pytest.mark.parametrize("convention", CONVENTIONS)
@settings(max_examples=20)
@given(tilt=st.floats(1e-6, 1e-3), height=st.floats(0.01, 0.2), seed=st.integers(0, 99))
def test_tables_with_offsets_that_cancel_have_frames_near_the_arm(convention, tilt, height, seed):
    rng = np.random.default_rng(seed)
    d = height / tilt
    rows = f"""
  - {{name: a, type: revolute, d: 0.1, a: 0, alpha: {0.0 if convention == "modified" else 1.5}}}
  - {{name: b, type: revolute, theta: 0.1, d: {d!r}, a: 0.4, alpha: {tilt!r}}}
  - {{name: c, type: revolute, theta: 0.2, d: {-d!r}, a: 0.3, alpha: {tilt!r}}}
  - {{name: e, type: revolute, theta: 0.3, d: 0.1, a: 0.05, alpha: 1.57}}""".replace(
        "}", ", limits: {lower: -3, upper: 3}}"
    )
    head = f"name: c\nconvention: {convention}\nunits: {{length: m, angle: rad}}\n"
    model = parse_robot(f"{head}joints:{rows}\ntool: {{xyz: [0, 0, 0.1]}}\n")
    table = [(0.0, 0.1, 0.0, 0.0 if convention == "modified" else 1.5), (0.1, d, 0.4, tilt)]
    table += [(0.2, -d, 0.3, tilt), (0.3, 0.1, 0.05, 1.57)]
    for q in rng.uniform(-3, 3, (5, 4)):
        T = np.eye(4)
        for (theta, offset, a, alpha), angle in zip(table, q, strict=True):
            T = T @ dh_matrix(DhRow(theta + angle, offset, a, alpha), convention)
        T = T @ rpy_matrix((0, 0, 0.1), (0, 0, 0))
        np.testing.assert_allclose(model.fk(q), T, atol=1e-8)
        assert max(np.abs(frame[:3, 3]).max() for frame in model.dh_frames(q)) < 4.0


def test_offsets_that_do_not_cancel_are_refused():
    text = (CASES / "calibrated.yaml").read_text(encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"joints\[1\].d: is 712.901 m; check units.length"):
        parse_robot(text.replace("d: 612.9", "d: 712.9"))


def test_a_follower_whose_limits_contradict_its_leaders_is_named():
    with pytest.raises(DescriptionError) as caught:
        case("mimiclimits")
    for words in ("'j1' (0 to 0.8757)", "'j2'", "-1 times", "(0.1 to 0.8757)"):
        assert words in str(caught.value)


def test_a_leader_keeps_the_speed_of_its_follower_which_keeps_its_effort():
    model = parse_robot(robot_yaml(case("mimicspeed").model))
    assert (model.joints[0].velocity, model.joints[0].effort) == (0.25, math.inf)
    assert (model.joints[0].lower, model.joints[0].upper) == (-0.5, 0.5)
    limit = read_urdf(model.to_urdf()).joint["j2"].limit
    assert limit.effort == 3.0
    assert limit.velocity == pytest.approx(0.5, abs=1e-12)
    assert case("mimicback").model.dependents[0].terms == (("j2", 0.5),)


def test_faults_off_the_path_are_listed_and_do_not_block():
    found = case("mimicmissing", tip="l2")
    assert found.model.joint_names == ("j1", "j2")
    assert listed(found, "Not carried over", "mimics 'typo', which is missing")
    assert listed(found, "one root link, this has b, l3")
    with pytest.raises(DescriptionError, match="typo"):
        case("mimicmissing", tip="f")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('lower="-1" upper="2"', 'lower="3" upper="2"'),
        ('lower="-1"', 'lower="one"'),
        ('type="revolute"', 'type="hinge"'),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>'),
        ('xyz="0.5 0 0"', 'xyz="0.5 0"'),
        ("<limit", "<limits"),
    ],
)
def test_any_fault_of_a_joint_blocks_only_paths_through_it(old, new):
    jaw = joint("jaw", "hand", "lip", xyz="0.5 0 0")
    assert old in jaw
    text = robot(*ARM, jaw.replace(old, new))
    found = import_urdf(text, tip="hand")
    assert found.model.joint_names == ("a", "b")
    assert listed(found, "Not carried over", "jaw")
    with pytest.raises(DescriptionError, match="jaw"):
        import_urdf(text, tip="lip")


def test_a_fault_of_a_shape_does_not_block():
    text = robot(*ARM).replace('<link name="u"/>', '<link name="u"><visual/></link>')
    assert import_urdf(text).model.n == 2


def test_names_that_are_equal_after_cleaning_stay_apart_and_are_listed():
    found = case("names_clash")
    model = parse_robot(robot_yaml(found.model))
    assert model.joint_names == ("joint_1_2", "joint(1", "joint_1")
    assert listed(found, "Renamed", "'joint 1' is joint_1_2")


def test_names_in_formulas_are_words_of_formulas():
    leader, follower = joint("j-1", "base", "u"), joint("f", "u", "hand", axis="1 0 0")
    mimic = follower.replace("</joint>", '<mimic joint="j-1" multiplier="0.5"/></joint>')
    model = parse_robot(robot_yaml(import_urdf(robot(leader, mimic)).model))
    assert model.joint_names == ("j_1",)
    assert model.dependents[0].terms == (("j_1", 0.5),)


def test_long_names_are_shortened_and_stay_apart():
    names = ["n" * 150 + end for end in "ab"]
    found = import_urdf(robot(joint(names[0], "base", "u"), joint(names[1], "u", "hand")))
    model = parse_robot(robot_yaml(found.model))
    assert len(set(model.joint_names)) == 2


def test_names_of_fingers_are_cleaned_like_those_of_joints():
    found = case("fingernames")
    model = parse_robot(robot_yaml(found.model))
    assert model.gripper.joints == ("right_finger", "left_finger")
    assert model.gripper.effort == 1.0
    assert listed(found, "Renamed", "'left finger' is left_finger")


def test_limits_that_look_like_degrees_are_told_for_each_joint():
    found = case("limitdeg")
    for name, ends in (("j1", "-170 to 170"), ("j2", "-90 to 110")):
        assert listed(found, name, ends, "look like degrees")
        assert listed(found, name, "250", "degrees per second")
        assert listed(found, f"Joint {name}: limits of {ends} rad in the URDF, limited to half")
    arm = robot(*ARM)
    assert listed(import_urdf(arm.replace('"-1"', '"-45"')), "look like degrees")
    assert not listed(import_urdf(arm), "degrees")


def test_millimetres_are_recognised_by_the_distance_of_joints(tmp_path, capsys, sentence):
    path = CASES / "mm.urdf"
    found = sentence(urdf2dh, path)
    assert "290 m" in found and "looks like millimetres" in found and "--scale 0.001" in found
    target = tmp_path / "mm.yaml"
    assert urdf2dh([str(path), "--scale", "0.001", "-o", str(target)]) == 0
    capsys.readouterr()
    np.testing.assert_allclose(load_robot(target).fk([0, 0, 0])[:3, 3], (0.302, 0, 0.63))


def test_a_travel_in_millimetres_is_recognised():
    slide = joint("s", "b", "u", "prismatic").replace('upper="2"', 'upper="400"')
    with pytest.raises(DescriptionError, match=r"'s' slides to 400 m.*--scale 0.001"):
        import_urdf(robot(slide, joint("r", "u", "t")))


def test_a_crane_states_its_bound(tmp_path, capsys, sentence):
    path, target = tmp_path / "crane.urdf", tmp_path / "crane.yaml"
    path.write_text(robot(joint("a", "b", "u"), joint("c", "u", "t", xyz="0 0 60", axis="0 1 0")))
    assert "--max-length 60" in sentence(urdf2dh, path)
    assert urdf2dh([str(path), "--max-length", "60", "-o", str(target)]) == 0
    assert "max_length: 60" in target.read_text()
    assert load_robot(target).fk([0, 0])[2, 3] == pytest.approx(60)


def test_a_scale_changes_lengths_and_what_follows_from_them():
    slide = joint("s", "base", "u", "prismatic", xyz="1000 0 0")
    follower = joint("r", "u", "t", more='<mimic joint="s" multiplier="0.001"/>', axis="0 1 0")
    back = joint("p", "t", "e", "prismatic", more='<mimic joint="r" multiplier="500" offset="3"/>')
    body = '<inertial><origin xyz="0 0 7"/><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/>'
    text = robot(slide, follower, back).replace(
        '<link name="e"/>', f'<link name="e">{body}</inertial></link>'
    )
    tree = read_urdf(scaled_urdf(text, 0.001))
    joints = tree.joint
    assert joints["s"].origin.xyz == (1.0, 0.0, 0.0)
    assert (joints["s"].limit.lower, joints["s"].limit.velocity) == (-0.001, 0.003)
    assert joints["r"].mimic.multiplier == pytest.approx(1.0)
    assert joints["r"].limit.upper == 2.0
    assert joints["p"].mimic.multiplier == pytest.approx(0.5)
    assert joints["p"].mimic.offset == pytest.approx(0.003)
    (inertial,) = tree.inertials
    assert inertial.mass == 2.0
    assert inertial.centre == (0.0, 0.0, 0.007)
    assert inertial.moments[0] == pytest.approx(1e-6)


def test_what_a_table_cannot_hold_is_listed(tmp_path, capsys):
    extras = (
        '<joint name="cam" type="fixed"><parent link="u"/><child link="camera"/></joint>'
        '<joint name="side" type="revolute"><parent link="u"/><child link="flag"/>'
        '<axis xyz="0 0 1"/><limit lower="0.5" upper="1" effort="1" velocity="1"/></joint>'
        '<link name="camera"/><link name="flag"/><transmission name="t"/><gazebo/>'
    )
    arm = robot(*ARM).replace("</robot>", f"{extras}</robot>")
    arm = arm.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><dynamics damping="1"/>', 1)
    seen = '<visual><geometry><sphere radius="1"/></geometry></visual>'
    heavy = '<inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    arm = arm.replace('<link name="base"/>', f'<link name="base">{heavy}{seen}</link>')
    arm = arm.replace('<link name="flag"/>', f'<link name="flag">{heavy}</link>')
    path = tmp_path / "arm.urdf"
    path.write_text(arm)
    assert urdf2dh([str(path), "--tip", "hand"]) == 0
    lines = capsys.readouterr().err.splitlines()
    for words in (
        ("joint 'side'", "a_link"), ("camera", "a_link"), ("base", "3 kg"), ("<visual> of 1",),
        ("<transmission>",), ("<gazebo>",), ("<dynamics> of a",),
    ):  # fmt: skip
        assert any(
            line.startswith("Not carried over") and all(word in line for word in words)
            for line in lines
        ), words


def test_an_inertia_that_no_body_can_have_is_told():
    body = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="{}"/></inertial>'
    for moment, told in (("0.5", True), ("-0.1", True), ("0.2", False)):
        text = robot(*ARM).replace(
            '<link name="u"/>', f'<link name="u">{body.format(moment)}</link>'
        )
        assert listed(import_urdf(text), "no body has the inertia of link 'u'") == told


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
