# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Mutated robot files give a valid robot or one sentence with file and line."""

import contextlib
import math
import random
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
    for rates in (model.velocity, model.acceleration):
        assert np.isfinite(rates).all() and np.min(rates) > 0.0
    assert all(joint.effort > 0.0 for joint in joints)  # infinite if it is not given
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


CELLS = (
    *(
        "0",
        "90",
        "q1 - 90",
        "A1",
        "A2 - 3",
        "1e308",
        "-1e-320",
        "1e999",
        ".nan",
        "~",
        "true",
        "[]",
    ),
    *("{}", "''", "l1", "l1/0", "sqrt(-1)", "2**1000", "2**-1074", "0x10", "010", "1_000", "1,5"),
    *(
        "pi",
        "rad(pi)",
        "q",
        "theta2 + 1",
        "A1*A1",
        "min(A1, 3)",
        "-(-(-1))",
        "\u0661",
        "'1 2'",
        "0*A1",
    ),
    *("{value: q1 - 3, source: x}", "{value: 1}", "1e-300*A1", "A1/3", "19999", "0.001", "d1 - 3"),
    *("__import__('os')", "A1 + A1", "(((((1)))))", "q1*1", "1:30", "!!python/object:x 1", "*a"),
)
NAMES = (
    "A1",
    "q1",
    "theta1",
    "base",
    "mount",
    "a b",
    "\u00e9",
    "x" * 120,
    "1",
    "~",
    "A1_z",
    "pi",
    "sin",
)
LIMITS = (
    *(
        "{lower: 0, upper: 0}",
        "{lower: 1, upper: -1}",
        "{lower: A1, upper: 90}",
        "{}",
        "~",
        "[1,2]",
    ),
    *(
        "{lower: -A2, upper: A2}",
        "{lower: -1e308, upper: 1e308}",
        "{lower: -9, upper: 9, effort: 0}",
    ),
    *("{lower: min(A1,A2), upper: max(A1,1)}", "{lower: -10, upper: 10, velocity: 1e-300}"),
    "{z: {lower: -1, upper: 1}, y: {lower: -1, upper: 1}}",
)
TYPES = ("prismatic", "universal", "ball", "fixed", "continuous", "~", "3")


def hostile_table(choices):
    """Return the text of a table with one to three cells that nobody should write."""
    pick = choices.choice
    rows = [
        {
            **{"name": f"A{i + 1}", "type": pick(["revolute", "prismatic"]), "theta": pick("09")},
            **{"d": "100", "a": pick(["0", "250"]), "alpha": pick(["0", "90", "-90"])},
            "limits": "{lower: -10, upper: 10}",
        }
        for i in range(choices.randint(1, 6))
    ]
    for _ in range(choices.randint(1, 3)):
        key = pick(["name", "type", "theta", "theta", "d", "d", "a", "alpha", "limits", "limits"])
        values = {"name": NAMES, "type": TYPES, "limits": LIMITS}.get(key, CELLS)
        pick(rows)[key] = pick(values)
    head = "name: arm\nconvention: standard\nunits: {length: mm, angle: deg}\n"
    constants = pick(["", "constants: {l1: 3, q1: 4}\n", f"constants: {{l1: {pick(CELLS)}}}\n"])
    flow = ("  - {" + ", ".join(f"{k}: {v}" for k, v in row.items()) + "}\n" for row in rows)
    return f"{head}{constants}joints:\n{''.join(flow)}"


def test_hostile_tables_give_a_robot_or_one_sentence(urdf_fk):
    valid = 0
    for seed in range(300):
        text = hostile_table(random.Random(seed))
        check_text(text, urdf_fk)
        with contextlib.suppress(DescriptionError):
            valid += parse_robot(text).n > 0
    assert 20 < valid < 280
