# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Recordings: every type has its whole definition, and a replay repeats what was recorded."""

import signal
import sys
from contextlib import closing

import pytest
from arm_common.ros.qos import LATCHED, TF_STATIC_TOPIC
from arm_testing import domains
from arm_testing.ros.viewed import ViewedNode
from arm_viewer.errors import ViewerError
from arm_viewer.ros.recording.player import RecordingPlayer
from arm_viewer.ros.recording.recorder import RULE, schema_text
from geometry_msgs.msg import TransformStamped
from mcap.reader import make_reader
from mcap.writer import Writer
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

BOUND = 30.0  # s
FILES = {
    "pkg/Path": "# a path\nuint8 DONE=1\nstd_msgs/Header header\nPoint[] points\nstring<=9 name\n",
    "pkg/Point": "float64 x 0.0  # with a default\nfloat64[3] more\nother/Deep[<=4] deep\n",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec\n",
    "other/Deep": "Point p\n",
    "other/Point": "bool plain\n",
}


def test_schema_starts_with_the_recorded_type_and_has_every_type_once():
    text = schema_text("pkg/Path", FILES.__getitem__)
    first, *others = text.split(f"\n{RULE}\nMSG: ")
    assert first == FILES["pkg/Path"]
    found = dict(other.split("\n", 1) for other in others)
    assert found == {name: file for name, file in FILES.items() if name != "pkg/Path"}


def publish_fixed(ros, name):
    frame = TransformStamped(child_frame_id=name)
    frame.header.frame_id = "base_link"
    publisher = ros.node.create_publisher(TFMessage, TF_STATIC_TOPIC, LATCHED)
    publisher.publish(TFMessage(transforms=[frame]))
    return publisher


@pytest.mark.system
def test_replay_publishes_what_was_recorded(ros, urdf, start, tmp_path):
    file = tmp_path / "run.mcap"
    ros.show_robot(urdf)
    recorder = start("recorder", "-o", str(file))
    ros.until(lambda: ros.node.count_subscribers("joint_states") > 1, BOUND)
    fixed = [publish_fixed(ros, name) for name in ("bolt", "camera")]  # each by its own publisher
    ros.until(lambda: all(p.get_subscription_count() for p in fixed), BOUND)
    sent = [0.1 * tenth for tenth in range(30)]
    for number, q in enumerate(sent):
        ros.show_joints({"waist": q})
        ros.until(lambda number=number: len(ros.joint_states) > number, BOUND)
    assert recorder.end(signal.SIGINT) == 0, recorder.text()
    with file.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    schemas = {s.name: s for s in summary.schemas.values()}
    assert schemas["sensor_msgs/msg/JointState"].encoding == "ros2msg"
    assert b"MSG: std_msgs/Header" in schemas["sensor_msgs/msg/JointState"].data
    topics = {c.topic: c.metadata["latched"] for c in summary.channels.values()}
    assert topics["/robot_description"] == "true"
    assert topics["/joint_states"] == "false"
    with domains.leased() as domain, closing(ViewedNode(domain)) as ros:
        assert RecordingPlayer(ros.node, file).play(speed=1e3) >= 31
        texts = []
        ros.node.create_subscription(
            ros.robot.msg_type, "robot_description", lambda m: texts.append(m.data), LATCHED
        )
        ros.until(lambda: texts, BOUND)
        frames = set()
        ros.node.create_subscription(
            TFMessage,
            TF_STATIC_TOPIC,
            lambda m: frames.update(t.child_frame_id for t in m.transforms),
            QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        )
        ros.until(lambda: frames >= {"bolt", "camera"}, BOUND)
        assert texts[0] == urdf
        ros.until(lambda: ros.joint_states, BOUND)
        assert {round(m.position[0], 6) for m in ros.joint_states} <= {round(q, 6) for q in sent}


def test_a_type_of_a_recording_that_is_no_message_is_not_imported(ros, tmp_path, capsys):
    file = tmp_path / "downloaded.mcap"
    with file.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        schema = writer.register_schema("antigravity/msg/X", "ros2msg", b"")
        channel = writer.register_channel("/joint_states", "cdr", schema)
        writer.add_message(channel, log_time=1, data=b"", publish_time=1)
        writer.finish()
    assert RecordingPlayer(ros.node, file).play(1.0) == 0
    sentence = (
        "/joint_states is not played: antigravity/msg/X is not a message type installed here\n"
    )
    assert capsys.readouterr().err == sentence
    assert "antigravity" not in sys.modules  # it opens a web browser


def test_invalid_recording_is_rejected_in_one_sentence(tmp_path):
    for name, data, words in (
        ("nothing.mcap", None, "cannot be read"),
        ("text.mcap", b"not a recording at all", "not a complete MCAP file"),
        ("short.txt", b"hi", "not a complete MCAP file"),
        ("cut.mcap", b"\x89MCAP0\r\n", "not a complete MCAP file"),
    ):
        file = tmp_path / name
        if data is not None:
            file.write_bytes(data)
        with pytest.raises(ViewerError, match=words):
            RecordingPlayer(None, file).play(1.0)
