# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions on a field of a message, with message types as plain data, and on the arm."""

from types import SimpleNamespace

import pytest
from arm_tasks.errors import PlanError
from arm_tasks.task.condition import Condition, MessageType, Observation, Signal

TYPES = {
    "a/msg/State": MessageType(
        {
            "state": "uint8",
            "name": "string<20>",
            "on": "boolean",
            "raw": "octet",
            "pose": "a/Pose",
        },
        {"IDLE": 0.0, "RUNNING": 2.0},
    ),
    "a/msg/Pose": MessageType({"x": "double", "q": "sequence<double, 7>", "at": "a/Pose[2]"}, {}),
}


def resolved(field, type_name="a/msg/State", **condition):
    until = Signal("t", field=field, **condition)
    assert not until.problem
    return until.resolved(type_name, TYPES.get)


def message(**fields):
    return SimpleNamespace(**fields)


@pytest.mark.parametrize(
    ("field", "condition", "true", "false"),
    [
        ("state", {"equals": "RUNNING"}, 2, 0),
        ("state", {"equals": 2.0}, 2, 3),
        ("state", {"above": 1.0}, 2, 1),
        ("state", {"above": 1.0, "below": 3.0}, 2, 3),
        ("name", {"equals": "arm"}, "arm", "an arm"),
        ("on", {"equals": False}, False, True),
        ("raw", {"equals": 7.0}, b"\x07", b"\x08"),
    ],
)
def test_condition_holds_for_one_value_only(field, condition, true, false):
    until = resolved(field, **condition)
    assert until.read(message(**{field: true})).holds
    reading = until.read(message(**{field: false}))
    assert not reading.holds and not reading.failed and reading.reason.startswith("it is ")


def test_fields_of_fields_and_of_lists_are_read():
    until = resolved("pose.at[1].q[2]", above=0.5)
    inner = [message(q=[]), message(q=[0.0, 0.0, 1.0])]
    assert until.read(message(pose=message(at=inner))).holds
    short = until.read(message(pose=message(at=inner[:1])))
    assert (short.holds, short.reason) == (False, "at has 1 elements")


def test_nan_is_neither_above_nor_below():
    assert not resolved("pose.x", above=0.0).read(message(pose=message(x=float("nan")))).holds
    assert not resolved("pose.x", below=0.0).read(message(pose=message(x=float("nan")))).holds


@pytest.mark.parametrize(
    ("field", "condition", "why"),
    [
        ("stat", {"equals": 1.0}, "a/msg/State has no field 'stat'; did you mean 'state'?"),
        ("state.x", {"equals": 1.0}, "state.x: a uint8 has no field 'x'"),
        ("state", {"equals": "IDEL"}, "but equals is 'IDEL'; known are IDLE, RUNNING"),
        ("state", {"equals": True}, "state is a number, but equals is true"),
        ("pose.x", {"equals": "up"}, "pose.x is a number, but equals is 'up'"),
        ("name", {"above": 1.0}, "name is text; above and below need a number"),
        ("on", {"equals": 1.0}, "on is true or false, but equals is 1"),
        ("pose", {"equals": 1.0}, "pose is of the type a/Pose; name one of its fields"),
        ("pose.q", {"equals": 1.0}, "q is a list; give an index, as in q[0]"),
        ("state[0]", {"equals": 1.0}, "state is not a list"),
    ],
)
def test_mistake_is_found_from_the_type_alone(field, condition, why):
    with pytest.raises(PlanError) as error:
        resolved(field, **condition)
    assert why in str(error.value)


def test_type_that_is_not_installed_is_named():
    with pytest.raises(PlanError, match="the message type b/msg/X is not installed"):
        resolved("x", "b/msg/X", equals=1.0)


def test_distance_is_compared_in_metres():
    near = Signal(frames=("tool0", "cup"), below=0.02)
    assert not near.problem and near.compare(0.01).holds
    assert str(near) == "the distance of tool0 and cup is below 20 mm"
    assert near.compare(0.03).reason == "it is 0.03"


def test_joint_and_width_may_have_to_be_measured():
    bent = Condition(joint="elbow", joint_above=0.5, joint_below=1.0)
    at = {value: Observation(joints={"elbow": value}) for value in (0.4, 0.7, 1.1)}
    assert [bent.holds(seen) for seen in at.values()] == [False, True, False]
    assert bent.missing(Observation()) == "the position of the joint elbow is unknown"
    closed = Condition(gripper_below=0.01, measured=True)
    assert "commanded, not measured" in closed.missing(Observation(width=0.005))
    assert not closed.holds(Observation(width=0.005))
    assert closed.holds(Observation(width=0.005, measured=True))
