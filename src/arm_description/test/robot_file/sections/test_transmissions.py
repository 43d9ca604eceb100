# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math
import re

import numpy as np
import pytest
import yaml
from arm_description.model.transmissions.curved import CrankTransmission
from arm_description.model.transmissions.transmission import Drivetrain, SimpleTransmission
from arm_description.robot_file.schema import robot_schema
from arm_description.robot_file.writer import robot_yaml
from jsonschema import Draft202012Validator

from arm_description import DescriptionError, parse_robot

HEAD = """\
name: linkage_arm
convention: modified
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 92, a: 0, alpha: 0, limits: {lower: -90, upper: 90}}
  - {name: shoulder, type: revolute, d: 0, a: 0, alpha: 90, limits: {lower: 39, upper: 120}}
  - {name: elbow, type: revolute, d: 0, a: 135, alpha: 0, limits: {lower: -140, upper: -40}}
  - {name: slide, type: prismatic, theta: 0, a: 147, alpha: 0, limits: {lower: 0, upper: 30}}
transmissions:
"""
CRANK = (
    "{type: crank, joint: elbow, against: shoulder, ground: 135, crank: 40, rod: 140, rocker: 38"
)
EVERY_KIND = f"""\
{HEAD}\
  - {{type: simple, joint: waist, mechanical_reduction: -2.05, offset: 3}}
  - {{type: several, joint: shoulder, actuators: [left, right], mirrored: [false, true],
     allowed_difference: 3, velocity: 90, acceleration: 200}}
  - {CRANK}, rocker_angle: 180, crank_angle: 180, branch: open}}
  - {{type: table, joint: slide, actuator: rack, points: [[0, 5], [10, 12], [30, 40]]}}
"""


def test_every_kind_is_read_and_written_back():
    model = parse_robot(EVERY_KIND)
    assert Drivetrain.of(model).actuators == (
        "waist",
        "left",
        "right",
        "elbow",
        "rack",
    )
    assert model.transmissions[0] == SimpleTransmission(
        ("waist",), ("waist",), -2.05, math.radians(3)
    )
    crank = model.transmissions[2]
    assert isinstance(crank, CrankTransmission) and crank.lengths.rod == 0.14
    text = robot_yaml(model)
    assert parse_robot(text) == model
    Draft202012Validator(robot_schema()).validate(yaml.safe_load(text))
    Draft202012Validator(robot_schema()).validate(yaml.safe_load(EVERY_KIND))
    q = np.array([0.1, 1.2, -1.5, 0.012])
    assert Drivetrain.of(parse_robot(text)).to_actuators(q) == pytest.approx(
        Drivetrain.of(model).to_actuators(q)
    )


def test_file_without_transmissions_has_an_actuator_for_each_joint():
    model = parse_robot(HEAD.removesuffix("transmissions:\n"))
    assert model.transmissions == () and Drivetrain.of(model).is_identity
    assert "transmissions" not in robot_yaml(model)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            "{type: simple, joint: wist}",
            "'wist' is not a joint that actuators move; use one of waist",
        ),
        ("{type: simple, joint: waist, mechanical_reduction: 0}", "must not be 0"),
        ("{type: belt, joint: waist}", "simple"),
        ("{type: simple, joint: waist, rod: 4}", "rod"),
        (
            "{type: simple, joint: waist, actuator: elbow}",
            "'elbow' is already that of joint elbow",
        ),
        ("{type: simple, joint: waist, actuator: gripper}", "already that of the gripper"),
        (
            "{type: simple, joint: waist, range: [-80, 95]}",
            "allows waist -80 .. 95 deg, its limits",
        ),
        ("{type: simple, joint: waist, range: [95, -95]}", "must increase"),
        ("{type: parallelogram, joint: elbow, against: elbow}", "'elbow' is the joint itself"),
        ("{type: parallelogram, joint: elbow, against: [waist, waist]}", "'waist' is named twice"),
        ("{type: parallelogram, joint: slide, against: elbow}", "slide is prismatic"),
        ("{type: parallelogram, joint: elbow, against: [waist], ratio: [1, 2]}", "list of 1"),
        (
            "{type: differential, joints: [waist, waist], actuators: [a, b]}",
            "name the same joint twice",
        ),
        ("{type: differential, joints: [waist, elbow], actuators: [a, a]}", "two different names"),
        (
            "{type: several, joint: waist, actuators: [a, b], mirrored: [no, 1],"
            " allowed_difference: 3}",
            "must be true or false",
        ),
        (
            "{type: several, joint: waist, actuators: [a, b], allowed_difference: 0}",
            "above 0|than 0",
        ),
        ("{type: table, joint: slide, points: [[0, 1], [5, 2]]}", "cover slide 0 .. 5 mm"),
        (
            "{type: table, joint: slide, points: [[0, 1], [5, 2], [30, 1]]}",
            "increase throughout or decrease",
        ),
        (
            "{type: crank, joint: elbow, ground: 200, crank: 20, rod: 30, rocker: 20}",
            "cannot close for any elbow -140 .. -40 deg; measure",
        ),
        (f"{CRANK}, rocker_angle: 100}}", "the linkage only closes for elbow -"),
        (
            f"{CRANK.replace('against: shoulder', 'against: [shoulder, waist]')}}}",
            "must be the name of one joint, not a list",
        ),
    ],
)
def test_impossible_transmissions_are_refused_with_line_and_remedy(entry, problem):
    with pytest.raises(DescriptionError, match=problem) as found:
        parse_robot(f"{HEAD}  - {entry}\n", "arm.yaml")
    assert re.match(r"arm\.yaml:10: transmissions\[0\]", str(found.value))
    assert "\n" not in str(found.value)


def test_joints_that_depend_on_each_other_are_refused():
    circle = (
        "  - {type: parallelogram, joint: shoulder, against: elbow}\n"
        "  - {type: parallelogram, joint: elbow, against: shoulder}\n"
    )
    with pytest.raises(DescriptionError, match="shoulder and elbow depend on each other") as found:
        parse_robot(HEAD + circle, "arm.yaml")
    assert "arm.yaml:10" in str(found.value)


def test_joint_has_one_transmission():
    twice = "  - {type: simple, joint: waist}\n  - {type: simple, joint: waist, actuator: b}\n"
    with pytest.raises(DescriptionError, match="waist already has a transmission") as found:
        parse_robot(HEAD + twice, "arm.yaml")
    assert "arm.yaml:11" in str(found.value)
