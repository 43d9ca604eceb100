# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math
from types import SimpleNamespace

import numpy as np
import pytest
from arm_description.model.constraints import ConstraintSet, LinearExpression, LinearLimits
from arm_description.urdf.elements import UrdfMimic
from arm_viewer.browser import texts
from arm_viewer.browser.texts import display_limits, from_display, to_display
from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import JointSliders, VisualJoint
from hypothesis import given
from hypothesis import strategies as st

JOINTS = (
    VisualJoint("waist", False, -1.0, 2.0),
    VisualJoint("slide", True, 0.1, 0.4),
    VisualJoint("finger", True, 0.0, 0.2, UrdfMimic("slide", -0.5, 0.01)),
)


@given(st.lists(st.tuples(st.sampled_from(["waist", "slide"]), st.floats(-1e3, 1e3)), max_size=20))
def test_sliders_stay_within_limits_and_mimics_follow(moves):
    sliders = JointSliders(JOINTS)
    for name, value in moves:
        sliders.apply({name: value})
    values = sliders.values()
    for joint in JOINTS[:2]:
        assert joint.lower <= values[joint.name] <= joint.upper
    assert values["finger"] == pytest.approx(-0.5 * values["slide"] + 0.01)
    assert sliders.values() == values


def test_sliders_start_at_their_start_value_or_nearest_to_zero():
    sliders = JointSliders(JOINTS, {"waist": 1.5, "unknown": 3.0})
    assert sliders.values() == {"waist": 1.5, "slide": 0.1, "finger": pytest.approx(-0.04)}


ELBOW = LinearLimits(
    "slide",
    (LinearExpression(0.1, (("waist", 0.1),)),),
    (LinearExpression(0.2, (("waist", 0.1),)),),
)


@given(st.lists(st.tuples(st.sampled_from(["waist", "slide"]), st.floats(-1e3, 1e3)), max_size=20))
def test_sliders_stop_at_limits_that_depend_on_others(moves):
    constraints = ConstraintSet(("waist", "slide"), [ELBOW], ["slide"])
    sliders = JointSliders(JOINTS, {"waist": 0.5, "slide": 0.4}, constraints)
    for name, value in moves:
        former = sliders.values()
        problem = sliders.apply({name: value})
        values = sliders.values()
        q = [values["waist"], values["slide"]]
        assert constraints.violation(q) < 1e-8
        wanted = {**former, name: min(max(value, JOINTS[name == "slide"].lower), 2.0)}
        violation = constraints.violation([wanted["waist"], min(wanted["slide"], 0.4)])
        if abs(violation) > 1e-8:  # else it is at the limit
            assert bool(problem) == (violation > 0.0)
        assert not problem or problem.startswith("slide: at waist")


def test_non_finite_value_is_rejected():
    with pytest.raises(ViewerError, match='slider of joint "waist": nan is not a finite number'):
        JointSliders(JOINTS).apply({"waist": math.nan})


@given(st.sampled_from(JOINTS), st.floats(0, 1))
def test_display_units_convert_back_and_forth(joint, part):
    value = joint.lower + part * (joint.upper - joint.lower)
    assert from_display(joint, to_display(joint, value)) == pytest.approx(value, abs=1e-12)
    low, high = (from_display(joint, limit) for limit in display_limits(joint))
    assert joint.lower - 1e-9 <= low < high <= joint.upper + 1e-9


def test_texts_are_escaped_and_empty_lines_omitted():
    assert texts.status_line("task", "Task", "") == ""
    assert "&lt;script&gt;" in texts.status_line("task", "Task", "<script>")
    joint = VisualJoint("<b>", False, -1, 1)
    assert "&lt;b&gt;" in texts.joint_table((joint,), {"<b>": 0.0})


def test_each_message_appears_once_and_goes():
    told = {"file": "my.yaml:3: a is negative", "log": "watcher: my.yaml:3: a is negative"}
    box = texts.message_box(told)
    assert box.count("a is negative") == 1 and "Robot file: " in box
    assert texts.message_box({"ik": "No.", "log": "driver: hot"}).count("data-arm") == 2
    assert texts.QUIET in texts.message_box({"file": "", "log": ""})


def test_numbers_are_shown_in_degrees_and_millimetres():
    table = texts.joint_table(JOINTS, {"waist": math.pi / 2, "slide": 0.1234})
    assert "90.0°" in table
    assert "123.4 mm" in table
    assert "finger" not in table  # Its value is not known.
    assert texts.joint_table(JOINTS, {"waist": math.nan}) == ""
    pose = np.eye(4)
    pose[:3, 3] = 0.16, -0.0125, 0.185
    assert "160.0, -12.5, 185.0 mm" in texts.tool_table("tool0", pose)
    assert texts.tool_table("tool0", None) == ""


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (0, "fallen: dropped"),
        (1, "on upper, 2.50 turns engaged: dropped"),
        (2, "on upper, held, 2.50 turns engaged: dropped"),
        (3, "held, clear of any bolt: dropped"),
        (9, "state 9: dropped"),
    ],
)
def test_nut_state_as_text(state, text):
    nut = SimpleNamespace(state=state, bolt="upper", turns_engaged=2.5, message="dropped")
    assert texts.nut_text(nut) == text


def test_values_are_written_without_a_negative_zero():
    assert [texts.value_text(joint, -1e-5) for joint in JOINTS[:2]] == ["0.0°", "0.0 mm"]
