# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reading robot files: units, offsets, constants, defaults, limits, postures."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from arm_description.model.elements import Colours
from arm_description.model.servo_types import SERVO_TYPES
from arm_description.robot_file.writer import robot_yaml

from arm_description import DescriptionError, parse_robot


def test_file_is_converted_to_si_units(small):
    model = parse_robot(small)
    turn, slide = model.joints
    assert (model.name, model.convention, model.n) == ("small", "standard", 2)
    assert model.joint_names == ("turn", "slide")
    assert (turn.row.d, turn.row.a) == (0.1, 0.2)
    assert turn.row.theta == -math.pi / 2
    assert (slide.row.d, slide.upper) == (0.005, 0.05)
    np.testing.assert_allclose(model.lower, [-math.pi / 2, 0.0])
    np.testing.assert_allclose(model.velocity, [math.pi / 3, 0.1])
    np.testing.assert_allclose(model.acceleration, [2 * math.pi / 3, 0.4])
    assert model.gripper.joints == ("left", "right")
    assert (model.gripper.max_width, model.gripper.velocity) == (0.04, 0.08)
    assert dict(model.postures["rest"]) == {"turn": 0.0, "slide": 0.0, "gripper": 0.01}
    assert model.colours == Colours()


@pytest.mark.parametrize(
    ("unit", "text"),
    [("m", "0.254"), ("dm", "2.54"), ("cm", "25.4"), ("mm", "254"), ("inch", "10")],
)
def test_every_length_unit_is_converted(small, unit, text):
    text = small.replace("length: mm", f"length: {unit}").replace("l1: 100", f"l1: {text}")
    text = text.split("gripper:")[0].replace("upper: 50", "upper: 1")
    text = text.replace("d: 5", "d: 0")
    assert parse_robot(text).joints[0].row.d == pytest.approx(0.254, abs=1e-15)


def test_model_is_immutable(small):
    model = parse_robot(small)
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.name = "other"
    for array in (model.lower, model.upper, model.velocity, model.acceleration):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(TypeError):
        model.postures["rest"]["turn"] = 1.0


def test_fk_is_the_product_of_base_rows_and_tool(small):
    text = small + "base: {xyz: [0, 0, 100]}\ntool: {xyz: [0, 0, 10], rpy: [0, 0, 90]}\n"
    model = parse_robot(text)
    np.testing.assert_allclose(model.base.matrix[:3, 3], [0, 0, 0.1])
    plain = parse_robot(small)
    q = [0.3, 0.02]
    expected = model.base.matrix @ plain.fk(q) @ model.tool.matrix
    np.testing.assert_allclose(model.fk(q), expected, atol=1e-15)
    assert len(model.dh_frames(q)) == 3


@pytest.mark.parametrize("q", [[0.0], [0.0, math.nan], [[0.0, 0.0]], [0, 0, 0]])
def test_fk_rejects_invalid_q(small, q):
    with pytest.raises(DescriptionError, match="2 finite numbers, one for each of turn, slide"):
        parse_robot(small).fk(q)


def test_offsets_default_to_zero(small):
    model = parse_robot(small.replace("    theta: -90\n", "").replace("    d: 5\n", ""))
    assert model.joints[0].row.theta == 0.0
    assert model.joints[1].row.d == 0.0


def test_limits_may_cross_half_a_turn(small):
    model = parse_robot(small.replace("lower: -90, upper: 90", "lower: -10, upper: 210"))
    assert model.upper[0] == pytest.approx(math.radians(210))


def test_posture_at_the_limit_is_accepted(small):
    text = small.replace("rest: {turn: 0", "rest: {turn: 89.9999999999")
    assert parse_robot(text).postures["rest"]["turn"] <= math.pi / 2


def test_joint_names_may_use_any_alphabet(small):
    named = small.replace("name: turn", "name: 'dreh:gelenk\"1\"ü'")
    model = parse_robot(named.replace("rest: {turn:", "rest: {'dreh:gelenk\"1\"ü':"))
    assert model.joint_names[0] == 'dreh:gelenk"1"ü'
    assert "dreh:gelenk&quot;1&quot;ü_link" in model.to_urdf()


def test_errors_can_be_pickled():
    with pytest.raises(DescriptionError) as caught:
        parse_robot("name: x\nfoo: 1", "x.yaml")
    error = pickle.loads(pickle.dumps(caught.value))
    assert (str(error), error.line, error.key) == (str(caught.value), 2, "foo")


SERVOS = """
name: kit
convention: standard
units: {length: mm, angle: deg}
servo: mg996r
joints:
  - {name: j1, type: revolute, theta: 0, d: 80, a: 0, alpha: 90, limits: {lower: -90, upper: 90}}
  - {name: j2, type: revolute, theta: 0, d: 0, a: 90, alpha: 0,
     limits: {lower: -90, upper: 90, servo: ds3218}}
  - {name: j3, type: revolute, theta: 0, d: 0, a: 90, alpha: 0,
     limits: {lower: -90, upper: 90, effort: 10}}
  - {name: j4, type: prismatic, theta: 0, d: 0, a: 0, alpha: 0, limits: {lower: 0, upper: 50}}
"""


def test_torque_of_a_joint_is_given_by_its_servo_or_its_effort_or_not_at_all():
    arm = parse_robot(SERVOS)
    mg996r, ds3218 = (SERVO_TYPES[name].continuous for name in ("mg996r", "ds3218"))
    assert [joint.effort for joint in arm.joints] == [mg996r, ds3218, 10.0, math.inf]
    assert arm.without_effort == ("j4",)
    again = parse_robot(robot_yaml(arm))
    assert [joint.effort for joint in again.joints] == pytest.approx(
        [mg996r, ds3218, 10, math.inf]
    )
    explicit = parse_robot(SERVOS.replace("servo: ds3218", "servo: ds3218, effort: 1"))
    assert explicit.joints[1].effort == 1.0
    with pytest.raises(DescriptionError, match="mg996r"):
        parse_robot(SERVOS.replace("servo: ds3218", "servo: mg966r"))
    with pytest.raises(DescriptionError, match="the joint slides"):
        parse_robot(SERVOS.replace("upper: 50", "upper: 50, servo: sg90"))


def test_continuous_torques_are_a_third_of_the_stall_torques_or_less():
    for name, servo in SERVO_TYPES.items():
        assert 0.2 * servo.stall < servo.continuous < 0.34 * servo.stall, name
        assert " kgf cm at " in servo.source, name
        assert ("rated" in servo.source) != ("assumed" in servo.source), name
