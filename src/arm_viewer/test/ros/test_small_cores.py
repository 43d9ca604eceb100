# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Mailbox, tool path, sliders, camera, texts, quaternions, tf poses."""

import math
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from arm_common.ros.tf import TransformTree
from arm_description.library import shipped_robots
from arm_description.urdf.elements import UrdfMimic
from arm_viewer.browser import panel
from arm_viewer.browser.callbacks import CallbackQueue
from arm_viewer.browser.cameras import round_length
from arm_viewer.browser.panel import display_limits, from_display, to_display
from arm_viewer.control.joint_sliders import JointSliders
from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import VisualJoint, postures_of
from arm_viewer.scene.store import WatchedTree, poses_in
from arm_viewer.scene.tool_trace import PIECE_POINTS, PIECES, ToolTrace
from hypothesis import given
from hypothesis import strategies as st

JOINTS = (
    VisualJoint("waist", False, -1.0, 2.0),
    VisualJoint("slide", True, 0.1, 0.4),
    VisualJoint("finger", True, 0.0, 0.2, UrdfMimic("slide", -0.5, 0.01)),
)
finite = st.floats(-1e3, 1e3)
unit = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)


def test_mailbox_delivers_all_posts_of_many_threads_in_their_order():
    box, got, woken = CallbackQueue(), [], []
    box.post(lambda: got.append((-1, 0)))  # Kept until somebody listens.
    box.open(lambda: woken.append(1))
    assert woken == [1]

    def post(worker):
        for number in range(200):
            box.post(lambda number=number: got.append((worker, number)))

    threads = [threading.Thread(target=post, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        box.drain()
    box.drain()
    assert got[0] == (-1, 0)
    assert [sum(w == worker for w, _ in got) for worker in range(4)] == [200] * 4
    for worker in range(4):
        assert [n for w, n in got if w == worker] == list(range(200))
    assert len(woken) == 801


def test_a_closed_mailbox_is_silent():
    box, got = CallbackQueue(), []
    box.open(lambda: got.append("woken"))
    box.close()
    box.post(lambda: got.append("run"))
    assert got == []


def line(trace_screen, changes):
    for number in changes.dropped:
        trace_screen.pop(number, None)
    trace_screen.update(changes.grown)
    return np.concatenate([trace_screen[n] for n in sorted(trace_screen)]) if trace_screen else []


def test_the_trace_is_the_path_without_its_small_steps():
    trace, screen, path = ToolTrace(step=0.01), {}, []
    for i in range(500):
        position = np.array([0.004 * i, 0.0, 0.0])
        trace.add(position)
        path.append(position)
        if i % 7 == 0:
            shown = line(screen, trace.take())
    shown = line(screen, trace.take())
    gaps = np.linalg.norm(np.diff(shown, axis=0), axis=1)
    assert set(np.round(gaps, 6)) <= {0.0, 0.012}  # Pieces share their end points.
    assert np.linalg.norm(shown[-1] - path[-1]) < 0.01
    assert all(len(piece) <= PIECE_POINTS for piece in screen.values())


def test_the_trace_sends_only_what_grew_and_stays_bounded():
    trace, screen = ToolTrace(step=0.5), {}
    for i in range(PIECE_POINTS * (PIECES + 20)):
        trace.add(np.array([float(i), 0.0, 0.0]))
        changes = trace.take()
        assert len(changes.grown) <= 1
        line(screen, changes)
    assert len(screen) <= PIECES
    trace.clear()
    line(screen, trace.take())
    assert not screen
    assert not trace.take().grown


def test_a_tool_at_rest_draws_nothing():
    trace = ToolTrace()
    for _ in range(10):
        trace.add(np.zeros(3))
    changes = trace.take()
    assert not changes.grown
    assert not changes.dropped


@given(st.lists(st.tuples(st.sampled_from(["waist", "slide"]), finite), max_size=20))
def test_sliders_stay_within_limits_and_mimics_follow(moves):
    sliders = JointSliders(JOINTS)
    for name, value in moves:
        assert sliders.set(name, value) == sliders[name]
    values = sliders.values()
    for joint in JOINTS[:2]:
        assert joint.lower <= values[joint.name] <= joint.upper
    assert values["finger"] == pytest.approx(-0.5 * values["slide"] + 0.01)
    assert sliders.values() == values


def test_sliders_begin_at_the_start_or_next_to_zero():
    sliders = JointSliders(JOINTS, {"waist": 1.5, "unknown": 3.0})
    assert sliders.values() == {"waist": 1.5, "slide": 0.1, "finger": pytest.approx(-0.04)}


def test_sliders_refuse_what_is_no_joint_or_no_number():
    sliders = JointSliders(JOINTS)
    with pytest.raises(ViewerError, match='no joint "nose"; there are waist, slide'):
        sliders.set("nose", 0.0)
    with pytest.raises(ViewerError, match="nan is not a finite number"):
        sliders.set("waist", math.nan)


@given(st.sampled_from(JOINTS), st.floats(0, 1))
def test_a_slider_shows_degrees_or_millimetres_and_means_what_it_shows(joint, part):
    value = joint.lower + part * (joint.upper - joint.lower)
    assert from_display(joint, to_display(joint, value)) == pytest.approx(value, abs=1e-12)
    low, high = display_limits(joint)
    assert (
        joint.lower - 1e-9
        <= from_display(joint, low)
        < from_display(joint, high)
        <= joint.upper + 1e-9
    )


def test_postures_open_the_fingers_by_half_the_width():
    model = SimpleNamespace(
        postures={"ready": {"waist": 0.5, "gripper": 0.02}, "rest": {"waist": 0.0}},
        gripper=SimpleNamespace(joints=("left", "right")),
    )
    assert postures_of(model) == {
        "ready": {"waist": 0.5, "left": 0.01, "right": 0.01},
        "rest": {"waist": 0.0},
    }


@given(st.floats(1e-4, 1e4))
def test_round_length_is_round_and_just_below(length):
    rounded = round_length(length)
    assert 0.39 * length < rounded <= 1.002 * length
    assert round(rounded / 10 ** math.floor(math.log10(rounded) + 1e-9)) in (1, 2, 5)


def test_texts_are_escaped_and_empty_lines_vanish():
    assert panel.status_line("task", "Task", "") == ""
    assert "&lt;script&gt;" in panel.status_line("task", "Task", "<script>")
    joint = VisualJoint("<b>", False, -1, 1)
    assert "&lt;b&gt;" in panel.joint_table((joint,), {"<b>": 0.0})


def test_numbers_are_written_for_people():
    table = panel.joint_table(JOINTS, {"waist": math.pi / 2, "slide": 0.1234})
    assert "90.0°" in table
    assert "123.4 mm" in table
    assert "finger" not in table  # Its value is not known.
    assert panel.joint_table(JOINTS, {"waist": math.nan}) == ""
    pose = np.eye(4)
    pose[:3, 3] = 0.16, -0.0125, 0.185
    assert "160.0, -12.5, 185.0 mm" in panel.tool_table("tool0", pose)
    assert panel.tool_table("tool0", None) == ""


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (0, "fallen: dropped"),
        (1, "on upper, 2.50 turns engaged: dropped"),
        (2, "on upper, held, 2.50 turns engaged: dropped"),
        (3, "held, clear of any bolt: dropped"),
        (9, "state 9: dropped"),
    ],
)
def test_the_nut_in_words(state, text):
    nut = SimpleNamespace(state=state, bolt="upper", turns_engaged=2.5, message="dropped")
    assert panel.nut_text(nut) == text


def test_poses_of_all_connected_frames():
    tree = TransformTree()
    step = np.eye(4)
    step[0, 3] = 1.0
    tree.set("base", "a", step)
    tree.set("a", "b", step)
    tree.set("island", "c", step)
    poses = poses_in(tree, "base")
    assert {name: pose[0, 3] for name, pose in poses.items()} == {"base": 0, "a": 1, "b": 2}
    assert poses_in(tree, "a")["base"][0, 3] == -1
    assert list(poses_in(tree, "nowhere")) == ["nowhere"]
    assert poses_in(tree, "") == {}


def test_a_watched_tree_tells():
    told = []
    tree = WatchedTree(lambda: told.append(1))
    tree.set("a", "b", np.eye(4))
    assert told == [1]
    np.testing.assert_array_equal(tree.lookup("a", "b"), np.eye(4))


def test_the_gallery_shows_every_shipped_robot():
    docs = Path(__file__).resolve().parents[4] / "docs"
    page = (docs / "gallery.md").read_text()
    for robot in shipped_robots():
        assert f"(images/robots/{robot}.png) `{robot}`" in page
        assert (docs / f"images/robots/{robot}.png").is_file()
