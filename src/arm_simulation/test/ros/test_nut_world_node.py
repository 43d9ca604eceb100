# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""nut_world stamps its messages with the tf that it has seen, and reports that it sees none."""

from contextlib import closing

import numpy as np
import pytest
import rclpy
from arm_common.ros.message_conversions import transform_message
from arm_common.transforms import turn_z
from arm_simulation.ros import nut_world_node
from arm_simulation.ros.nut_world_node import NutWorldNode
from arm_tasks.scene.nut_state import NutEvent, start_disagreement
from arm_testing.ros.probe import Probe, spun
from builtin_interfaces.msg import Time
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from arm_description import load_robot
from arm_interfaces.msg import NutState
from arm_kinematics import Chain

MODEL = load_robot("nut_arm")
FRAMES = ("tool0", "gripper_link", *(f"{name}_link" for name in MODEL.gripper.joints))


@pytest.fixture
def seen(monkeypatch):
    """Return a probe with the messages of nut_world."""
    monkeypatch.setattr(nut_world_node, "_STALE", 0.5)
    monkeypatch.setattr(nut_world_node, "_REPEAT_PERIOD", 0.2)
    with spun(NutWorldNode), closing(Probe()) as probe:
        probe.nuts = []
        probe.node.create_subscription(NutState, "nut_world/state", probe.nuts.append, 10)
        probe.tf = probe.node.create_publisher(TFMessage, "/tf", 10)
        yield probe


def publish(probe, seconds, frames=FRAMES):
    T = Chain.from_model(MODEL).fk([0.0] * 4)
    stamp = Time(sec=seconds)
    transforms = [transform_message("base_link", frame, T, stamp) for frame in frames]
    probe.tf.publish(TFMessage(transforms=transforms))


def test_nut_is_stamped_with_the_tf_of_the_arm_and_says_that_it_is_old(seen):
    nut = seen.until(lambda: next((n for n in seen.nuts if "never" in n.message), None))
    assert nut.header.stamp == Time() and "tf of the arm was never received" in nut.message

    def stamped(seconds):
        publish(seen, seconds)
        return seen.nuts[-1].header.stamp.sec == seconds

    seen.until(lambda: stamped(7))
    assert "tf of the arm" not in seen.nuts[-1].message
    seen.until(lambda: stamped(9))
    seen.nuts.clear()

    def old():
        publish(seen, 12, frames=("tool0",))  # the jaws are not seen
        return seen.nuts and "tf of the arm was last received, " in seen.nuts[-1].message

    seen.until(old)
    assert seen.nuts[-1].header.stamp.sec == 9
    assert seen.nuts[-1].message.startswith("on upper_bolt from the start; ")
    seen.until(lambda: stamped(13))
    assert "tf of the arm" not in seen.nuts[-1].message


@pytest.fixture
def node():
    """A node whose callbacks the test calls itself."""
    rclpy.init()
    node = NutWorldNode()
    yield node
    node.destroy_node()
    rclpy.shutdown()


def test_nut_is_put_back_unless_it_is_held(node):
    start = node._world.report
    _, pose = grip(node)
    answer = node._on_reset(Trigger.Request(), Trigger.Response())
    assert not answer.success and "hold the nut; open them first" in answer.message
    node._world.update(pose, MODEL.gripper.max_width)
    node._world._fall(NutEvent.DROPPED, "the test dropped it")
    assert start_disagreement(node._scene, node._world.report)
    assert node._on_reset(Trigger.Request(), Trigger.Response()).success
    assert not start_disagreement(node._scene, node._world.report)
    np.testing.assert_array_equal(node._world.report.pose, start.pose)


def grip(node):
    """Close the jaws around the nut; return its state and base_link <- tool0 (4, 4)."""
    pose = node._world.report.pose @ turn_z(np.pi / 6)  # the jaws on two flats
    for width in (MODEL.gripper.max_width, node._world.nut.across_flats):
        report = node._world.update(pose, width)
    assert report.grasped
    return report, pose


def test_text_that_is_no_scene_changes_nothing(node):
    scene = node._scene
    for text in ("", "a: [b", "scene: s\nnut: {}", "x" * 3000):
        node._on_scene(String(data=text))
    assert node._on_reset(Trigger.Request(), Trigger.Response()).success
    assert node._scene is scene
