# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Joints that follow others and limits that depend on others, in robot file, URDF and back."""

from pathlib import Path

import numpy as np
import pytest
from arm_description.errors import UrdfError
from arm_description.importers.urdf import import_urdf
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf
from arm_testing.files.robot_files import LINKAGE

from arm_description import DescriptionError, parse_robot

# The EEZYbotARM Mk2: https://github.com/meisben/easyEEZYbotARM
MIXED = """\
name: mixed
convention: CONVENTION
units: {length: mm, angle: deg}
joints:
  - {name: early, type: revolute, theta: 0.3*late - 20, d: 10, a: 30, alpha: 40}
  - {name: lift, type: prismatic, theta: 20, a: 50, alpha: 90, limits: {lower: -20, upper: 90}}
  - {name: late, type: revolute, theta: 15, d: 20, a: 120, alpha: -70,
     limits: {lower: -60, upper: 2*lift + 20}}
  - {name: drawn, type: prismatic, theta: 5, d: 0.25*late + 33 - lift/3, a: 40, alpha: 80}
  - {name: again, type: revolute, theta: 2*early - lift, d: 5, a: 60, alpha: 10}
"""
FILES = [LINKAGE, *(MIXED.replace("CONVENTION", word) for word in ("standard", "modified"))]
IDS = ["linkage", "standard", "modified"]


def postures(model, count=50):
    return np.random.default_rng(0).uniform(model.lower, model.upper, (count, model.n))


@pytest.fixture(params=FILES, ids=IDS)
def model(request):
    return parse_robot(request.param)


def test_hand_of_a_parallelogram_arm_stays_level():
    model = parse_robot(LINKAGE)
    for q in postures(model):
        assert model.fk(q)[:3, 0] == pytest.approx([np.cos(q[0]), np.sin(q[0]), 0.0], abs=1e-12)


def test_dependent_joint_equals_an_independent_one_at_its_position():
    text = LINKAGE.replace("theta: -(shoulder + elbow), d: 0", "theta: 0, d: 0")
    text = text.replace(
        "a: 147, alpha: 0}", "a: 147, alpha: 0, limits: {lower: -180, upper: 180}}"
    )
    free = parse_robot(text.replace("elbow: -90}", "elbow: -90, level: 0}"))
    model = parse_robot(LINKAGE)
    assert [row.name for row in model.rows] == list(free.joint_names)
    for q in postures(model):
        np.testing.assert_allclose(model.fk(q), free.fk([*q, -(q[1] + q[2])]), atol=1e-14)


def test_lengths_and_angles_are_converted_between_joints():
    model = parse_robot(FILES[1])
    lift, late = 0.03, 0.4  # [m], [rad]
    at = model.positions({"lift": lift, "late": late})
    assert at["early"] == pytest.approx(0.3 * late)
    assert at["drawn"] == pytest.approx((0.25 * np.degrees(late) - 30.0 / 3.0) * 1e-3)
    assert at["again"] == pytest.approx(0.6 * late - np.radians(30.0))


def test_urdf_has_the_same_kinematics(model):
    tree = read_urdf(model.to_urdf())
    for q in postures(model):
        values = dict(zip(model.joint_names, q, strict=True))
        poses = link_poses(tree.root, tree.joints, values)
        np.testing.assert_allclose(poses["tool0"], model.fk(q), atol=1e-13)


def test_every_frame_of_the_table_is_in_the_urdf(model):
    tree = read_urdf(model.to_urdf(dh_frames=True))
    q = postures(model, 1)[0]
    poses = link_poses(tree.root, tree.joints, dict(zip(model.joint_names, q, strict=True)))
    for i, frame in enumerate(model.dh_frames(q)):
        np.testing.assert_allclose(poses[f"dh_{i}"], frame, atol=1e-13)


def test_several_terms_are_coincident_mimic_joints():
    tree = read_urdf(parse_robot(LINKAGE).to_urdf(prefix="left_"))
    one, other = tree.joint["left_level_shoulder"], tree.joint["left_level_elbow"]
    assert (one.mimic.joint, other.mimic.joint) == ("left_shoulder", "left_elbow")
    assert (other.parent, other.child) == (one.child, "left_level_link")
    assert not any(other.origin.xyz) and not any(other.origin.rpy)
    assert tree.constraints[0].joints == ("left_elbow", "left_shoulder")


@pytest.mark.parametrize("text", FILES, ids=IDS)
def test_import_of_the_urdf_is_the_table(text):
    model = parse_robot(text)
    found = import_urdf(model.to_urdf(), model.convention)
    assert found.error < 1e-12
    for one, other in zip(found.model.dependents, model.dependents, strict=True):
        assert (one.name, one.type, one.index) == (other.name, other.type, other.index)
        assert dict(one.terms) == pytest.approx(dict(other.terms))
    assert found.model.constraints == model.constraints
    np.testing.assert_array_equal(found.model.lower, model.lower)
    again = import_urdf(found.model.to_urdf(), model.convention).model
    assert (again.joints, again.dependents) == (found.model.joints, found.model.dependents)


def test_import_of_a_mimic_joint_with_an_offset_and_without_its_leader():
    urdf = parse_robot(LINKAGE).to_urdf()
    moved = urdf.replace('multiplier="-1" offset="0"', 'multiplier="-1" offset="0.2"')
    found = import_urdf(moved, "modified")
    assert found.error < 1e-12
    assert found.model.rows[3].row.theta == pytest.approx(0.4)
    with pytest.raises(DescriptionError, match="mimics 'shoulder', which is not on the path"):
        import_urdf(urdf, base="shoulder_link")


def test_written_file_reads_back(model):
    assert parse_robot(robot_yaml(model)) == model


def test_least_and_greatest_of_several_bounds_read_back():
    text = LINKAGE.replace(
        "-slope*shoulder - 13.144", "'min(-slope*shoulder - 13.144, min(waist/2 - 20, -40))'"
    )
    model = parse_robot(text)
    assert parse_robot(robot_yaml(model)) == model
    (limits,) = model.constraints
    assert np.degrees(limits.bounds({"waist": 0.0, "shoulder": 1.0})[1]) == pytest.approx(
        min(-0.7165 * np.degrees(1.0) - 13.144, -20.0, -40.0)
    )


def test_numeric_limits_enclose_those_that_depend():
    model = parse_robot(LINKAGE)
    (limits,) = model.constraints
    for shoulder in np.linspace(model.lower[1], model.upper[1], 20):
        lower, upper = limits.bounds({"shoulder": shoulder})
        assert model.lower[2] - 1e-12 <= lower < upper <= model.upper[2] + 1e-12


def test_constant_takes_precedence_over_a_joint_of_its_name():
    model = parse_robot(
        LINKAGE.replace("{slope: 0.7165}", "{slope: 0.7165, waist: 35}").replace(
            "lower: 39", "lower: waist"
        )
    )
    assert np.degrees(model.lower[1]) == pytest.approx(35.0)
    assert model.joints[1].constraint is None


BAD = [
    ("-(shoulder + elbow)", "-level", "theta: depends on itself (level -> level)"),
    ("-(shoulder + elbow)", "shoulder - shoulder", "follows no joint: its terms cancel"),
    ("-(shoulder + elbow)", "sin(shoulder)", "is not linear in shoulder; write a sum"),
    ("-(shoulder + elbow)", "shoulder*elbow", "is not linear in shoulder, elbow"),
    ("-(shoulder + elbow)", "90/shoulder", "is not linear in shoulder"),
    ("-(shoulder + elbow)", "shoulder/0", "divides by zero"),
    ("-(shoulder + elbow)", "-(shuolder + elbow)", "did you mean 'shoulder'"),
    ("-(shoulder + elbow)", "-90", "has no limits, and theta names no joint that it follows"),
    ("theta: -(shoulder + elbow), ", "", "has no limits, and theta names no joint"),
    ("a: 147, alpha: 0}", "a: 147, alpha: 0, limits: {lower: -9, upper: 9}}",
     "limits: contradict theta, by which the joint follows shoulder and elbow; delete them"),
    ("a: 147, alpha: 0}", "a: 147, alpha: 0, mimic: {joint: elbow}}", "as a sum in theta"),
    ("lower: -0.6755*shoulder", "lower: 600 - 0.6755*shoulder", "never allow a position"),
    ("lower: -0.6755*shoulder - 70.768", "lower: elbow", "depends on 'elbow' itself"),
    ("lower: -0.6755*shoulder - 70.768", "lower: -level - 170", "depends on 'elbow' itself"),
    ("lower: 39", "lower: elbow", "depends on itself (shoulder -> elbow -> shoulder)"),
    ("-0.6755*shoulder", "shoulder**2", "is not linear in shoulder"),
    ("-0.6755*shoulder - 70.768", "'min(shoulder, waist)'", "is not linear in shoulder, waist"),
    ("-0.6755*shoulder", "-70*shoulder", "reach 8471 deg; check units.angle"),
    ("-0.6755*shoulder", "-0.6755*elbw", "did you mean 'elbow'"),
    ("elbow: -90}", "elbow: -70}", "(elbow: at shoulder 90 deg the linkage allows -131.6 to"),
    ("name: waist", "name: level_elbow", "the URDF needs the name 'level_elbow'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BAD, ids=[new for _, new, _ in BAD])
def test_bad_relations_are_one_sentence_with_line_and_remedy(old, new, message):
    changed = LINKAGE.replace(old, new)
    if old == "name: waist":
        changed = changed.replace("rest: {waist", "rest: {level_elbow")
    with pytest.raises(DescriptionError) as refusal:
        parse_robot(changed)
    assert message in str(refusal.value)
    assert refusal.value.line
    assert refusal.value.remedy


def test_circle_of_dependent_joints_is_rejected():
    row = "  - {name: tilt, type: revolute, theta: level, d: 0, a: 1, alpha: 0}\n"
    text = LINKAGE.replace("tool:", row + "tool:").replace("-(shoulder + elbow)", "tilt + elbow")
    with pytest.raises(DescriptionError, match=r"depends on itself \(level -> tilt -> level\)"):
        parse_robot(text)


def test_table_needs_an_independent_joint():
    text = "name: a\nconvention: standard\nunits: {length: m, angle: deg}\njoints:\n"
    row = "  - {name: NAME, type: revolute, theta: OTHER, d: 1, a: 1, alpha: 0}\n"
    rows = [row.replace("NAME", a).replace("OTHER", b) for a, b in (("a1", "b1"), ("b1", "a1"))]
    with pytest.raises(DescriptionError, match="has only dependent joints"):
        parse_robot(text + "".join(rows))


TRAVEL = """\
transmissions:
  - {type: parallelogram, joint: elbow, against: shoulder, range: [-20, 60]}
  - {type: CRANK, range: [-15, 15]}
"""
CRANK = (
    "crank, joint: level2, against: shoulder, ratio: -1, ground: 100, crank: 30, rod: 100, "
    "rocker: 30, branch: open, crank_angle: 90, rocker_angle: 90"
)


def test_travel_of_actuators_is_in_the_urdf():
    """The samples of one that is not linear are never wider than it."""
    text = LINKAGE.replace("theta: -(shoulder + elbow), d: 0", "theta: 0, d: 0")
    text = text.replace("level,", "level2,").replace("elbow: -90}", "elbow: -90, level2: 78}")
    text = text.replace("147, alpha: 0}", "147, alpha: 0, limits: {lower: -20, upper: 79}}")
    text = text.replace("tool:", TRAVEL.replace("CRANK", CRANK) + "tool:")
    text = text[: text.index("postures:")]
    model = parse_robot(text)
    found = read_urdf(model.to_urdf()).constraints
    assert len(found) == len(model.constraints) == 3
    for one, other in zip(found, model.constraints, strict=True):
        assert (one.joint, one.reason, set(one.joints)) == (
            other.joint,
            other.reason,
            set(other.joints),
        )
        for shoulder in np.linspace(model.lower[1], model.upper[1], 1001):
            given, true = (c.bounds({"shoulder": shoulder}) for c in (one, other))
            assert given == pytest.approx(true, abs=1e-4)
            assert given[0] >= true[0] - 1e-6 and given[1] <= true[1] + 1e-6
    again = import_urdf(model.to_urdf(), model.convention).model
    assert parse_robot(robot_yaml(again)) == again
    for q in postures(model, 200):
        linear = max(float(c.violation(_columns(c, model, q))) for c in model.constraints[:2])
        assert again.constraint_set.violation(q) == pytest.approx(linear, abs=1e-9)


def test_limits_in_a_circle_are_read_back():
    """A limit by another joint, and an actuator's travel that limits that one by the first."""
    text = LINKAGE.replace("lower: 39, upper: 120", "lower: -elbow - 40, upper: 120")
    text = text.replace("-0.6755*shoulder - 70.768", "-130").replace(
        "-slope*shoulder - 13.144", "-50"
    )
    travel = "{type: parallelogram, joint: elbow, against: shoulder, range: [-30, 50]}"
    model = parse_robot(text.replace("tool:", f"transmissions:\n  - {travel}\ntool:"))
    again = import_urdf(model.to_urdf(), model.convention).model
    assert parse_robot(robot_yaml(again)) == again
    q = postures(model, 2000)
    np.testing.assert_allclose(
        again.constraint_set.violation(q) > 0.0, model.constraint_set.violation(q) > 0.0
    )


def test_limits_that_contradict_each_other_everywhere_are_rejected():
    travel = "{type: parallelogram, joint: elbow, against: shoulder, range: [150, 170]}"
    with pytest.raises(DescriptionError, match="no posture is inside all limits") as refusal:
        parse_robot(LINKAGE.replace("tool:", f"transmissions:\n  - {travel}\ntool:"))
    assert refusal.value.line
    assert refusal.value.remedy


def test_home_without_postures_is_inside():
    text = LINKAGE[: LINKAGE.index("postures:")].replace("lower: 39,", "lower: -elbow - 30,")
    model = parse_robot(
        text.replace("-0.6755*shoulder - 70.768", "-100").replace(
            "-slope*shoulder - 13.144", "-40"
        )
    )
    home = model.home_posture[1]
    assert model.constraint_set.worst([home[name] for name in model.joint_names]) is None


def test_limits_that_a_file_cannot_have_are_noted():
    crank = "{type: crank, joint: elbow, against: shoulder, ground: 135, crank: 50, rod: 135, "
    crank += "rocker: 50, rocker_angle: 10, crank_angle: 10, range: [-60, 60]}"
    text = LINKAGE.replace("lower: 39", "lower: 50").replace("-0.6755*shoulder - 70.768", "-130")
    text = text.replace("-slope*shoulder - 13.144", "-50")
    model = parse_robot(text.replace("tool:", f"transmissions:\n  - {crank}\ntool:"))
    found = import_urdf(model.to_urdf(), model.convention)
    note = "Limits omitted, as they are not linear or not of the arm: elbow by shoulder."
    assert note in found.notes
    assert not found.model.constraints


URDF = parse_robot(LINKAGE).to_urdf()
BAD_URDFS = [
    ('<term joint="shoulder"', '<term joint="nose"', "refers to the joint 'nose'; name one that"),
    ('<term joint="shoulder"', '<term joint="level_elbow"', "the joint 'level_elbow'; name one"),
    (
        '<term joint="shoulder"',
        '<term joint="elbow"',
        "<limits> of joint 'elbow' depend on itself",
    ),
    ("<lower offset=", "<low offset=", "have no <lower> or no <upper>"),
    ('factor="-0.6755"', 'factor="x"', "<term factor=\"x\"> of joint 'elbow' must be a number"),
    ('<lower offset="-', '<lower offset="', "<limits> of joint 'elbow' never allow a position"),
]


@pytest.mark.parametrize(
    ("old", "new", "message"), BAD_URDFS, ids=[new for _, new, _ in BAD_URDFS]
)
def test_bad_constraints_of_a_urdf_are_one_sentence(old, new, message):
    assert old in URDF
    text = URDF.replace(old, new)
    if old.startswith("<lower"):
        text = text.replace("</lower>", "</low>" if "low " in new else "</lower>")
    with pytest.raises(UrdfError) as refusal:
        read_urdf(text)
    assert message in str(refusal.value)


def _columns(constraint, model, q):
    return np.array([q[model.joint_names.index(name)] for name in constraint.joints])


PRINTED = (Path(__file__).parent / "theta_q1.yaml").read_text()  # theta: q1 - 90, of joint A1


def with_theta(text, more="joints:"):
    return PRINTED.replace("q1 - 90", text).replace("joints:", more)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        *((text, -90) for text in ("q1 - 90", "A1 - 90", "theta1-90", "q_1 - 90", "-90 + A1")),
        *((text, -90) for text in ("q - 90", "theta - 90", "-90 + q")),
        *(("q1", 0), ("theta_1 + 90", 90), ("(q1) - 45*2", -90), ("q1 - 90 - 3*2", -96)),
        ("{value: q1 - 90, source: a book}", -90),
    ],
)
def test_own_variable_beside_the_offset_is_implied(text, offset):
    model, plain = parse_robot(with_theta(text)), parse_robot(with_theta(str(offset)))
    assert model.joints[0].row == plain.joints[0].row
    assert np.abs(model.fk([0.3, -0.4]) - plain.fk([0.3, -0.4])).max() == 0.0
    assert parse_robot(robot_yaml(model, model.units)).joints[0].row == plain.joints[0].row


def test_own_variable_of_a_sliding_joint_is_implied():
    row = "{name: A1, type: prismatic, theta: 90, d: TEXT, a: 0, alpha: -90, limits: "
    text = PRINTED.replace(PRINTED[PRINTED.index("{name: A1") : PRINTED.index("{lower")], row)
    for written in ("d1 + 290", "q1 + 290", "A1 + 290"):
        assert parse_robot(text.replace("TEXT", written)).joints[0].row.d == 0.29


def test_constant_with_the_name_of_a_variable_is_a_constant():
    model = parse_robot(with_theta("q1 - 90", "constants: {q1: 5}\njoints:"))
    assert model.joints[0].row.theta == pytest.approx(np.radians(-85))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "q2 - 90",
            "'q2' is neither a joint nor .*; write -90: the variable is implied",
        ),
        ("x + 3", "'x' is neither a joint .*; write 3: the variable is implied"),
        ("-q1 - 90", "'q1' in '-q1 - 90'; .* write -90 alone and limits with the opposite sign"),
        ("90 - q", "own variable 'q' in '90 - q'; .* write 90 alone and limits with the opposite"),
        ("2*q1 + 7", "own variable 'q1' .*, with the factor 1: write 7 alone$"),
        ("q1 + A1 - 90", "own variable 'q1' .*; .* write -90 alone"),
        ("q1 + A2", "own variable 'q1'"),
        ("q1 - pi/2", "pi is an angle in radians"),
        ("sin(q1)", "'sin.q1.' is not linear in q1"),
        ("\u221290", "'\u221290' looks like '-90'; write that"),
        ("A2 - 90", "contradict theta, by which the joint follows A2"),
    ],
)
def test_other_variable_in_a_row_is_refused(text, problem):
    with pytest.raises(DescriptionError, match=rf"robot:5: joints\[0\].*{problem}"):
        parse_robot(with_theta(text))


@pytest.mark.parametrize("at", ["0", "90"])
def test_joint_without_a_range_may_be_meant_to_be_fixed(at):
    text = PRINTED.replace("lower: -165, upper: 165", f"lower: {at}, upper: {at}")
    with pytest.raises(DescriptionError, match=r"is the joint fixed.*leave out its row.*screws"):
        parse_robot(text)


def test_file_with_every_key_is_written_and_read_as_the_same_model(every_key):
    model = parse_robot(every_key.read_text(encoding="utf-8"))
    assert parse_robot(robot_yaml(model)) == model
