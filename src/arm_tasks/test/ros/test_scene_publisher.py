# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The markers of a scene: all for a new subscriber, one for a new text."""

import itertools
import time
from contextlib import closing

import numpy as np
import pytest
import rclpy
from arm_common.ros.qos import LATCHED
from arm_tasks.errors import shipped
from arm_tasks.ros.scene_publisher import SceneFollower, SceneNode, _time, scene_marks
from arm_tasks.scene.editing import SceneEditor
from arm_tasks.scene.file import load_scene
from arm_testing.ros.markers import MarkerWatcher
from arm_testing.ros.probe import Probe, spun
from rclpy.duration import Duration
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_interfaces.msg import NutState

TEXT = ("task_text", 0)


@pytest.fixture
def world(request):
    shown = load_scene(getattr(request, "param", "nut_transfer"))
    with spun(lambda: SceneNode(shown)) as (scene,), closing(Probe()) as probe:
        yield scene, probe.node, probe.until


def without_table(data):
    editor = SceneEditor(data)
    assert editor.remove("table") == ""
    return editor.data


def is_complete(message):
    return {"nut", "bolt/upper_bolt", "bolt/lower_bolt"} <= {
        marker.ns for marker in message.markers
    }


def test_late_subscribers_get_the_complete_scene_while_the_text_changes(world):
    _, other, until = world
    early = MarkerWatcher(other, "scene_markers")
    texts = MarkerWatcher(other, "task_markers")
    text = other.create_publisher(String, "task_text", LATCHED)
    until(lambda: early.messages)
    for word in ("one", "two", "three"):
        text.publish(String(data=word))
        until(lambda word=word: TEXT in texts.shown and texts.shown[TEXT].text == word)
        late = MarkerWatcher(other, "scene_markers")
        until(lambda late=late: late.messages)
        assert all(map(is_complete, late.messages))
        # RViz places a marker that is locked to its frame once it knows the frame
        assert all(marker.frame_locked for marker in late.messages[-1].markers)
        late.close()
    assert len(early.messages) == 1  # new subscribers cost the others nothing
    assert all(map(is_complete, early.messages))


def test_texts_set_the_width_of_a_space_for_rviz(world):
    _, other, until = world
    names, texts = MarkerWatcher(other, "scene_markers"), MarkerWatcher(other, "task_markers")
    other.create_publisher(String, "task_text", LATCHED).publish(String(data="two words"))
    until(lambda: names.shown and TEXT in texts.shown)
    shown = [*names.shown.values(), *texts.shown.values()]
    scales = [marker.scale for marker in shown if marker.text]
    assert len(scales) == 3  # of two bolts and of the task
    assert all(scale.x == pytest.approx(0.35 * scale.z) for scale in scales)


def test_no_object_near_a_bolt_rises_as_high_as_its_name():
    scene = load_scene("nut_transfer")
    boxes = [(obj, part) for obj in scene.objects.values() for part in obj.parts]
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    names = [numbered.mark for numbered in scene_marks(scene) if numbered.mark.text]
    assert len(names) == 2
    for mark, (obj, part) in itertools.product(names, boxes):
        place = scene.frames[obj.name] @ part.pose
        points = corners * part.size @ place[:3, :3].T + place[:3, 3]
        above, apart = mark.pose[2, 3] - mark.scale[2] / 2.0, points - mark.pose[:3, 3]
        near = np.linalg.norm(apart[:, :2], axis=1) < 0.06
        assert (points[near, 2] < above).all()


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
    scene, other, until = world
    transforms = []
    other.create_subscription(TFMessage, "/tf", lambda m: transforms.extend(m.transforms), 10)
    nuts = other.create_publisher(NutState, "nut_world/state", 10)
    state = NutState()
    state.pose.header.stamp = later(other, 0.0)
    state.pose.header.frame_id = "elsewhere"
    state.pose.pose.position.x = 0.5
    state.pose.pose.orientation.w = 0.0  # an invalid rotation is relayed, too

    def relayed():
        return [t.transform for t in transforms if t.header.frame_id == "elsewhere"]

    (tf,) = (each for each in scene.publishers if each.topic_name == "/tf")
    until(lambda: nuts.get_subscription_count() and tf.get_subscription_count())
    nuts.publish(state)
    until(relayed)
    assert (relayed()[0].translation.x, relayed()[0].rotation.w) == (0.5, 0.0)
    if repeats:
        until(lambda: len(relayed()) > 1)
    else:
        end = time.monotonic() + 1.2
        until(lambda: time.monotonic() > end)
        assert len(relayed()) == 1


def later(node, seconds):
    """Return a stamp after now."""
    return (node.get_clock().now() + Duration(seconds=seconds)).to_msg()


def test_the_nut_never_goes_back_in_time_and_has_the_times_of_its_world(world):
    """A world that is late is overtaken by the scene's start, which is stamped with now."""
    _, other, until = world
    stamps = []

    def on_tf(message):
        stamps.extend(_time(t) for t in message.transforms if t.child_frame_id == "nut")

    other.create_subscription(TFMessage, "/tf", on_tf, 100)
    nuts = other.create_publisher(NutState, "nut_world/state", 10)
    until(lambda: stamps and nuts.get_subscription_count())
    state, sent = NutState(), set()
    state.pose.header.frame_id = "base_link"
    nuts.publish(state)  # before its first tf
    for delay in (-2.3, -1.0, -3.0, 0.1, 0.2, 0.15):
        state.pose.header.stamp = later(other, delay)
        sent.add(state.pose.header.stamp.sec * 10**9 + state.pose.header.stamp.nanosec)
        nuts.publish(state)
    newest = max(sent)
    until(lambda: stamps.count(newest) > 2)  # it is repeated
    assert all(stamps) and stamps == sorted(stamps)
    after = stamps[next(i for i, stamp in enumerate(stamps) if stamp in sent) :]
    assert set(after) <= sent


def test_all_frames_of_a_scene_have_the_prefix():
    shown = load_scene("nut_transfer")
    with spun(lambda: SceneNode(shown, "left_")), closing(Probe()) as probe:
        frames = set()

        def on_tf(message):
            for stamped in message.transforms:
                frames.update((stamped.header.frame_id, stamped.child_frame_id))

        watcher = MarkerWatcher(probe.node, "scene_markers")
        for topic, qos in (("/tf", 10), ("/tf_static", LATCHED)):
            probe.node.create_subscription(TFMessage, topic, on_tf, qos)
        found = {"left_base_link", "left_nut", "left_upper_bolt", "left_table"}
        probe.until(lambda: frames >= found and watcher.shown)
        frames |= {marker.header.frame_id for marker in watcher.shown.values()}
        assert all(frame.startswith("left_") for frame in frames)


class TestSceneFollower:
    """What becomes of the scene while its file is written, well and badly."""

    @pytest.fixture
    def followed(self, tmp_path):
        file = tmp_path / "mine.yaml"
        file.write_bytes(shipped("scenes")["nut_transfer"].read_bytes())
        self.why, self.texts = "", {"scene_file/status": [], "scene_file/text": []}

        makers = lambda: SceneNode(load_scene(file)), lambda: rclpy.create_node("scene_file")
        with spun(*makers) as (scene, node), closing(Probe()) as probe:
            SceneFollower(node, file, "", scene.show, lambda: self.why)
            for topic, found in self.texts.items():
                keep = lambda message, found=found: found.append(message.data)  # noqa: E731
                probe.node.create_subscription(String, topic, keep, LATCHED)
            yield file, MarkerWatcher(probe.node, "scene_markers"), probe

    def test_file_is_followed_and_the_last_good_scene_stays(self, followed):
        file, watcher, probe = followed
        status, text, parents = *self.texts.values(), {}

        def on_static(message):
            parents.update((t.child_frame_id, t.header.frame_id) for t in message.transforms)

        probe.node.create_subscription(TFMessage, "/tf_static", on_static, LATCHED)
        probe.until(lambda: ("nut", 0) in watcher.shown and "" in status)
        good = file.read_bytes()
        file.write_bytes(good.replace(b"pitch_mm: 1.27", b"pitch_mm: one", 1))
        probe.until(lambda: "pitch_mm" in status[-1])
        assert ("nut", 0) in watcher.shown and text == []
        file.write_bytes(without_table(good))
        probe.until(lambda: ("boxes/table", 0) not in watcher.shown and status[-1] == "")
        probe.until(lambda: parents.get("table") == "removed")
        probe.until(lambda: text and "table:" not in text[-1])
        assert parents["upper_bolt"] == "base_link"
        file.write_bytes(good)
        probe.until(lambda: ("boxes/table", 0) in watcher.shown)
        probe.until(lambda: parents["table"] == "base_link")

    def test_what_a_page_edits_waits_while_the_scene_must_stay(self, followed):
        file, watcher, probe = followed
        status, text = self.texts.values()
        probe.until(lambda: "" in status)
        self.why = "a task is running"
        edited = without_table(file.read_bytes()).decode()
        pages = probe.node.create_publisher(String, "scene_file/edited", 10)
        probe.until(pages.get_subscription_count)
        pages.publish(String(data=edited))
        probe.until(lambda: "a task is running" in status[-1])
        assert ("boxes/table", 0) in watcher.shown and text == []
        self.why = ""
        probe.until(lambda: ("boxes/table", 0) not in watcher.shown and text == [edited])
        probe.until(lambda: status[-1] == "")
