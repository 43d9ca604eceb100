# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Recordings: every type has its whole definition, and a replay repeats what was recorded."""

import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from arm_common.ros.node_runner import session
from arm_common.ros.qos import LATCHED, TF_STATIC_TOPIC
from arm_studio.ros.player import RecordingPlayer, main
from arm_studio.ros.recorder import RULE, TopicRecorder, schema_text
from arm_studio.ros.recording_file import RecordingFile
from arm_testing.ros.viewed import ViewedNode
from arm_viewer.errors import ViewerError
from geometry_msgs.msg import TransformStamped
from mcap.reader import make_reader
from mcap.writer import Writer
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from arm_testing import domains

RECORDINGS = Path(__file__).parent / "recordings"
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


@pytest.fixture
def recording(ros, urdf, start, tmp_path):
    """A recorder that has begun, and its file."""
    file = tmp_path / "run.mcap"
    ros.show_robot(urdf)
    recorder = start("recorder", "-o", str(file))
    ros.until(lambda: ros.node.count_subscribers("joint_states") > 1, BOUND)
    return recorder, file


@pytest.mark.system
def test_replay_publishes_what_was_recorded(ros, urdf, start, recording):
    recorder, file = recording
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


@pytest.mark.system
def test_replay_shows_the_recording_at_a_port(ros, start):
    """Its beginning waits for the view: another subscriber of joint_states is not one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    player = start("player", str(RECORDINGS / "rosbag2.mcap"), "--viewer-port", str(port))
    assert urlsplit(player.address()).port == port
    ros.until(lambda: "messages played" in player.text(), BOUND)
    assert player.text().index("Browser view") < player.text().index("messages played")
    assert player.end(signal.SIGINT) == 0, player.text()


def recording_of(folder, topic, kind, definition=b""):
    """Return the file of a recording of one message, as another program writes it."""
    file = folder / "other.mcap"
    with file.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        schema = writer.register_schema(kind, "ros2msg", definition)
        channel = writer.register_channel(topic, "cdr", schema)
        writer.add_message(channel, log_time=1, data=b"", publish_time=1)
        writer.finish()
    return file


def test_a_type_of_a_recording_that_is_no_message_is_not_imported(ros, tmp_path):
    file = recording_of(tmp_path, "/joint_states", "antigravity/msg/X")
    with pytest.raises(
        ViewerError, match="messages are antigravity/msg/X, which is not installed"
    ):
        RecordingPlayer(ros.node, file)
    assert "antigravity" not in sys.modules  # it opens a web browser


@pytest.mark.system
def test_recording_of_rosbag2_shows_its_robot_to_a_late_view(urdf):
    with domains.leased() as domain, closing(ViewedNode(domain)) as ros:
        player = RecordingPlayer(ros.node, RECORDINGS / "rosbag2.mcap")
        assert player.play(speed=1e3) == 190 + 1 + 1 + 166
        texts, frames = [], set()
        kind = ros.robot.msg_type
        ros.node.create_subscription(
            kind, "robot_description", lambda m: texts.append(m.data), LATCHED
        )
        ros.node.create_subscription(
            TFMessage,
            TF_STATIC_TOPIC,
            lambda m: frames.update(t.child_frame_id for t in m.transforms),
            LATCHED,
        )
        ros.until(lambda: texts and frames, BOUND)
        assert "<robot" in texts[0]


@pytest.mark.system
def test_killed_recorder_keeps_all_but_the_last_second(ros, start, recording):
    recorder, file = recording

    def recorded():
        with suppress(ViewerError):  # nothing is there yet
            found = [m.content.position[0] for m in RecordingFile(file, ("/joint_states",))]
            return found and round(found[-1], 6)

    ros.show_joints({"waist": 0.1})
    ros.until(lambda: recorded() == 0.1, BOUND)  # while it is being recorded
    ros.show_joints({"waist": 0.2})
    ros.until(lambda: recorded() == 0.2, BOUND)
    recorder.end(signal.SIGKILL)
    recording = RecordingFile(file, ("/joint_states", "/robot_description"))
    assert recorded() == 0.2 and recording.topics["/robot_description"].latched
    assert recording.notices == [f"{file} was not ended: its last second may be missing"]
    recorder = start("recorder", "-o", str(file))
    before = file.read_bytes()
    assert recorder.process.wait(BOUND) == 1
    assert recorder.text() == f"{file}: already exists; choose another name or give --force\n"
    assert file.read_bytes() == before
    recorder = start("recorder", "-o", str(file), "--force")
    ros.until(lambda: "Recording into" in recorder.text(), BOUND)
    assert recorder.end(signal.SIGINT) == 0
    assert file.read_bytes() != before


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
from arm_studio.ros.recorder import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.system
def test_recorder_on_a_full_disk_ends_in_one_sentence(ros, urdf, tmp_path):
    file = tmp_path / "run.mcap"
    ros.show_robot(urdf)
    command = [sys.executable, "-c", FULL, "-o", str(file)]
    full = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def ended():
        ros.show_joints({"waist": 0.1})
        return full.poll() is not None

    try:
        ros.until(ended, BOUND)
        assert full.returncode == 1
        assert full.stderr.read() == f"{file} cannot be written: File too large\n"
    finally:
        full.kill()
        full.communicate()
    assert RecordingFile(file, ("/joint_states",)).topics["/joint_states"].count > 10


def test_recording_goes_on_when_the_clock_is_set_back(tmp_path, monkeypatch):
    """What is recorded later is later, whatever the computer's clock says."""
    file = tmp_path / "run.mcap"
    with session():
        recorder = TopicRecorder(file)
        channel = recorder._writer.register_channel("/a", "cdr", 0)
        recorder._on_message(channel, b"1")
        monkeypatch.setattr(time, "time_ns", lambda: 0)
        recorder._on_message(channel, b"2")
        recorder.close()
        recorder.destroy_node()
    with file.open("rb") as stream:
        found = [m for _, _, m in make_reader(stream).iter_messages()]
    assert [m.data for m in found] == [b"1", b"2"]
    assert found[0].log_time <= found[1].log_time < found[0].log_time + 60e9


@pytest.mark.parametrize("options", [[], ["--loop"]])
def test_recording_without_an_arm_is_no_endless_replay(tmp_path, options, capsys):
    file = recording_of(tmp_path, "/left/task_text", "std_msgs/msg/String", b"string data")
    assert main([str(file), "--no-view", *options]) == 1
    said = capsys.readouterr().err
    assert "contains nothing of an arm in no namespace; its topics are /left/task_text" in said
    assert said.count("\n") == 1


def test_invalid_recording_is_rejected_in_one_sentence(tmp_path):
    for name, data, words in (
        ("nothing.mcap", None, "cannot be read"),
        ("text.mcap", b"not a recording at all", "is not an MCAP file"),
        ("short.txt", b"hi", "is not an MCAP file"),
        ("cut.mcap", b"\x89MCAP0\r\n", "contains no messages; .* was not ended"),
    ):
        file = tmp_path / name
        if data is not None:
            file.write_bytes(data)
        with pytest.raises(ViewerError, match=words):
            RecordingPlayer(None, file)
