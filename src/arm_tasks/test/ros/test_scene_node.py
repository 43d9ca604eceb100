# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The markers of a scene: all for who comes, little for a new text, nothing left over."""

import time

import pytest
import rclpy
from arm_common.ros.qos import LATCHED, MARKERS
from arm_tasks.ros.scene_publisher import SceneNode
from arm_tasks.scene.file import load_scene
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

BOUND = 60.0  # s
TEXT = ("task_text", 0)


class Watcher:
    """Markers as whoever draws them keeps them."""

    def __init__(self, node):
        self.shown, self.messages = {}, []
        node.create_subscription(MarkerArray, "scene_markers", self.on_markers, MARKERS)

    def on_markers(self, message):
        self.messages.append(message)
        for marker in message.markers:
            if marker.action == Marker.DELETEALL:
                self.shown.clear()
            elif marker.action == Marker.ADD:
                self.shown[marker.ns, marker.id] = marker
            else:
                self.shown.pop((marker.ns, marker.id), None)


@pytest.fixture
def world():
    """A scene node, and another node that looks at it; and what spins until something is true."""
    rclpy.init()
    scene, other = SceneNode(load_scene("nut_transfer")), rclpy.create_node("watcher")
    executor = SingleThreadedExecutor()
    executor.add_node(scene)
    executor.add_node(other)

    def until(condition):
        end = time.monotonic() + BOUND
        while not condition():
            assert time.monotonic() < end
            executor.spin_once(timeout_sec=0.05)

    yield scene, other, until
    executor.shutdown()
    scene.destroy_node()
    other.destroy_node()
    rclpy.shutdown()


def is_whole(message):
    return any(marker.ns == "nut" for marker in message.markers)


def test_a_text_is_sent_alone_and_all_again_when_it_stays(world):
    _, other, until = world
    early = Watcher(other)
    text = other.create_publisher(String, "task_text", LATCHED)
    # That for who came, which may take the latched one's place, and once more when it knows the
    # frames.
    until(lambda: len(early.messages) >= 2)
    assert all(map(is_whole, early.messages))
    count = len(early.messages)
    for word in ("one", "two", "three"):
        text.publish(String(data=word))
        until(lambda word=word: TEXT in early.shown and early.shown[TEXT].text == word)
    assert [len(m.markers) for m in early.messages[count:] if not is_whole(m)] == [1, 1, 1]
    late = Watcher(other)
    until(lambda: late.shown.keys() == early.shown.keys())
    count = len(late.messages)
    until(lambda: any(map(is_whole, late.messages[count:])))
    assert late.shown[TEXT].text == "three"


def test_another_scene_leaves_nothing_of_the_one_before(world):
    scene, other, until = world
    watcher = Watcher(other)
    until(lambda: ("nut", 0) in watcher.shown)
    scene.show(load_scene("easel"))
    until(lambda: watcher.shown and ("nut", 0) not in watcher.shown)
    assert not any(namespace.startswith("bolt/") for namespace, _ in watcher.shown)
