# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from arm_common.errors import CONTROL
from arm_description.model.elements import Colours, Origin
from arm_description.model.units import Units
from arm_description.robot_file.writer import robot_yaml
from arm_testing.arms.samples import ROBOTS
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import DescriptionError, load_robot, parse_robot

UNITS = [
    Units(length, angle) for length in ("m", "dm", "cm", "mm", "inch") for angle in ("deg", "rad")
]
UNITS_OR_NONE = [None, *UNITS]


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("units", UNITS_OR_NONE)
def test_shipped_robots_round_trip(robot, units):
    model = load_robot(robot)
    assert parse_robot(robot_yaml(model, units)) == model


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(UNITS_OR_NONE))
def test_any_table_round_trips(random_model, seed, units):
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "prismatic", "universal", "ball")
    convention, n = str(rng.choice(["standard", "modified"])), int(rng.integers(1, 9))
    model = random_model(rng, convention, n, kinds)
    assert parse_robot(robot_yaml(model, units)) == model


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip))
def test_any_text_round_trips(small_model, text):
    if not text:
        return
    named = {CONTROL.sub("", text) or "a": small_model.postures["rest"]}  # a key is one line
    joint = replace(small_model.joints[0], source=text)
    model = replace(
        small_model,
        description=text,
        source=text,
        postures=named,
        joints=(joint, *small_model.joints[1:]),
    )
    assert parse_robot(robot_yaml(model)) == model


@pytest.mark.parametrize("text", ["no", "1e5", "010", "1:30", "~", "2020-01-01", "<<", "=", "- a"])
def test_texts_special_in_yaml_round_trip(small_model, text):
    model = replace(small_model, description=text, name=text.replace(" ", "_").replace("<", "x"))
    assert parse_robot(robot_yaml(model)) == model


def test_numbers_are_written_in_short_form(small_model):
    text = robot_yaml(small_model)
    assert "units: {length: mm, angle: deg}" in text
    assert re.search(r"theta: -90, d: 100, a: 200, alpha: 90,", text)
    assert "limits: {lower: -90, upper: 90, velocity: 60, acceleration: 120}" in text
    assert "rest: {turn: 0, slide: 0, gripper: 10}" in text
    assert "base:" not in text
    assert "colours:" not in text


def test_angles_in_radians_are_exact_fractions_of_pi(small_model):
    joint = replace(small_model.joints[0], lower=-2 * math.pi / 3, upper=1.2345)
    model = replace(small_model, joints=(joint, *small_model.joints[1:]))
    text = robot_yaml(model, Units("m", "rad"))
    assert re.search(r"theta: -pi/2, d: 0.1, +a: 0.2, alpha: pi/2,", text)
    assert "lower: -2*pi/3, upper: 1.2345," in text


def test_exactness_overrides_preferred_units(small_model):
    """No double in degrees equals 0.73 rad, so the file must be in radians."""
    tilted = replace(small_model, tool=Origin(rpy=(0.0, 0.0, 0.73)))
    text = robot_yaml(tilted, Units("mm", "deg"))
    assert "angle: rad" in text
    assert parse_robot(text) == tilted


def test_colours_and_notes_are_written(small_model):
    model = replace(small_model, colours=Colours(base="#000000", links=("#111111", "#222222")))
    text = robot_yaml(model, notes=["word " * 40, "and more"])
    assert parse_robot(text) == model
    head = text.splitlines()
    assert [line[:2] for line in head[:4]] == ["# "] * 4
    assert max(map(len, head)) <= 99
    assert "# and more" in head


def test_unrepresentable_model_is_rejected(small_model):
    still = replace(small_model.joints[0], lower=0.0, upper=0.0)
    with pytest.raises(DescriptionError, match="lower must be below upper"):
        robot_yaml(replace(small_model, joints=(still,), postures={}))
    with pytest.raises(DescriptionError, match="cannot represent the robot"):
        robot_yaml(replace(small_model, source=" padded "))


@pytest.mark.parametrize("kind", ["universal", "ball"])
def test_universal_and_ball_joints_are_written_as_one_row(kind):
    assert f"type: {kind}," in robot_yaml(load_robot(f"{kind}_arm"))
