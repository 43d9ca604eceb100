# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Mutated robot files give a valid robot or one sentence with file and line."""

import math
from copy import deepcopy
from pathlib import Path

import numpy as np
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import DescriptionError, parse_robot, shipped_robots

FILES = {**shipped_robots(), "every_key": Path(__file__).with_name("every_key.yaml")}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}
TREES = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
EXAMPLES = 120
WORDS = ": - [ ] { } ' \" # , &a *a !!int ~ | > % . 0 pi q nan rad( ) /0 **9 _ 1e999 ü --- ?"
BLANKS = ["", " ", "\t", "\n", "\r", "\x00", "\u2028", "\ufeff", "<<: ", "{value: 1, source: x}"]
PIECES = [*WORDS.split(" "), *BLANKS]
VALUES = [
    *[None, True, "", "no", "010", "1:30", "pi", "q", "nan", "9**9**9", "a" * 400, "\n", "é"],
    *[0, -1, 1e-9, 1e9, math.inf, math.nan, 10**400, [], {}, [0, 0, 0], {"value": 1}, "1/0"],
    *[{"value": 2, "source": "x"}, {"lower": 0, "upper": 1}, "universal", "ball", "prismatic"],
]


def check_model(model, urdf_fk):
    """Check the invariants of every robot."""
    joints = model.joints
    assert len(set(model.joint_names)) == model.n > 0
    numbers = [value for joint in joints for value in vars(joint.row).values()]
    numbers += [*model.base.matrix.flat, *model.tool.matrix.flat, *model.lower, *model.upper]
    assert np.isfinite(numbers).all()
    assert (model.lower < model.upper).all()
    for rates in (model.velocity, model.acceleration, [joint.effort for joint in joints]):
        assert np.isfinite(rates).all() and np.min(rates) > 0.0
    for posture in model.postures.values():
        for joint in joints:
            assert joint.lower <= posture[joint.name] <= joint.upper
    q = np.random.default_rng(0).uniform(model.lower, model.upper)
    found = urdf_fk(
        model.to_urdf(), dict(zip(model.joint_names, q, strict=True)), "base_link", "tool0"
    )
    size = 1.0 + float(np.abs(numbers).max())
    np.testing.assert_allclose(found, model.fk(q), rtol=0, atol=1e-12 * size)


def check_text(text, urdf_fk):
    try:
        model = parse_robot(text, "mutated.yaml")
    except DescriptionError as error:
        assert str(error).startswith("mutated.yaml:")
        assert error.line is not None
        assert 1 <= error.line <= len(text.splitlines()) + 1
        assert str(error).isprintable()
        assert error.problem
    else:
        check_model(model, urdf_fk)


def edited(text, random):
    lines = text.split("\n")
    i, j = random.randrange(len(lines)), random.randrange(len(lines))
    action = random.choice(["delete", "twice", "swap", "indent", "outdent", "tab", *3 * ["piece"]])
    if action == "delete":
        del lines[i]
    elif action == "twice":
        lines.insert(j, lines[i])
    elif action == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    elif action == "indent":
        lines[i] = " " * random.randint(1, 3) + lines[i]
    elif action == "outdent":
        lines[i] = lines[i].removeprefix(" " * random.randint(1, 3))
    elif action == "tab":
        lines[i] = "\t" + lines[i]
    else:
        at = random.randint(0, len(lines[i]))
        cut = at + random.choice([0, 0, 1, 2, 8])
        lines[i] = lines[i][:at] + random.choice(PIECES) + lines[i][cut:]
    return "\n".join(lines)


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(sorted(TEXTS)), st.randoms(use_true_random=False), st.integers(1, 3))
def test_mutated_text_is_valid_or_rejected(urdf_fk, robot, random, edits):
    text = TEXTS[robot]
    for _ in range(edits):
        text = edited(text, random)
    check_text(text, urdf_fk)


def places(data):
    for key in data if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])


def changed(data, random):
    whole, key = random.choice(list(places(data)))
    other_whole, other = random.choice(list(places(data)))
    action = random.choice(["drop", "rename", "value", "value", "scale", "copy"])
    if action == "drop":
        del whole[key]
    elif action == "rename" and isinstance(whole, dict):
        name = random.choice([str(other), str(key)[:-1], f"{key}s", str(key).upper()])
        whole[name] = whole.pop(key)
    elif action == "scale" and isinstance(whole[key], int | float):
        whole[key] *= random.choice([-1, 0.001, 1000, 25.4, math.pi / 180, 180 / math.pi])
    elif action == "copy":
        whole[key] = deepcopy(other_whole[other])
    else:
        whole[key] = deepcopy(random.choice(VALUES))


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(sorted(TEXTS)), st.randoms(use_true_random=False), st.integers(1, 2))
def test_mutated_tree_is_valid_or_rejected(urdf_fk, robot, random, changes):
    data = deepcopy(TREES[robot])
    for _ in range(changes):
        changed(data, random)
    check_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), urdf_fk)
