# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The store reports everything that changed, and nothing else; the tool's path is bounded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arm_viewer.scene.markers import ADD, DELETE, DELETE_ALL
from arm_viewer.scene.store import (
    MAX_MARKERS,
    MAX_TEXT,
    PIECE_POINTS,
    PIECES,
    POSE_TOLERANCE,
    MarkerKey,
    SceneStore,
    ToolTrace,
)
from hypothesis import example, given
from hypothesis import strategies as st


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def key(id, topic="m", ns="test"):
    return MarkerKey(topic, ns, id)


@pytest.fixture
def store():
    store = SceneStore()
    store.set_frames("base_link", {"base_link": at(), "tool0": at(1)})
    store.take()
    return store


def test_only_moved_frames_are_sent_and_small_steps_add_up(store):
    assert not store.take()
    for step in range(1, 11):
        tool = at(1 + step * 0.4 * POSE_TOLERANCE)
        store.set_frames("base_link", {"base_link": at(), "tool0": tool})
        assert list(store.take().moved) == (["tool0"] if step % 3 == 0 else [])


def test_removed_frame_takes_its_locked_markers_along(store, marker):
    store.markers.apply("m", [marker(id=1, frame="tool0", frame_locked=True)], 0.0)
    assert set(store.take().drawn) == {key(1)}
    store.set_frames("base_link", {"base_link": at()})
    changes = store.take()
    assert (changes.removed, changes.erased) == ({"tool0"}, {key(1)})
    assert store.markers.waiting() == {"tool0"}
    store.set_frames("base_link", {"base_link": at(), "tool0": at(2)})
    changes = store.take()
    assert set(changes.moved) == {"tool0"}
    assert set(changes.drawn) == {key(1)}


def test_only_locked_markers_move_with_their_frame(store, marker):
    locked = marker(id=1, frame="tool0", frame_locked=True, position=(0, 1, 0))
    free = marker(id=2, frame="tool0", position=(0, 1, 0))
    store.markers.apply("m", [locked, free], 0.0)
    drawn = store.take().drawn
    assert drawn[key(1)].frame == "tool0"
    np.testing.assert_array_equal(drawn[key(1)].pose, at(0, 1))
    assert drawn[key(2)].frame == ""
    np.testing.assert_array_equal(drawn[key(2)].pose, at(1, 1))
    store.set_frames("base_link", {"base_link": at(), "tool0": at(5)})
    assert not store.take().drawn


def test_marker_waits_for_its_frame(store, marker):
    store.markers.apply("m", [marker(frame="bolt")], 0.0)
    assert not store.take().drawn
    assert store.markers.waiting() == {"bolt"}
    store.set_frames("base_link", {"base_link": at(), "bolt": at(3)})
    assert set(store.take().drawn) == {key(0)} and not store.markers.waiting()


def test_new_fixed_frame_moves_markers_and_frames(store, marker):
    store.markers.apply("m", [marker(frame="tool0")], 0.0)
    store.take()
    store.set_frames("tool0", {"tool0": at(), "base_link": at(-1)})
    changes = store.take()
    np.testing.assert_array_equal(changes.drawn[key(0)].pose, at())
    assert set(changes.moved) == {"tool0", "base_link"}


def test_marker_without_a_frame_is_in_the_fixed_frame(store, marker):
    store.markers.apply("m", [marker(frame="", position=(1, 2, 3))], 0.0)
    np.testing.assert_array_equal(store.take().drawn[key(0)].pose, at(1, 2, 3))


def test_delete_modify_and_delete_all_of_one_topic(store, marker):
    store.markers.apply("m", [marker(id=i) for i in range(3)], 0.0)
    store.markers.apply("other", [marker(id=0)], 0.0)
    assert len(store.take().drawn) == 4
    store.markers.apply("m", [marker(id=0, action=DELETE), marker(id=1, scale=(1, 1, 1))], 0.0)
    changes = store.take()
    assert (changes.erased, set(changes.drawn)) == ({key(0)}, {key(1)})
    store.markers.apply("m", [marker(action=DELETE_ALL), marker(id=9)], 0.0)
    changes = store.take()
    assert (changes.erased, set(changes.drawn)) == ({key(1), key(2)}, {key(9)})


def test_marker_expires(store, marker):
    store.markers.apply("m", [marker(id=1, lifetime=2), marker(id=2)], 10.0)
    store.take()
    assert store.markers.next_expiry() == 12.0
    store.markers.expire(11.9)
    assert not store.take()
    store.markers.expire(12.0)
    assert store.take().erased == {key(1)}
    assert store.markers.next_expiry() == math.inf


def test_number_of_markers_is_bounded(store, marker):
    assert not store.markers.apply("m", [marker(id=i) for i in range(MAX_MARKERS)], 0.0)
    (problem,) = store.markers.apply("n", [marker(id=1)], 0.0)
    assert "there are 5000 markers already" in str(problem)
    assert not store.markers.apply("m", [marker(id=7), marker(id=8, action=DELETE)], 0.0)
    assert not store.markers.apply("n", [marker(id=1)], 0.0)


def test_invalid_marker_is_reported_and_the_others_are_drawn(store, marker):
    store.markers.apply("m", [marker(id=1)], 0.0)
    store.take()
    problems = store.markers.apply(
        "m", [marker(id=1, scale=(0, 0, 0)), marker(id=2), marker(id=3, action=7)], 0.0
    )
    names = [str(problem).split(":")[0] for problem in problems]
    assert names == ['marker "test" 1', 'marker "test" 3']
    changes = store.take()
    assert (changes.erased, set(changes.drawn)) == ({key(1)}, {key(2)})


steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 4), st.booleans()),
        st.tuples(st.just("delete"), st.integers(0, 4)),
        st.tuples(st.just("all")),
        st.tuples(st.just("tool"), st.booleans()),
        st.tuples(st.just("take")),
    ),
    max_size=40,
)


@given(steps=steps)
@example(steps=[("add", 0, False), ("take",), ("add", 0, True)])
@example(steps=[("add", 0, False), ("take",), ("add", 0, False), ("add", 0, True)])
def test_applying_all_changes_reproduces_the_scene(marker, steps):
    """A screen that applies every change shows the same as a simple model of the steps."""
    store, screen, wanted, tool = SceneStore(), {}, {}, False

    def redraw():
        store.set_frames("base", {"base": at(), **({"tool": at(1)} if tool else {})})
        changes = store.take()
        for gone in changes.erased | changes.drawn.keys():
            screen.pop(gone, None)
        for frame in changes.removed:
            for lost in [k for k, placed in screen.items() if placed.frame == frame]:
                del screen[lost]
        screen.update(changes.drawn)

    for step, *values in steps:
        if step == "add":
            id, on_tool = values
            frame = "tool" if on_tool else "base"
            new = marker(id=id, action=ADD, frame=frame, frame_locked=True)
            store.markers.apply("m", [new], 0.0)
            wanted[key(id)] = frame
        elif step == "delete":
            store.markers.apply("m", [marker(id=values[0], action=DELETE)], 0.0)
            wanted.pop(key(values[0]), None)
        elif step == "all":
            store.markers.apply("m", [marker(action=DELETE_ALL)], 0.0)
            wanted.clear()
        elif step == "tool":
            (tool,) = values
        else:
            redraw()
    redraw()
    seen = {k: placed.frame for k, placed in screen.items()}
    assert seen == {k: frame for k, frame in wanted.items() if tool or frame == "base"}


def test_texts_are_sent_when_they_change(store):
    store.set_text("task", "")
    assert not store.take()
    store.set_text("task", "turn")
    assert store.take().texts == {"task": "turn"}
    store.set_text("task", "turn")
    assert not store.take()
    store.set_text("task", "")
    assert store.take().texts == {"task": ""}
    store.set_text("task", "x" * 1_000_000)
    assert len(store.text("task")) < 1.1 * MAX_TEXT


def line(trace_screen, changes):
    for number in changes.dropped:
        trace_screen.pop(number, None)
    trace_screen.update(changes.grown)
    return np.concatenate([trace_screen[n] for n in sorted(trace_screen)]) if trace_screen else []


def test_trace_omits_small_steps():
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


def test_no_line_is_drawn_where_the_trace_is_lifted():
    trace, screen = ToolTrace(step=0.01), {}
    for x in (0.0, 0.1, 5.0, 5.1):  # the robot is edited between the second and the third
        for _ in range(3 if x == 5.0 else 0):
            trace.lift()
            trace.add(np.array([0.5 * x, 0.0, 0.0]))
        if x == 5.0:
            trace.lift()
        trace.add(np.array([x, 0.0, 0.0]))
    line(screen, trace.take())
    assert [piece[:, 0].tolist() for _, piece in sorted(screen.items())] == [
        [0.0, 0.1],
        [5.0, 5.1],
    ]


def test_trace_sends_only_growth_and_stays_bounded():
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


def test_tool_at_rest_draws_nothing():
    trace = ToolTrace()
    for _ in range(10):
        trace.add(np.zeros(3))
    assert not trace.take().grown
