# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The JSON schema and the reference of keys: made from the reader's tables, and no other rules."""

import json
import re
from copy import deepcopy

import pytest
import yaml
from arm_description.robot_file.keys import ROBOT, SOURCED
from arm_description.robot_file.kinds import Either, ListOf, Named, Table, Variants
from arm_description.robot_file.reference import with_reference
from arm_description.robot_file.schema import robot_schema, schema_text
from jsonschema import Draft202012Validator

from arm_description import DescriptionError, parse_robot, shipped_robots

ANEW = "run: python3 -m arm_description.robot_file.schema"
FULL = """
base: {xyz: [0, 0, 1], rpy: [0, 0, 90]}
tool: {xyz: [0, 0, 1]}
description: all keys
source: nowhere
payload: {mass: 1, centre: [0, 0, 1], size: [1, 1, 1], source: scales}
masses: {turn_link: {value: 1/2, source: scales}}
meshes: {turn_link: {visual: 'package://no/a.stl', collision: 'package://no/b.stl', scale: 0.001,
  origin: {xyz: [0, 0, 1]}, source: CAD}, flange: {visual: 'package://no/a.stl', scale: [1, 2, 3]}}
colours: {base: "#000000", links: ["#123456"], joints: "#000000", gripper: "#ABCDEF",
  fingers: "#000000"}
"""
FINGER = """\
  finger: {length: 9, width: 9, thickness: 5, overhang: 3}
  palm: {length: 22, width: 46, thickness: 20}
  acceleration: 100
  source: measured
"""
GRIPPER = "gripper:\n  joints: [left, right]\n  min_width: 0\n  max_width: 40\n  velocity: 80\n"
BALL = """\
  - name: wrist
    type: ball
    d: 0
    a: 1
    alpha: 0
    limits: {z: {lower: 0, upper: 1}, y: {lower: 0, upper: 1}, x: {lower: 0, upper: 1, effort: 1}}
    source: a book
"""
INLINE = "gripper: {joints: [left, right], min_width: 0, max_width: 40, velocity: 80}\n"


@pytest.fixture(scope="module")
def validator():
    schema = robot_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture
def full(small):
    """Text of a file with every key there is."""
    assert INLINE in small
    postures = "rest: {turn: 0, slide: 0, wrist_z: 0, wrist_y: 0, wrist_x: 0, gripper: 10}\n"
    text = small.replace(INLINE, BALL + GRIPPER + FINGER)
    return text.replace("rest: {turn: 0, slide: 0, gripper: 10}\n", postures) + FULL


def plain(text):
    """The file as an editor sees it, before any expression is evaluated."""
    return yaml.safe_load(text)


def test_files_made_from_the_tables_are_up_to_date(package):
    assert (package / "schema/robot.schema.json").read_text(encoding="utf-8") == schema_text(), (
        ANEW
    )
    readme = (package / "README.md").read_text(encoding="utf-8")
    assert with_reference(readme) == readme, ANEW


@pytest.mark.parametrize("robot", shipped_robots())
def test_shipped_robots_are_valid_and_name_the_schema(robot, validator):
    path = shipped_robots()[robot]
    text = path.read_text(encoding="utf-8")
    validator.validate(plain(text))
    line = text.splitlines()[0]
    schema = path.parent / line.removeprefix("# yaml-language-server: $schema=")
    assert json.loads(schema.read_text(encoding="utf-8")) == robot_schema()


def test_a_file_with_every_key_is_valid_for_both(full, validator):
    parse_robot(full)
    validator.validate(plain(full))
    used = set(keys_used(plain(full), ROBOT)) | {"value", "source"}
    assert used == {name for name, _ in keys_known(ROBOT)} | {"value"}


def test_every_key_has_a_meaning_in_the_schema():
    described = {
        name
        for part in walk(robot_schema())
        for name, value in part.get("properties", {}).items()
        if isinstance(value, dict) and value.get("description")
    }
    known = {name for name, key in keys_known(ROBOT) if key.meaning}
    assert known == {name for name, _ in keys_known(ROBOT)}
    assert described == known | set(SOURCED.keys)


def keys_known(kind):
    """Every key below a kind, with its Key."""
    if isinstance(kind, Table):
        for name, key in kind.keys.items():
            yield name, key
            yield from keys_known(key.kind)
    elif isinstance(kind, Variants):
        for table in kind.tables.values():
            yield from keys_known(table)
    elif isinstance(kind, ListOf | Named):
        yield from keys_known(kind.kind)


def keys_used(value, kind):
    """Every key of a file that a table knows."""
    if isinstance(kind, Table):
        for name, key in kind.keys.items():
            if name in value:
                yield name
                yield from keys_used(value[name], key.kind)
    elif isinstance(kind, Variants):
        yield from keys_used(value, kind.tables[value[kind.by]])
    elif isinstance(kind, ListOf):
        for item in value:
            yield from keys_used(item, kind.kind)
    elif isinstance(kind, Named):
        for item in value.values():
            yield from keys_used(item, kind.kind)
    elif isinstance(kind, Either):
        yield from ()


def walk(value):
    """Every mapping within plain data."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def places(data, path=()):
    """Paths of all values of plain data, the outermost first."""
    yield path
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from places(data[key], (*path, key))


def at(data, path):
    for key in path:
        data = data[key]
    return data


def refused_by_both(data, validator):
    with pytest.raises(DescriptionError):
        parse_robot(yaml.safe_dump(data, sort_keys=False))
    assert not validator.is_valid(data), data


FREE = {("constants",), ("postures",), ("masses",), ("meshes",)}  # names of the writer's choice


def test_both_refuse_an_unknown_key_anywhere(full, validator):
    data = plain(full)
    for path in places(data):
        if isinstance(at(data, path), dict) and path[:1] not in FREE:
            changed = deepcopy(data)
            at(changed, path)["colur"] = 1
            refused_by_both(changed, validator)


def test_the_schema_refuses_a_missing_key_where_the_reader_does(full, validator):
    """Of names of the writer's choice (joints in postures) only the reader knows."""
    data = plain(full)
    for path in places(data):
        if path[:1] in FREE:
            continue
        whole = at(data, path)
        for key in whole if isinstance(whole, dict) else ():
            changed = deepcopy(data)
            del at(changed, path)[key]
            try:
                parse_robot(yaml.safe_dump(changed, sort_keys=False))
            except DescriptionError as error:
                if (
                    re.search(r"has no '|three numbers", str(error))
                    and "postures" not in error.key
                ):
                    assert not validator.is_valid(changed), (path, key, str(error))
            else:
                assert validator.is_valid(changed), (path, key)


WRONG = [None, True, [], {}, "", "  ", "1 % 2", [[1]], {"value": 1}, {"value": [], "source": "x"}]


def test_both_refuse_a_wrong_type_anywhere(full, validator):
    data = plain(full)
    leaves = [path for path in places(data) if path]
    texts = ("description", "source", "visual", "collision")
    optional = ("base", "tool", "colours", "origin", "constants", "postures", "masses", "meshes")
    for index, path in enumerate(leaves):
        for wrong in (WRONG[(index + step) % len(WRONG)] for step in (0, 3, 6)):
            if wrong == "1 % 2" and path[-1] in texts:
                continue
            if wrong == {} and path[-1] in optional:
                continue  # a section without keys
            if isinstance(wrong, dict) and path[:1] in FREE and len(path) < 3:
                continue  # names, which only the reader knows
            changed = deepcopy(data)
            at(changed, path[:-1])[path[-1]] = wrong
            refused_by_both(changed, validator)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("length: mm", "length: cm"),
        ("angle: deg", "angle: degree"),
        ("convention: standard", "convention: dh"),
        ("type: ball", "type: spherical"),
        ("name: turn", "name: the turn"),
        ("name: turn", "name: a/b"),
        ("name: turn", "name: 12"),
        ("[left, right]", "[left]"),
        ("xyz: [0, 0, 1]", "xyz: [0, 1]"),
        ('"#123456"', '"#12345"'),
        ('links: ["#123456"]', "links: []"),
        ("mass: 1", "mass: 0"),
        ("velocity: 60", "velocity: -60"),
        ("lower: -90, upper: 90", "lower: -90, upper: 90, mimic: other"),
        ("z: {lower: 0, upper: 1}", "a: {lower: 0, upper: 1}"),
        ("{z: {lower: 0, upper: 1}, y: {lower: 0, upper: 1}, x: {lower: 0, upper: 1, effort: 1}}",
         "{lower: 0, upper: 1}"),
        ("description: all keys", "description: 2020"),
        ("theta: -90", "theta: 90 deg'"),
    ],
)  # fmt: skip
def test_both_refuse_a_wrong_word(full, validator, old, new):
    assert old in full
    refused_by_both(plain(full.replace(old, new, 1)), validator)
