# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Recordings of other tools, damaged ones, and those during which a clock was set."""

import io
import itertools
import random
from pathlib import Path

import lz4.frame
import numpy as np
import pytest
import zstandard
from arm_studio.ros.export import main as export
from arm_studio.ros.recorded_scenes import scene_topics, scenes
from arm_studio.ros.recording_file import LONGEST_PAUSE, RecordingFile, timeline
from arm_viewer.errors import ViewerError
from geometry_msgs.msg import TransformStamped
from mcap.data_stream import RecordBuilder
from mcap.reader import NonSeekingReader
from mcap.records import Chunk
from mcap.writer import Writer
from PIL import Image
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

RECORDINGS = Path(__file__).parent / "recordings"
TOPICS = ("/robot_description", "/joint_states", "/tf", "/tf_static")
SECOND = 10**9


@pytest.mark.parametrize(
    ("name", "topic", "reason", "counts"),
    [
        (
            "foxglove_tf",
            "/tf",
            "foxglove.FrameTransforms in the encoding protobuf",
            (1, 190, 166, 1),
        ),
        (
            "ros1name",
            "/robot_description",
            "std_msgs/String in the encoding ros1",
            (1, 190, 166, 1),
        ),
        ("schemaless", "/joint_states", "a message without a schema", (1, 0, 166, 1)),
        ("jsonros", "/joint_states", "JointState in the encoding json", (1, 0, 166, 1)),
        ("nostats", "", "", (1, 190, 166, 1)),
        ("rosbag2", "", "", (1, 190, 166, 1)),
    ],
)
def test_what_is_no_message_of_ros_2_is_named_and_left_out(name, topic, reason, counts):
    recording = RecordingFile(RECORDINGS / f"{name}.mcap", TOPICS)
    read = [message.topic for message in recording]
    assert tuple(read.count(each) for each in TOPICS) == counts
    assert {n: t.count for n, t in recording.topics.items()} == {
        n: count for n, count in zip(TOPICS, counts, strict=True) if count
    }
    assert len(recording.notices) == bool(topic)
    for notice in recording.notices:
        assert f": {topic} is left out: " in notice and reason in notice
    latched = {n for n, found in recording.topics.items() if found.latched}
    assert latched == set(TOPICS if name == "rosbag2" else ("/robot_description", "/tf_static"))


def test_profiles_of_rosbag2_in_words_count_too(tmp_path):
    profile = "- durability: {}\n  depth: 1\n"
    for words, latched in (
        (["transient_local"], True),
        (["transient_local", "volatile"], False),
        ([2], False),
        (["{"], False),
        (["2001-99-99"], False),
        (["[" * 5000], False),
        ([], False),
    ):
        profiles = "".join(profile.format(word) for word in words)
        file = written(tmp_path, [(0, 0, "/a")], {"offered_qos_profiles": profiles})
        assert RecordingFile(file, ("/a",)).topics["/a"].latched is latched


def written(folder, stamped, metadata=None, chunk_size=1 << 20):
    """Write messages: time of recording and publication [s], and topic."""
    file = folder / "run.mcap"
    with file.open("wb") as stream:
        writer = Writer(stream, chunk_size=chunk_size)
        writer.start(profile="ros2", library="test")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        channels = {}
        for number, (logged, published, topic) in enumerate(stamped):
            if topic not in channels:
                channels[topic] = writer.register_channel(topic, "cdr", schema, metadata or {})
            data = serialize_message(String(data=f"{number} " + "x" * 50))
            times = (9000 + logged) * SECOND, (9000 + published) * SECOND if published else 0
            writer.add_message(channels[topic], int(times[0]), data, int(times[1]))
        writer.finish()
    return file


def numbers(recording):
    return [int(message.content.data.split()[0]) for message in recording]


def run(count, start=0.0):
    return [start + 0.1 * k for k in range(1, count + 1)]


CLOCKS = {  # times of recording, times of publication
    "set back": (run(50) + run(50, -3600), run(100)),
    "set back for all": (run(50) + run(50, -3600), run(50) + run(50, -3600)),
    "set back while recording alone": (run(100), run(50) + run(50, -3600)),
    "set forward for all": (run(50) + run(50, 3600), run(50) + run(50, 3600)),
    "forward and back": (run(40) + run(30, 3600) + run(30, 7), run(100)),
    "without times of publication": (run(100), [0] * 100),
    "of two computers": (run(100), [t - 50 * (k % 2) for k, t in enumerate(run(100))]),
}


@pytest.mark.parametrize(("logged", "published"), CLOCKS.values(), ids=CLOCKS)
def test_clock_that_is_set_ruins_neither_order_nor_pace(tmp_path, logged, published):
    topics = ["/a" if k % 3 else "/b" for k in range(100)]
    stamped = list(zip(logged, published, topics, strict=True))
    recording = RecordingFile(written(tmp_path, stamped), ("/a", "/b"))
    assert numbers(recording) == list(range(100))
    times = [message.time for message in recording]
    assert (np.diff(times) >= 0).all() and np.diff(times).max() <= LONGEST_PAUSE
    assert 9.8 <= recording.duration <= 9.9 + LONGEST_PAUSE


def test_messages_in_the_order_of_their_topics_are_sorted_by_time(tmp_path):
    stamped = [(t, t, topic) for topic in ("/a", "/b") for t in run(50)]
    recording = RecordingFile(written(tmp_path, stamped), ("/a", "/b"))
    expected = [number for k in range(50) for number in (k, 50 + k)]
    assert numbers(recording) == expected and recording.duration == pytest.approx(4.9)


def test_rare_topic_just_after_the_clock_was_set_back_stays_there():
    stamps = [(1, t * SECOND) for t in range(1, 9)] + [(2, -50 * SECOND), (1, -49 * SECOND)]
    order, times = timeline(np.array([(c, t, t) for c, t in stamps]))
    assert order.tolist() == list(range(10)) and times[-1] == pytest.approx(8.0)


def test_recording_during_which_the_clock_was_set_back_is_exported(tmp_path):
    """The steps of the task come in their order; the clock was set back within the fourth."""
    file, topics = RECORDINGS / "demo_back.mcap", scene_topics()
    recording = RecordingFile(file, topics)
    assert recording.duration == pytest.approx(9.17, abs=0.01) and not recording.notices
    moments = list(np.arange(2.0, recording.duration, 0.1))
    found = list(scenes(recording, moments, "tool0", topics))
    assert len(found) == len(moments)
    steps = [int(s.text.split()[0]) for s in found if " of 11" in s.text]
    assert steps == sorted(steps) and (steps[0], steps[-1]) == (1, 11)
    places = [scene.frames["tool0"] for scene in found]
    moves = [np.abs(b - a).max() > 1e-3 for a, b in itertools.pairwise(places)]
    assert sum(moves) == 10 and moves.index(True) + 10 == len(moves) - moves[::-1].index(True)
    assert export([str(file), str(tmp_path / "run.gif"), "--width", "64"]) == 0
    film = Image.open(tmp_path / "run.gif")
    assert film.n_frames > 70
    assert len({film.seek(k) or film.convert("RGB").tobytes() for k in range(film.n_frames)}) > 10


def test_recording_without_statistics_is_exported(tmp_path):
    file = tmp_path / "run.svg"
    assert export([str(RECORDINGS / "nostats.mcap"), str(file)]) == 0 and file.stat().st_size


def test_damaged_recording_is_used_as_far_as_it_is_sound(tmp_path, capsys):
    words = [str(RECORDINGS / "corrupt.mcap"), str(tmp_path / "run.gif")]
    assert export(words) == 1  # its only chunk is damaged
    said = capsys.readouterr().err
    assert "contains no messages; " in said and "is damaged after 0 messages" in said
    assert said.count("\n") == 1
    file = written(tmp_path, [(t, t, "/a") for t in run(200)], chunk_size=1000)
    data = bytearray(file.read_bytes())
    chunk = data.index(b"\x28\xb5\x2f\xfd", len(data) // 3)  # compressed
    data[chunk + 4 : chunk + 40] = b"\xff" * 36
    file.write_bytes(data)
    recording = RecordingFile(file, ("/a",))
    found = numbers(recording)
    assert found == list(range(len(found))) and 10 < len(found) < 190
    (notice,) = recording.notices
    assert notice == f"{file} is damaged after {len(found)} messages; they are used"


@pytest.mark.parametrize("compress", [zstandard.compress, lz4.frame.compress])
@pytest.mark.parametrize("claimed", [1 << 33, 1 << 10])
def test_chunk_that_would_fill_the_memory_is_damage(tmp_path, compress, claimed):
    """A few bytes can be a gigabyte of zeros; the chunk here, before all others, is smaller."""
    file = written(tmp_path, [(t, t, "/a") for t in run(20)])
    kind = compress.__module__.split(".")[0].replace("zstandard", "zstd")
    builder = RecordBuilder()
    Chunk(kind, compress(bytes(1 << 20)), 0, 0, 0, claimed).write(builder)
    whole = file.read_bytes()
    header = 8 + 9 + int.from_bytes(whole[9:17], "little")  # magic; opcode and length
    file.write_bytes(whole[:header] + builder.end() + whole[header:])
    with pytest.raises(ViewerError, match="is damaged after 0 messages"):
        RecordingFile(file, ("/a",))


@pytest.mark.parametrize("chunk_size", [1, 400, 1 << 20])
def test_cut_recording_contains_what_came_before(tmp_path, chunk_size):
    file = written(tmp_path, [(t, t, "/a") for t in run(20)], chunk_size=chunk_size)
    whole, counts = file.read_bytes(), set()
    for length in range(0, len(whole), 7):
        file.write_bytes(whole[:length])
        try:
            recording = RecordingFile(file, ("/a",))
        except ViewerError as error:
            assert length < 500 or "contains no messages" in str(error)
            continue
        found = numbers(recording)
        assert found == list(range(len(found)))
        assert recording.notices
        counts.add(len(found))
    assert max(counts) == 20 and (len(counts) >= 5 or chunk_size > 1000)


def test_flipped_bits_are_no_traceback(tmp_path):
    whole = written(tmp_path, [(t, t, "/a") for t in run(20)], chunk_size=300).read_bytes()
    file, chance = tmp_path / "run.mcap", random.Random(3)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        file.write_bytes(data)
        try:
            list(RecordingFile(file, ("/a",)))
        except ViewerError as error:
            assert str(error)


def test_files_of_other_kinds_are_named_as_what_they_are(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    (folder / "metadata.yaml").touch()
    (tmp_path / "old.bag").write_bytes(b"#ROSBAG V2.0\n")
    (folder / "bag_0.db3").write_bytes(b"SQLite format 3\0" + bytes(100))
    for path, words in (
        (tmp_path / "old.bag", "is a bag of ROS 1: convert it"),
        (folder / "bag_0.db3", r"is a database of rosbag2 \(.db3\): convert it"),
        (folder, "is a folder of rosbag2: .*bag_0.db3 is a database"),
        (tmp_path, "is a folder: give an MCAP file in it"),
    ):
        with pytest.raises(ViewerError, match=words):
            RecordingFile(path, TOPICS)
    (folder / "bag_0.mcap").touch()
    with pytest.raises(ViewerError, match=r"is a folder of rosbag2: .* such as bag_0\.mcap"):
        RecordingFile(folder, TOPICS)


def test_message_of_another_form_than_its_type_is_left_out(tmp_path):
    file = tmp_path / "run.mcap"
    with io.BytesIO() as stream:
        writer = Writer(stream)
        writer.start()
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        channel = writer.register_channel("/a", "cdr", schema)
        for data in (serialize_message(String(data="0")), b"", b"\0\1\0\0\xff\xff\xff\x7f"):
            writer.add_message(channel, SECOND, data, SECOND)
        writer.finish()
        file.write_bytes(stream.getvalue())
    recording = RecordingFile(file, ("/a",))
    assert numbers(recording) == [0]
    (notice,) = recording.notices
    assert "/a is left out: a message is no std_msgs/msg/String" in notice


def test_transforms_that_cannot_be_are_left_out_of_an_export(tmp_path):
    frames = [("a", "b"), ("b", "a"), ("", "c"), ("a", "infinite"), ("a", "without rotation")]
    bad = [TransformStamped(child_frame_id=child) for _, child in frames]
    for stamped, (parent, child) in zip(bad, frames, strict=True):
        stamped.header.frame_id = parent
        stamped.transform.translation.x = np.inf if child == "infinite" else 0.0
        stamped.transform.rotation.w = 0.0 if child == "without rotation" else 1.0
    file, topics = tmp_path / "run.mcap", scene_topics()
    channels = {}
    with (RECORDINGS / "nostats.mcap").open("rb") as source, file.open("wb") as stream:
        writer = Writer(stream)
        writer.start(profile="ros2", library="test")
        for schema, channel, message in NonSeekingReader(source).iter_messages():
            if channel.id not in channels:
                kind = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.id] = writer.register_channel(channel.topic, "cdr", kind)
            time, data = message.log_time, message.data
            if channel.topic == "/tf":
                hostile = serialize_message(TFMessage(transforms=bad))
                writer.add_message(channels[channel.id], time, hostile, time)
            writer.add_message(channels[channel.id], time, data, time)
        writer.finish()
    recording = RecordingFile(file, topics)
    assert list(scenes(recording, [2.0, 5.0], "tool0", topics))
    assert len(recording.notices) == 4 and all("is left out: " in n for n in recording.notices)
