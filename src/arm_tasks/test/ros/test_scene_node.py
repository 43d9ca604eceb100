# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The markers of a scene: all for a new subscriber, one for a new text."""

import time

import pytest
import rclpy
from arm_common.ros.qos import LATCHED
from arm_common.ros.worker import ExecutorThread
from arm_tasks.ros.scene_publisher import SceneNode
from arm_tasks.scene.file import load_scene
from arm_testing.ros.markers import MarkerWatcher
from arm_testing.ros.probe import Probe
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_interfaces.msg import NutState

TEXT = ("task_text", 0)


@pytest.fixture
def world(request):
    rclpy.init()
    scene, probe = SceneNode(load_scene(getattr(request, "param", "nut_transfer"))), Probe()
    thread = ExecutorThread(SingleThreadedExecutor(), [scene], lambda: None)
    yield scene, probe.node, probe.until
    thread.stop()
    probe.close()
    scene.destroy_node()
    rclpy.shutdown()


def is_whole(message):
    return any(marker.ns == "nut" for marker in message.markers)


def test_new_text_is_published_alone_and_all_markers_once_it_settles(world):
    _, other, until = world
    early = MarkerWatcher(other, "scene_markers")
    text = other.create_publisher(String, "task_text", LATCHED)
    # the latched message, or the one for the new subscriber; and again once it knows the frames
    until(lambda: len(early.messages) >= 2)
    assert all(map(is_whole, early.messages))
    count = len(early.messages)
    for word in ("one", "two", "three"):
        text.publish(String(data=word))
        until(lambda word=word: TEXT in early.shown and early.shown[TEXT].text == word)
    assert [len(m.markers) for m in early.messages[count:] if not is_whole(m)] == [1, 1, 1]
    late = MarkerWatcher(other, "scene_markers")
    until(lambda: late.shown.keys() == early.shown.keys())
    count = len(late.messages)
    until(lambda: any(map(is_whole, late.messages[count:])))
    assert late.shown[TEXT].text == "three"


def test_new_scene_deletes_the_previous_markers(world):
    scene, other, until = world
    watcher = MarkerWatcher(other, "scene_markers")
    until(lambda: ("nut", 0) in watcher.shown)
    scene.show(load_scene("easel"))
    until(lambda: watcher.shown and ("nut", 0) not in watcher.shown)
    assert not any(namespace.startswith("bolt/") for namespace, _ in watcher.shown)


@pytest.mark.parametrize(
    ("world", "repeats"), [("nut_transfer", True), ("easel", False)], indirect=["world"]
)
def test_nut_pose_is_relayed_unchanged(world, repeats):
    _, other, until = world
    transforms = []
    other.create_subscription(TFMessage, "tf", lambda m: transforms.extend(m.transforms), 10)
    nuts = other.create_publisher(NutState, "nut_world/state", 10)
    state = NutState()
    state.pose.header.frame_id = "elsewhere"
    state.pose.pose.position.x = 0.5
    state.pose.pose.orientation.w = 0.0  # an invalid rotation is relayed, too

    def relayed():
        return [t.transform for t in transforms if t.header.frame_id == "elsewhere"]

    until(nuts.get_subscription_count)
    nuts.publish(state)
    until(relayed)
    assert (relayed()[0].translation.x, relayed()[0].rotation.w) == (0.5, 0.0)
    if repeats:
        until(lambda: len(relayed()) > 1)
    else:
        end = time.monotonic() + 1.2
        until(lambda: time.monotonic() > end)
        assert len(relayed()) == 1
