# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of robot files: one sentence with file, line, key and remedy."""

import pytest

from arm_description import DescriptionError, load_robot, parse_robot

# (old text, new text, part of the message, line, key)
CASES = [
    ("name: small\n", "", "has no 'name'; add name", 1, ""),
    ("convention: standard\n", "", "has no 'convention'", 1, ""),
    ("units: {length: mm, angle: deg}\n", "", "has no 'units'", 1, ""),
    ("convention: standard", "convention: classic", "'classic'; known are", 2, "convention"),
    ("length: mm", "length: feet", "known are m, dm, cm, mm, inch", 3, "units.length"),
    ("length: mm, ", "", "has no 'length'", 3, "units"),
    ("angle: deg", "angle: grad", "known are deg, rad", 3, "units.angle"),
    ("units: {length: mm, angle: deg}", "units: mm", "must be a mapping", 3, "units"),
    ("l1: 100", "l1: l10", "circular", 5, "constants.l1"),
    ("l1: 100", "l1: [1]", "must be a number", 5, "constants.l1"),
    ("l1: 100", "l1:", "is empty", 5, "constants.l1"),
    ("d: l1", "d: l2", "'l2' is not a constant", 11, "joints[0].d"),
    ("d: l1", "d: .nan", "not finite", 11, "joints[0].d"),
    ("d: l1", "d: {x: 1}", "known are value, source", 11, "joints[0].d.x"),
    ("d: l1", "d: l1*1000", "is 100 m; check units.length = mm", 11, "joints[0].d"),
    ("theta: -90", "theta: 4*180", "check units.angle = deg", 10, "joints[0].theta"),
    ("alpha: 90", "alhpa: 90", "did you mean 'alpha'", 13, "joints[0].alhpa"),
    ("    alpha: 90\n", "", "has no 'alpha'", 8, "joints[0]"),
    ("    d: l1\n", "", "has no 'd'", 8, "joints[0]"),
    ("    theta: 0\n", "", "has no 'theta'", 15, "joints[1]"),
    ("    alpha: 90\n", "    alpha: 90\n    alpha: 0\n", "is given twice", 14, "joints[0].alpha"),
    ("type: revolute", "type: rotary", "known are revolute, prismatic,", 9, "joints[0].type"),
    ("type: revolute", "type: ball", "not a known key; known are", 14, "joints[0].limits.lower"),
    ("type: revolute", "type: bal", "did you mean 'ball'", 9, "joints[0].type"),
    ("name: slide", "name: turn", "used twice", 15, "joints[1]"),
    ("name: slide", "name: base", "is already used by the frame base_link", 15, "joints[1].name"),
    ("name: slide", "name: a b", "contains ' '", 15, "joints[1].name"),
    ("name: slide", "name: a/b", "contains '/'", 15, "joints[1].name"),
    ("name: slide", "name: no", "must be text", 15, "joints[1].name"),
    ("name: slide", "name: ''", "is empty", 15, "joints[1].name"),
    ("lower: -90, upper: 90", "lower: 90, upper: -90", "lower must be", 14, "joints[0].limits"),
    ("lower: -90, ", "", "has no 'lower'", 14, "joints[0].limits"),
    ("lower: -90", "lower: -9000", "check units.angle = deg", 14, "joints[0].limits.lower"),
    ("velocity: 60", "velocity: 0", "must be above 0", 14, "joints[0].limits.velocity"),
    ("    limits: {lower: 0, upper: 50}\n", "", "has no limits, and", 15, "joints[1]"),
    ("[left, right]", "[left]", "must be two names, not 1", 22, "gripper.joints"),
    ("[left, right]", "[left, left]", "is already used", 22, "gripper.joints"),
    ("[left, right]", "[left, turn]", "'turn' is already used", 22, "gripper.joints"),
    ("min_width: 0", "min_width: -1", "must be at least 0", 22, "gripper.min_width"),
    ("min_width: 0", "min_width: 40", "min_width must be below max_width", 22, "gripper"),
    ("max_width: 40, ", "", "max_width is missing", 22, "gripper"),
    ("velocity: 80", "velocity: 80, finger: {length: 1, width: 1, thickness: 0}",
     "above 0", 22, "gripper.finger.thickness"),
    ("velocity: 80", "velocity: 80, finger: {length: 1, width: 1, thickness: 1, overhang: 1}",
     "less than the finger's length", 22, "gripper.finger.overhang"),
    ("velocity: 80", "velocity: 80, palm: {length: 1}", "has no 'width'", 22, "gripper.palm"),
    ("turn: 0, slide: 0", "turn: 91, slide: 0", "outside the limits", 24, "postures.rest.turn"),
    ("turn: 0, slide: 0", "turn: 0", "has no 'slide'", 24, "postures.rest"),
    ("turn: 0, slide: 0", "trun: 0, slide: 0", "did you mean 'turn'", 24, "postures.rest.trun"),
    ("gripper: 10", "gripper: 41", "outside the limits", 24, "postures.rest.gripper"),
    ("postures:", "colours: {base: bl}\npostures:", "'bl' is not a colour", 23, "colours.base"),
    ("postures:", "colours: {base: #fff}\npostures:", "not valid YAML", 23, ""),
    ("postures:", "colours: {links: []}\npostures:", "has no colours", 23, "colours.links"),
    ("postures:", "base: {xyz: [1, 2]}\npostures:", "three numbers, not 2", 23, "base.xyz"),
    ("postures:", "tool: {rpy: 1}\npostures:", "must be a list", 23, "tool.rpy"),
    ("postures:", "[1]: 2\npostures:", "a key must be a single word", 23, ""),
    ("postures:", "robot: x\npostures:", "is not a known key", 23, "robot"),
    ("postures:", "posture:", "did you mean 'postures'", 23, "posture"),
    ("postures:", "source: 2020\npostures:", "must be text", 23, "source"),
    ("convention: standard", "convention: 'standard", "not valid YAML", 2, ""),
    ("name: small", "\tname: small", "not valid YAML", 1, ""),
    ("name: small", "name: a\x07b", "'\\x07', which YAML does not allow; delete it", 1, ""),
    ("  - name: turn", "\t- name: turn", "indent with spaces, not tabs", 8, ""),
    ("d: l1", "d: 1_000", "'1_000' is not a decimal number; write 1000", 11, "joints[0].d"),
    ("d: l1", "d: 80mm", "write a decimal number without a unit", 11, "joints[0].d"),
    ("d: l1", "d: \uff4c1", "looks like 'l1'", 11, "joints[0].d"),
    ("d: l1", "d: ll", "did you mean 'l1'", 11, "joints[0].d"),
    ("d: l1", "d: {value: 1}", "has no 'source'", 11, "joints[0].d"),
    ("d: l1", "d: {value: a, source: b}", "'a' is not a constant", 11, "joints[0].d.value"),
    ("d: l1", "d: {value: 1, source: 2}", "must be text", 11, "joints[0].d.source"),
    ("d: l1", "d: {value: 1, src: b}", "did you mean 'source'", 11, "joints[0].d.src"),
    ("l10: 2*l1", "l10: b\n  b: c\n  c: 2*b", "circular (b -> c -> b)", 7, "constants.b"),
    ("l10: 2*l1", "l10: b\n  b: 2*", "'2*' is not a number", 7, "constants.b"),
    ("l10: 2*l1", "l10: 1\n  \ufb01: 2", "looks like 'fi'", 7, "constants.\ufb01"),
    ("length: mm", "length: m", "is 200 m; check units.length = m", 12, "joints[0].a"),
    ("lower: -90", "lower: -1.5708", "is -1*pi/2 in radians, but this file's angles are in deg; "
     "write -90, or deg(-1.5708)", 14, "joints[0].limits.lower"),
    ("lower: -90, upper: 90", "lower: 170, upper: -170", "upper: 190", 14, "joints[0].limits"),
    ("velocity: 60", "velocity: 60000", "is 1047.2 rad/s; check", 14, "joints[0].limits.velocity"),
    ("velocity: 80", "velocity: 80000", "is 80 m/s; check units.length", 22, "gripper.velocity"),
    ("alpha: 90", "mimic: {joint: slide}\n    alpha: 90", "as a sum", 13, "joints[0].mimic"),
    ("name: slide", "name: payload", "used by the frame payload_link", 15, "joints[1].name"),
    ("name: slide", "name: flange_fixed", "used by a joint of the URDF", 15, "joints[1].name"),
    ("[left, right]", "[left, base]", "used by the frame base_link", 22, "gripper.joints[1]"),
    ("name: slide", "name: " + 101 * "s", "use at most 100", 15, "joints[1].name"),
    ("turn: 0, slide", "turn: 330, slide", "write -30, which differs", 24, "postures.rest.turn"),
    ("slide: 0,", "slide: 70,", "70 is outside the limits 0 .. 50 mm", 24, "postures.rest.slide"),
    ("rest:", "'':", "a posture needs a name", 24, "postures.''"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message", "line", "key"), CASES)
def test_error_names_line_and_key(small, refusal, old, new, message, line, key):
    assert old in small
    error = refusal(small.replace(old, new, 1), "my.yaml")
    assert message in str(error)
    assert (error.line, error.key) == (line, key)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("# nothing", "is empty"),
        ("just text", "must be a mapping"),
        ("- 1\n- 2", "must be a mapping"),
        ("[" * 5000, "nested too deeply"),
        ("a: 1\n---\nb: 2", "not valid YAML"),
        ("constants: &a [*a]", "alias must not contain itself"),
        ("name: !!python/name:os.system x", "cannot be read|has no"),
        (b"name: \xff\xfe\n", "not UTF-8"),
    ],
)
def test_non_robot_files_are_rejected(text, message):
    with pytest.raises(DescriptionError, match=message):
        parse_robot(text)


def test_metres_in_a_file_in_millimetres_are_rejected(small):
    text = small.replace("l1: 100", "l1: 0.1").replace("d: 5", "d: 0.005")
    with pytest.raises(DescriptionError, match=r":3: units: all .* add up to 0.305 mm; check"):
        parse_robot(text)


def test_deg_marks_a_small_angle_as_intended(small):
    model = parse_robot(small.replace("lower: -90", "lower: deg(-1.5708)"))
    assert model.lower[0] == pytest.approx(-1.5708 * 3.14159265 / 180)


def test_unknown_key_of_a_mass_is_named(small, refusal):
    error = refusal(f"{small}\nmasses: {{turn_link: {{value: 1, name: x}}}}\n")
    assert "is not a known key" in str(error) and error.key == "masses.turn_link.name"


@pytest.mark.parametrize("ends", ["\r\n", "\n", "\r"])
def test_line_endings_and_byte_order_mark_are_accepted(small, refusal, ends):
    text = "\ufeff" + small.replace("\n", ends)
    assert parse_robot(text) == parse_robot(text.encode()) == parse_robot(small)
    assert refusal(text.replace("alpha: 90", "alhpa: 90")).line == 13


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_other_encodings_are_rejected(small, encoding):
    text = small.replace("name: small", "name: small\ndescription: größer")
    with pytest.raises(DescriptionError, match=r"my.yaml:[12]: is not UTF-8 text; save it as"):
        parse_robot(text.encode(encoding), "my.yaml")


def test_many_constants_and_long_circles_are_handled(small):
    many = "".join(f"  a{i}: a{i + 1}\n" for i in range(950))
    long = small.replace("  l1: 100\n", f"  l1: 100\n{many}  a950: 7\n")
    assert parse_robot(long).constants["a0"] == 7.0
    with pytest.raises(DescriptionError, match=r"my.yaml:6: .*circular \(a0 -> a1 .* -> a0\)"):
        parse_robot(long.replace("a950: 7", "a950: a0"), "my.yaml")
    with pytest.raises(DescriptionError, match="has 1903 names, at most 1000"):
        parse_robot(long.replace(many, many + many.replace("a", "b")))


def test_error_messages_stay_on_one_line(small, refusal):
    for key in ('"a\\nb"', '"\\u2028"', '""', '"' + "x" * 5000 + '"'):
        error = str(refusal(f"{key}: 1\n{small}"))
        assert error.isprintable() and len(error) < 400
    error = str(refusal(small.replace("standard", '"' + "a\\n" * 5000 + '"')))
    assert error.isprintable() and len(error) < 2500


def test_missing_rows_are_rejected(small):
    head = small.split("joints:")[0]
    for tail, message in (("joints: []", "has no rows"), ("joints: {}", "must be a list"),
                       ("joints:", "must be a list"), ("", "has no 'joints'")):  # fmt: skip
        with pytest.raises(DescriptionError, match=message):
            parse_robot(head + tail)


def test_too_many_rows_are_rejected(small):
    head = small.split("joints:")[0]
    row = "{name: a, type: revolute, d: 0, a: 0, alpha: 0, limits: {lower: 0, upper: 1}}"
    with pytest.raises(DescriptionError, match="at most 64"):
        parse_robot(head + "joints:\n" + f"- {row}\n" * 65)


def test_unknown_robot_lists_the_shipped_ones():
    with pytest.raises(
        DescriptionError, match=r"did you mean 'puma560'.*nut_arm,.* planar2,.* puma560"
    ):
        load_robot("puma56")


def test_missing_and_large_files_are_rejected(tmp_path):
    with pytest.raises(DescriptionError, match=r"no_such\.yaml: there is no such file"):
        load_robot(str(tmp_path / "no_such.yaml"))
    with pytest.raises(DescriptionError, match="this is a folder"):
        load_robot(tmp_path)
    large = tmp_path / "large.yaml"
    large.write_text("#" * 200_001)
    with pytest.raises(DescriptionError, match="larger than 200 kB"):
        load_robot(large)
