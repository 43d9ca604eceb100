# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every number of a robot file is used: changing any of them changes the model."""

import re
from pathlib import Path

import pytest
from arm_common.yaml.document import read_yaml
from arm_common.yaml.schema_types import Either, Leaf, ListOf, Named, Table, Variants
from arm_description.robot_file.reader import read_root
from arm_description.robot_file.robot_keys import ROBOT
from arm_description.robot_file.scope import sourced_value

from arm_description import DescriptionError, shipped_robots

FILES = {**shipped_robots(), "every_key": Path(__file__).with_name("every_key.yaml")}
NUMBER = re.compile(r"(?<![\w.])\d+(\.\d*)?")


def leaves(field, kind):
    if isinstance(kind, Leaf) and kind.form in ("number", "colour"):
        yield sourced_value(field)
    elif isinstance(kind, Either):
        tables = [one for one in kind.kinds if field.is_mapping and isinstance(one, Table)]
        yield from leaves(field, tables[0] if tables else kind.kinds[field.is_list])
    elif isinstance(kind, ListOf):
        for item in field.items():
            yield from leaves(item, kind.kind)
    elif isinstance(kind, Named):
        for value in field.mapping().values():
            yield from leaves(value, kind.kind)
    elif isinstance(kind, Table):
        for name, value in field.mapping().items():
            yield from leaves(value, kind.keys[name].kind)
    elif isinstance(kind, Variants):
        chosen = field.mapping()[kind.by].raw("a word")
        yield from leaves(field, kind.tables[chosen])


def variations(text):
    if text.startswith("#"):
        yield "#" + ("1" if text[1] == "0" else "0") + text[2:]
        return
    for match in NUMBER.finditer(text):
        changed = repr(float(match[0]) * 1.001 + 0.0001)
        yield text[: match.start()] + changed + text[match.end() :]


@pytest.mark.parametrize("robot", FILES)
def test_every_number_affects_the_model(robot):
    root = read_yaml(FILES[robot], DescriptionError)
    model, counted, rejected = read_root(root, FILES[robot].parent), 0, 0
    for field in leaves(root, ROBOT):
        if field.key == "units.max_length":
            continue  # a bound of the others
        written = field.node.value
        for text in variations(written):
            field.node.value = text
            counted += 1
            try:
                assert read_root(root, FILES[robot].parent) != model, (
                    f"line {field.line}: {field.key}: {text}"
                )
            except DescriptionError:
                rejected += 1
        field.node.value = written
    assert counted > 6 * model.n
    assert rejected < counted / 4  # mostly postures at a limit
