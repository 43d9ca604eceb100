# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every way a robot file can be wrong: one sentence with file, line, key and remedy."""

import random

import pytest

from arm_description import DescriptionError, load_robot, parse_robot

# (old text, new text, what the error says, line, key)
CASES = [
    ("name: small\n", "", "has no 'name'; add name", 1, ""),
    ("convention: standard\n", "", "has no 'convention'", 1, ""),
    ("units: {length: mm, angle: deg}\n", "", "has no 'units'", 1, ""),
    ("convention: standard", "convention: classic", "'classic'; known are standard, modified", 2,
     "convention"),
    ("convention: standard", "convention: standart", "did you mean 'standard'", 2, "convention"),
    ("length: mm", "length: feet", "known are m, dm, mm, inch", 3, "units.length"),
    ("length: mm, ", "", "has no 'length'", 3, "units"),
    ("angle: deg", "angle: grad", "known are deg, rad", 3, "units.angle"),
    ("units: {length: mm, angle: deg}", "units: mm", "must be a mapping", 3, "units"),
    ("l1: 100", "l1: l10", "circular", 5, "constants.l1"),
    ("l1: 100", "pi: 3", "is taken", 5, "constants.pi"),
    ("l1: 100", "1l: 3", "is not a name", 5, "constants.1l"),
    ("l1: 100", "l1: [1]", "must be a number", 5, "constants.l1"),
    ("l1: 100", "l1:", "is empty", 5, "constants.l1"),
    ("d: l1", "d: l2", "'l2' is not a constant", 11, "joints[0].d"),
    ("d: l1", "d: .nan", "not finite", 11, "joints[0].d"),
    ("d: l1", "d: -.inf", "not finite", 11, "joints[0].d"),
    ("d: l1", "d: 1e400", "not finite", 11, "joints[0].d"),
    ("d: l1", "d: ten", "'ten' is not a constant", 11, "joints[0].d"),
    ("d: l1", "d: true", "'true' is not a constant", 11, "joints[0].d"),
    ("d: l1", "d: {x: 1}", "known are value, source", 11, "joints[0].d.x"),
    ("d: l1", "d: l1*1000", "is 100 m; is units.length = mm right", 11, "joints[0].d"),
    ("theta: -90", "theta: q - 90", "q is implied", 10, "joints[0].theta"),
    ("theta: -90", "theta: 4*180", "is units.angle = deg right", 10, "joints[0].theta"),
    ("alpha: 90", "alhpa: 90", "did you mean 'alpha'", 13, "joints[0].alhpa"),
    ("    alpha: 90\n", "", "has no 'alpha'", 8, "joints[0]"),
    ("    d: l1\n", "", "has no 'd'", 8, "joints[0]"),
    ("    theta: 0\n", "", "has no 'theta'", 15, "joints[1]"),
    ("    alpha: 90\n", "    alpha: 90\n    alpha: 0\n", "is given twice", 14,
     "joints[0].alpha"),
    ("type: revolute", "type: rotary", "known are revolute, prismatic, universal, ball", 9,
     "joints[0].type"),
    ("type: revolute", "type: ball", "not a known key; known are z, y, x", 14,
     "joints[0].limits.lower"),
    ("type: revolute", "type: bal", "did you mean 'ball'", 9, "joints[0].type"),
    ("name: slide", "name: turn", "used twice", 15, "joints[1]"),
    ("name: slide", "name: base", "is taken by the frame base_link", 15, "joints[1].name"),
    ("name: slide", "name: a b", "holds ' '", 15, "joints[1].name"),
    ("name: slide", "name: a/b", "holds '/'", 15, "joints[1].name"),
    ("name: slide", "name: 12", "must be text", 15, "joints[1].name"),
    ("name: slide", "name: no", "must be text", 15, "joints[1].name"),
    ("name: slide", "name: ''", "is empty", 15, "joints[1].name"),
    ("lower: -90, upper: 90", "lower: 90, upper: -90", "lower must be below upper", 14,
     "joints[0].limits"),
    ("lower: -90, upper: 90", "lower: 0, upper: 0", "lower must be below upper", 14,
     "joints[0].limits"),
    ("lower: -90, ", "", "has no 'lower'", 14, "joints[0].limits"),
    ("lower: -90", "lower: -9000", "is units.angle = deg right", 14, "joints[0].limits.lower"),
    ("velocity: 60", "velocity: 0", "must be more than 0", 14, "joints[0].limits.velocity"),
    ("acceleration: 120", "acceleration: -1", "more than 0", 14,
     "joints[0].limits.acceleration"),
    ("acceleration: 120", "effort: 0", "more than 0", 14, "joints[0].limits.effort"),
    ("    limits: {lower: 0, upper: 50}\n", "", "has no 'limits'", 15, "joints[1]"),
    ("[left, right]", "[left]", "must be two names, not 1", 22, "gripper.joints"),
    ("[left, right]", "[left, left]", "is taken", 22, "gripper.joints"),
    ("[left, right]", "[left, turn]", "'turn' is taken", 22, "gripper.joints"),
    ("min_width: 0", "min_width: -1", "must not be negative", 22, "gripper.min_width"),
    ("min_width: 0", "min_width: 40", "min_width must be below max_width", 22, "gripper"),
    ("max_width: 40, ", "", "has no 'max_width'", 22, "gripper"),
    ("velocity: 80", "velocity: 80, finger: {length: 1, width: 1, thickness: 0}",
     "more than 0", 22, "gripper.finger.thickness"),
    ("velocity: 80", "velocity: 80, finger: {length: 1, width: 1, thickness: 1, overhang: 1}",
     "less than the finger's length", 22, "gripper.finger.overhang"),
    ("velocity: 80", "velocity: 80, palm: {length: 1}", "has no 'width'", 22, "gripper.palm"),
    ("turn: 0, slide: 0", "turn: 91, slide: 0", "outside the limits", 24, "postures.rest.turn"),
    ("turn: 0, slide: 0", "turn: 0", "has no 'slide'", 24, "postures.rest"),
    ("turn: 0, slide: 0", "trun: 0, slide: 0", "did you mean 'turn'", 24, "postures.rest.trun"),
    ("gripper: 10", "gripper: 41", "outside the limits", 24, "postures.rest.gripper"),
    ("postures:", "colours: {base: red}\npostures:", "'red' is not a colour", 23, "colours.base"),
    ("postures:", "colours: {base: #fff}\npostures:", "not valid YAML", None, ""),
    ("postures:", "colours: {links: []}\npostures:", "has no colours", 23, "colours.links"),
    ("postures:", "base: {xyz: [1, 2]}\npostures:", "three numbers, not 2", 23, "base.xyz"),
    ("postures:", "tool: {rpy: 1}\npostures:", "must be a list", 23, "tool.rpy"),
    ("postures:", "[1]: 2\npostures:", "a key must be a single word", 23, ""),
    ("postures:", "robot: x\npostures:", "is not a known key", 23, "robot"),
    ("postures:", "posture:", "did you mean 'postures'", 23, "posture"),
    ("postures:", "source: 2020\npostures:", "must be text", 23, "source"),
    ("name: small", "name: 'small", "not valid YAML", None, ""),
    ("name: small", "\tname: small", "not valid YAML", 1, ""),
    ("name: small", "name: a\x07b", "character that YAML does not allow", None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "says", "line", "key"), CASES)
def test_every_message(small, old, new, says, line, key):
    assert old in small
    with pytest.raises(DescriptionError) as caught:
        parse_robot(small.replace(old, new, 1), "my.yaml")
    error = caught.value
    assert says in str(error)
    assert str(error).startswith("my.yaml")
    assert "\n" not in str(error)
    if line is not None:
        assert (error.line, error.key) == (line, key)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("# nothing", "is empty"),
        ("just text", "must be a mapping"),
        ("- 1\n- 2", "must be a mapping"),
        ("[" * 5000, "nested too deeply"),
        ("a: 1\n---\nb: 2", "not valid YAML"),
        (b"name: \xff\xfe\n", "not UTF-8"),
    ],
)
def test_files_that_are_no_robot(text, says):
    with pytest.raises(DescriptionError, match=says):
        parse_robot(text)


def test_no_rows(small):
    head = small.split("joints:")[0]
    for tail, says in (("joints: []", "has no rows"), ("joints: {}", "must be a list"),
                       ("joints:", "must be a list"), ("", "has no 'joints'")):  # fmt: skip
        with pytest.raises(DescriptionError, match=says):
            parse_robot(head + tail)


def test_too_many_rows(small):
    head = small.split("joints:")[0]
    row = "{name: a, type: revolute, d: 0, a: 0, alpha: 0, limits: {lower: 0, upper: 1}}"
    with pytest.raises(DescriptionError, match="at most 64"):
        parse_robot(head + "joints:\n" + f"- {row}\n" * 65)


def test_unknown_robot_lists_the_shipped_ones():
    with pytest.raises(
        DescriptionError, match=r"did you mean 'puma560'.*nut_arm,.* planar2,.* puma560"
    ):
        load_robot("puma56")


def test_missing_unreadable_and_large_files(tmp_path):
    with pytest.raises(DescriptionError, match=r"no_such\.yaml: there is no such file"):
        load_robot(str(tmp_path / "no_such.yaml"))
    with pytest.raises(DescriptionError, match="there is no such file"):
        load_robot(tmp_path)
    large = tmp_path / "large.yaml"
    large.write_text("#" * 1_000_001)
    with pytest.raises(DescriptionError, match="larger than 1 MB"):
        load_robot(large)


def test_mutated_files_give_a_robot_or_a_sentence(small):
    """Whatever is done to the text: never another exception."""
    random_source = random.Random(20)
    pieces = ["", " ", ":", "-", "[", "}", "'", "#", "&a ", "*a", "!!int ", "~", "1e999", "\t",
              "\n", "pi", "q", "|", ">", "? ", "%", "\x00", "ü", "<<: "]  # fmt: skip
    for _ in range(1500):
        text = small
        for _ in range(random_source.randint(1, 3)):
            start = random_source.randrange(len(text))
            end = start + random_source.choice([0, 1, 2, 8])
            text = text[:start] + random_source.choice(pieces) + text[end:]
        try:
            parse_robot(text, "mutated.yaml").to_urdf()
        except DescriptionError as error:
            assert str(error).startswith("mutated.yaml"), error
