# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import json
import re
from copy import deepcopy

import pytest
import yaml
from arm_common.yaml.schema_types import Either, ListOf, Named, Table, Variants
from arm_description.robot_file.robot_keys import ROBOT, SOURCED
from arm_description.robot_file.schema import SCHEMAS, robot_schema, texts
from arm_testing.files.key_bounds import bounded, check_bounds, owners
from arm_testing.files.plain_data import at, places
from jsonschema import Draft202012Validator

from arm_description import DescriptionError, parse_robot, shipped_robots

REGENERATE = "run: python3 -m arm_description.robot_file.schema"


SCREWS = """
name: axes
convention: screws
units: {length: mm, angle: deg}
joints:
  - {name: turn, type: revolute, axis: [0, 0, 1], at: [0, 0, 0], limits: {lower: -90, upper: 90}}
home: {xyz: [100, 0, 0]}
tool: {name: pen, rpy: [0, 90, 0]}
"""


def with_claw(text):
    claw = "{length: 9, pivots: 2, open: 45, closed: 0, turning: left, face: 1}"
    clawed = text.replace("  min_width: 0\n  max_width: 40\n", f"  claw: {claw}\n")
    return clawed.replace("gripper: 10}", "gripper: 5}")


@pytest.fixture(scope="module")
def validator():
    schema = robot_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture
def full(every_key):
    return every_key.read_text(encoding="utf-8")


def test_generated_files_are_up_to_date(package):
    generated = texts(package)
    assert {"README.md", *(f"{name}.schema.json" for name in SCHEMAS)} == {
        file.name for file in generated
    }
    for file, text in generated.items():
        assert file.read_text(encoding="utf-8") == text, REGENERATE


@pytest.mark.parametrize("robot", shipped_robots())
def test_shipped_robots_match_their_schema(robot, validator):
    path = shipped_robots()[robot]
    text = path.read_text(encoding="utf-8")
    validator.validate(yaml.safe_load(text))
    line = text.splitlines()[0]
    schema = path.parent / line.removeprefix("# yaml-language-server: $schema=")
    assert json.loads(schema.read_text(encoding="utf-8")) == robot_schema()


def test_file_with_every_key_is_accepted_by_reader_and_schema(full, validator):
    parse_robot(full)
    validator.validate(yaml.safe_load(full))
    used = {key for path in places(yaml.safe_load(full)) for key in path}
    clawed = with_claw(full)
    parse_robot(clawed)
    validator.validate(yaml.safe_load(clawed))
    used |= {key for path in places(yaml.safe_load(clawed)) for key in path}
    screws = SCREWS
    parse_robot(screws)
    validator.validate(yaml.safe_load(screws))
    used |= {key for path in places(yaml.safe_load(screws)) for key in path}
    assert used > {name for name, _ in keys_known(ROBOT)} | {"value"}


def test_every_key_is_described_in_the_schema():
    schema = robot_schema()
    described = {
        path[-2]
        for path in places(schema)
        if path[-1:] == ("description",) and path[-3:-2] == ("properties",)
    }
    known = {name for name, key in keys_known(ROBOT) if key.meaning}
    assert known == {name for name, _ in keys_known(ROBOT)}
    assert described == known | set(SOURCED.keys)


def keys_known(kind):
    if isinstance(kind, Table):
        for name, key in kind.keys.items():
            yield name, key
            yield from keys_known(key.kind)
    elif isinstance(kind, Variants):
        for table in kind.tables.values():
            yield from keys_known(table)
    elif isinstance(kind, Either):
        for one in kind.kinds:
            yield from keys_known(one)
    elif isinstance(kind, ListOf | Named):
        yield from keys_known(kind.kind)


def assert_both_reject(data, validator):
    with pytest.raises(DescriptionError):
        parse_robot(yaml.safe_dump(data, sort_keys=False))
    assert not validator.is_valid(data), data


FREE = {("constants",), ("postures",), ("masses",), ("meshes",)}  # sections with free names


def test_reader_and_schema_reject_unknown_keys(full, validator):
    data = yaml.safe_load(full)
    for path in places(data):
        if isinstance(at(data, path), dict) and path[:1] not in FREE:
            changed = deepcopy(data)
            at(changed, path)["colur"] = 1
            assert_both_reject(changed, validator)


def test_reader_and_schema_reject_missing_keys(full, validator):
    """Free names (joints in postures) are checked by the reader only."""
    data = yaml.safe_load(full)
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
                if re.search(r"has no '|3 numbers", str(error)) and "postures" not in error.key:
                    assert not validator.is_valid(changed), (path, key, str(error))
            else:
                assert validator.is_valid(changed), (path, key)


WRONG = [None, True, [], {}, "", "  ", "1 % 2", [[1]], {"value": 1}, {"value": [], "source": "x"}]


def test_reader_and_schema_reject_wrong_types(full, validator):
    data = yaml.safe_load(full)
    leaves = [path for path in places(data) if path]
    texts = ("description", "source", "visual", "collision", "payload", "tool")
    optional = ("base", "tool", "colours", "origin", "constants", "postures", "masses", "meshes")
    for index, path in enumerate(leaves):
        wrong = WRONG[index % len(WRONG)]
        if wrong == "1 % 2" and path[-1] in texts:
            continue
        if (wrong == {} and path[-1] in optional) or (wrong == [] and path == ("transmissions",)):
            continue  # a section without keys
        if wrong is True and isinstance(at(data, path), bool):
            continue
        if isinstance(wrong, dict) and path[:1] in FREE and len(path) < 3:
            continue  # free names, checked by the reader only
        changed = deepcopy(data)
        at(changed, path[:-1])[path[-1]] = wrong
        assert_both_reject(changed, validator)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("length: mm", "length: ell"), ("angle: deg", "angle: degree"),
        ("convention: standard", "convention: dh"), ("type: ball", "type: spherical"),
        ("name: turn", "name: the turn"), ("name: turn", "name: a/b"), ("name: turn", "name: 12"),
        ("[left, right]", "[left]"), ("xyz: [0, 0, 1]", "xyz: [0, 1]"),
        ('"#123456"', '"#12345"'), ('links: ["#123456"]', "links: []"),
        ("mass: 1", "mass: 0"), ("velocity: 60", "velocity: -60"),
        ("lower: 0, upper: 50", "lower: 0, upper: 50, mimic: other"),
        ("z: {lower: 0, upper: 1}", "a: {lower: 0, upper: 1}"),
        ("{z: {lower: 0, upper: 1}, y: {lower: 0, upper: 1}, x: {lower: 0, upper: 1, effort: 1}}",
         "{lower: 0, upper: 1}"),
        ("description: all keys", "description: 2020"),
        ("theta: -90", "theta: 90 deg'"),
    ],
)  # fmt: skip
def test_reader_and_schema_reject_invalid_values(full, validator, old, new):
    assert old in full
    assert_both_reject(yaml.safe_load(full.replace(old, new, 1)), validator)


def test_reader_refuses_what_the_declared_bounds_exclude(full):
    covered, accepted = set(), 0
    in_numbers = yaml.safe_load(full)
    in_numbers["colours"] = {part: [1, 0, 0] for part in ("base", "joints", "fingers", "gripper")}
    in_numbers["colours"]["links"] = [[1, 0, 0]]
    in_numbers["masses"]["turn_link"] = 1
    for data in (in_numbers, yaml.safe_load(with_claw(full)), yaml.safe_load(SCREWS)):
        numbers = [number for number in bounded(ROBOT, data) if number.owner not in covered]
        covered |= {number.owner for number in numbers}
        accepted += check_bounds(
            numbers, data, lambda file: parse_robot(yaml.safe_dump(file)), DescriptionError
        )
    missing = {name for name, _ in set(owners(ROBOT)) - covered}
    assert not missing and len(covered) >= 39 and accepted >= 35, missing
