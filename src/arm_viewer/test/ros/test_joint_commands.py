# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Sliders move an arm that stands at a limit, as its servos measure it."""

from types import SimpleNamespace

import pytest
from arm_common.yaml.linear_expressions import LinearExpression
from arm_description.model.constraints import ConstraintSet, LinearLimits
from arm_viewer.scene.robot import VisualJoint

ELBOW = LinearLimits(
    "elbow",
    (LinearExpression(-2.0),),
    (LinearExpression(0.5, (("shoulder", -1.0),)),),
)
NAMES = ("waist", "shoulder", "elbow")


@pytest.fixture
def commander(monkeypatch):
    """Return a commander of an arm that is just outside of two limits, and what it sends."""
    commands = pytest.importorskip("arm_viewer.ros.joint_commands")
    monkeypatch.setattr(commands, "ActionClient", lambda *_, **__: None)
    sent = []
    publisher = SimpleNamespace(publish=sent.append, get_subscription_count=lambda: 1)
    node = SimpleNamespace(
        create_publisher=lambda *_: publisher, create_subscription=lambda *_, **__: publisher
    )
    measured = {"waist": 1.002, "shoulder": 0.2, "elbow": 0.303}
    made = commands.DriverCommander(node, lambda: measured)
    joints = [VisualJoint(name, False, -1.0, 1.0) for name in NAMES]
    made.set_arm(joints, ConstraintSet(NAMES, [ELBOW]))
    return made, sent


def test_joints_that_stand_just_outside_are_commanded_to_their_limits(commander):
    made, sent = commander
    assert made.move({"waist": 0.5}) == ""
    assert sent[0].points[0].positions.tolist() == pytest.approx([0.5, 0.2, 0.3])
    assert made.move({"elbow": 0.0}) == ""
    assert sent[1].points[0].positions.tolist() == pytest.approx([1.0, 0.2, 0.0])


def test_slider_beyond_the_limit_is_refused(commander):
    made, sent = commander
    assert "at shoulder 11.46 deg the linkage allows" in made.move({"elbow": 0.31})
    assert not sent


def test_published_sliders_have_the_mean_speed_since_the_last_message():
    commands = pytest.importorskip("arm_viewer.ros.joint_commands")
    from rclpy.time import Time

    sent, clock = [], SimpleNamespace(now=lambda: Time(nanoseconds=times.pop(0)))
    times = [1_000_000_000, 1_500_000_000, 1_600_000_000]
    node = SimpleNamespace(
        create_publisher=lambda *_: SimpleNamespace(publish=sent.append),
        create_timer=lambda *_, **__: SimpleNamespace(reset=lambda: None),
        get_clock=lambda: clock,
    )
    sliders = commands.SliderPublisher(node, {"waist": 0.2})
    joints = (VisualJoint("waist", False, -1.0, 1.0), VisualJoint("slide", True, 0.0, 1.0))
    sliders.set_robot(SimpleNamespace(joints=joints, constraints=None))
    sliders.move({"waist": 0.3})
    sliders.move({"waist": 0.3})
    velocities = [message.velocity.tolist() for message in sent]
    assert velocities == [[0.0, 0.0], [pytest.approx(0.2), 0.0], [0.0, 0.0]]
