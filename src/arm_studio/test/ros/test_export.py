# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Recordings as pictures: animations move, and the arm looks as drawn by `./arm draw`."""

import io
import xml.etree.ElementTree as ET
from unittest.mock import Mock

import numpy as np
import pytest
from arm_studio.pictures.drawing import posed
from arm_studio.ros.export import main
from arm_studio.ros.player import RecordingPlayer
from arm_studio.ros.recorded_scenes import primitives_in, scene_topics
from arm_studio.ros.recorded_scenes import scenes as scenes_in
from arm_studio.ros.recording_file import RecordingFile
from arm_testing.ros.viewed import tf_message
from PIL import Image

from arm_description import load_robot

SECOND = 10**9
START = 1_700_000_000 * SECOND


@pytest.fixture(scope="module")
def model():
    return load_robot("nut_arm")


def tf(model, q):
    values = dict(zip(model.joint_names, q, strict=True))
    return tf_message(posed(model, values).poses)


def ball(x):
    from std_msgs.msg import ColorRGBA
    from visualization_msgs.msg import Marker, MarkerArray

    marker = Marker(ns="ball", type=Marker.SPHERE, color=ColorRGBA(r=1.0, a=1.0))
    marker.header.frame_id = "base_link"
    marker.pose.position.x, marker.pose.position.z, marker.pose.orientation.w = x, 0.05, 1.0
    marker.scale.x = marker.scale.y = marker.scale.z = 0.06
    return MarkerArray(markers=[marker])


def scenes(file, moments, tool, namespace=""):
    topics = scene_topics(namespace)
    return scenes_in(RecordingFile(file, topics), moments, tool, topics)


def write(file, timed):
    """Write messages: (seconds since the beginning, topic, message)."""
    from mcap.writer import Writer
    from rclpy.serialization import serialize_message

    with file.open("wb") as stream:
        writer = Writer(stream)
        writer.start(profile="ros2", library="test")
        for seconds, topic, message in timed:
            module, name = type(message).__module__.split(".")[0], type(message).__name__
            schema = writer.register_schema(f"{module}/msg/{name}", "ros2msg", b"")
            channel = writer.register_channel(topic, "cdr", schema, {})
            at = START + int(seconds * SECOND)
            data = serialize_message(message)
            writer.add_message(channel, log_time=at, data=data, publish_time=at)
        writer.finish()


@pytest.fixture(scope="module")
def run(model, tmp_path_factory):
    """Path of a recording: the waist turns by a radian in two seconds, then a ball is shown."""
    from std_msgs.msg import String

    file = tmp_path_factory.mktemp("run") / "run.mcap"
    turned = [(0.1 * i, "/tf", tf(model, (0.05 * i, 0.0, 0.0, 0.0))) for i in range(1, 21)]
    write(
        file,
        [
            (0.0, "/robot_description", String(data=model.to_urdf())),
            *turned,
            (2.1, "/scene_markers", ball(0.2)),
            (2.1, "/task_text", String(data="a <word>")),
            (2.2, "/tf", tf(model, (1.0, 0.0, 0.0, 0.0))),
        ],
    )
    return file


def exported(run, tmp_path, name, *options):
    file = tmp_path / name
    assert main([str(run), str(file), *options]) == 0
    return file.read_bytes()


def test_recorded_arm_looks_like_its_robot_file(run, model):
    """The recording's URDF and tf give the same picture as the robot file."""
    *_, scene = scenes(run, [2.0], "tool0")
    values = dict(zip(model.joint_names, (1.0, 0.0, 0.0, 0.0), strict=True))
    recorded, own = primitives_in(scene).solids, posed(model, values).solids
    assert len(recorded) == len(own)
    for one, other in zip(recorded, own, strict=True):
        assert one.kind == other.kind
        np.testing.assert_allclose(one.size, other.size, atol=1e-6)
        np.testing.assert_allclose(one.T, other.T, atol=1e-5)  # digits of the URDF
        np.testing.assert_allclose(one.colour, other.colour, atol=1e-3)


def test_scene_contains_the_tool_path_and_the_latest_messages(run, model):
    *_, scene = scenes(run, [0.0, 2.2], "tool0")
    tips = [model.fk((q, 0.0, 0.0, 0.0))[:3, 3] for q in (0.05, 1.0)]
    np.testing.assert_allclose(scene.path[[0, -1]], tips, atol=1e-9)
    assert scene.text == "a <word>"
    kinds = [solid.kind for solid in primitives_in(scene).solids]
    assert kinds.count("sphere") == 1
    *_, earlier = scenes(run, [1.0], "tool0")
    assert "sphere" not in [solid.kind for solid in primitives_in(earlier).solids]
    assert len(earlier.path) == 1  # the way counts from the first moment on


def test_scene_and_replay_are_those_of_the_arm_in_a_namespace(model, tmp_path):
    from std_msgs.msg import String

    file, description = tmp_path / "two.mcap", String(data=model.to_urdf())
    write(
        file,
        [
            (0.0, "/left/robot_description", description),
            (0.1, "/tf", tf(model, (0.5, 0.0, 0.0, 0.0))),
            (0.2, "/left/task_text", String(data="of the left")),
            (0.3, "/right/task_text", String(data="of the right")),
        ],
    )
    assert RecordingPlayer(Mock(), file, "/left").play(1e6) == 3
    assert RecordingPlayer(Mock(), file).play(1e6) == 1  # /tf
    (scene,) = scenes(file, [0.3], "tool0", "/left")
    assert scene.text == "of the left"
    assert not list(scenes(file, [0.3], "tool0"))


def test_animation_moves_within_a_fixed_frame(run, tmp_path):
    film = Image.open(io.BytesIO(exported(run, tmp_path, "run.gif", "--width", "200")))
    assert film.n_frames == 22  # ten a second, from the first tf on
    assert film.info["duration"] == 100
    pictures = []
    for index in (0, film.n_frames - 1):
        film.seek(index)
        pictures.append(np.asarray(film.convert("RGB")).astype(int))
    assert film.size[0] == 200
    differs = np.abs(pictures[0] - pictures[1]).max(axis=2) > 40
    assert 0.01 < differs.mean() < 0.3
    assert not differs[:5].any() and not differs[:, :3].any()  # neither paper nor grid moved


def test_faster_animation_has_fewer_frames(run, tmp_path):
    film = Image.open(io.BytesIO(exported(run, tmp_path, "run.gif", "--speed=4", "--width=64")))
    assert film.n_frames == 5


def test_camera_that_follows_a_frame_keeps_it_in_the_middle(run, tmp_path):
    """The link that is followed moves, and so does what is fixed in the other animation."""
    options = ("--width=160", "--follow=elbow_link", "--field=0.5", "--view=top")
    film = Image.open(io.BytesIO(exported(run, tmp_path, "run.gif", *options)))
    assert film.size == (160, 90)
    for index in (0, film.n_frames - 1):
        film.seek(index)
        middle = np.asarray(film.convert("RGB"))[45 - 20 : 45 + 20, 80 - 35 : 80 + 35]
        assert (middle < 200).any()


def test_frame_that_is_not_recorded_cannot_be_followed(run, tmp_path, capsys):
    assert main([str(run), str(tmp_path / "run.gif"), "--follow", "nut"]) == 1
    assert "has no frame nut at" in capsys.readouterr().err


def test_recorded_simulation_is_drawn_where_it_is_true(run, model, tmp_path):
    from std_msgs.msg import String

    true = tf_message({"ground_truth/elbow_link": np.diag([1.0, 1.0, 1.0, 1.0])})
    file = tmp_path / "true.mcap"
    description = String(data=model.to_urdf())
    timed = [(0.0, "/robot_description", description), (0.1, "/tf", tf(model, (0.1,) * 4))]
    write(file, [*timed, (0.2, "/tf", true)])
    (before,), (after,) = (list(scenes(file, [t], "tool0")) for t in (0.15, 0.2))
    elbow = [i for i, v in enumerate(after.robot.visuals) if v.link == "elbow_link"]
    for index, (one, other) in enumerate(
        zip(primitives_in(before).solids, primitives_in(after).solids, strict=True)
    ):
        moved = not np.allclose(one.T, other.T)
        assert moved == (index in elbow)


def test_picture_is_vector_graphics_with_task_and_time(run, tmp_path):
    svg = exported(run, tmp_path, "run.svg", "--view", "side")
    assert b"<image" not in svg
    texts = [
        "".join(e.itertext()) for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert "nut_arm: a <word>" in texts
    assert "2.2 s" in texts
    assert b"/Subtype /Image" not in exported(run, tmp_path, "run.pdf")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["out.mp3"], "'mp3' files are not supported; use .gif, .svg"),
        (["out"], "'' files are not supported"),
        (["out.svg", "--to", "9"], "lasts from 0 to 2.2 s"),
        (["out.svg", "--from", "2", "--to", "1"], "lasts from 0 to 2.2 s"),
        (["no/such/out.svg"], "cannot be written"),
    ],
)
def test_export_errors_are_one_sentence(run, words, says, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([str(run), *words]) == 1
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_recording_without_an_arm_is_reported(tmp_path, capsys, model):
    file = tmp_path / "bare.mcap"
    write(file, [(0.0, "/tf", tf(model, (0.0,) * 4))])
    assert main([str(file), str(tmp_path / "out.gif")]) == 1
    assert "no arm is visible" in capsys.readouterr().err
    assert main([str(tmp_path / "none.mcap"), str(tmp_path / "out.gif")]) == 1
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--speed", "0"], ["--speed", "x"], ["--width", "9"]])
def test_invalid_numbers_are_rejected(run, words, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(run), str(tmp_path / "out.gif"), *words])
    said = capsys.readouterr().err
    assert "is not" in said
