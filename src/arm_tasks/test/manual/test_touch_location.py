# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Bolts are located from touched points, with their uncertainty, or rejected with advice."""

import math
from pathlib import Path

import numpy as np
import pytest
from arm_common.transforms import frame_along, so3_exp
from arm_tasks.errors import SceneError, TasksError, resolve
from arm_tasks.manual.touch_location import TOUCH_STDDEV, Surface, Touch, locate
from arm_tasks.scene.editing import write_bolt, write_thread_start
from arm_tasks.scene.file import load_scene
from hypothesis import given, settings
from hypothesis import strategies as st

RADIUS = 3.175e-3
RIM, END, FLANK = Surface.RIM, Surface.END, Surface.FLANK
ANGLES = (0.3, 2.4, 4.5)
GOOD = [(RIM, a, 0.0) for a in ANGLES] + [(FLANK, a + 0.5, 0.02) for a in ANGLES]

directions = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1)
places = st.tuples(*[st.floats(-0.3, 0.3)] * 3)


def bolt(tip, axis):
    axis = np.array(axis) / np.linalg.norm(axis)
    return np.array(tip), axis


def points(tip, axis, where, noise=0.0, seed=0):
    """Return touches of a bolt at (surface, angle, depth)."""
    R, rng = frame_along(axis), np.random.default_rng(seed)
    touches = []
    for surface, angle, depth in where:
        r = 0.6 * RADIUS if surface is END else RADIUS
        local = np.array([r * math.cos(angle), r * math.sin(angle), depth])
        touches.append(Touch(surface, tip + R @ local + noise * rng.standard_normal(3)))
    return touches


def guess_near(tip, axis, off=0.01, tilt=0.25):
    return tip + off, so3_exp(frame_along(axis) @ np.array([tilt, 0.0, 0.0])) @ axis


@settings(max_examples=60, deadline=None)
@given(places, directions, st.sampled_from([GOOD, GOOD[:3]]))
def test_exact_points_locate_the_bolt_exactly(tip, axis, where):
    tip, axis = bolt(tip, axis)
    found = locate(points(tip, axis, where), RADIUS, *guess_near(tip, axis))
    assert np.abs(found.tip - tip).max() < 1e-7
    assert found.axis @ axis == pytest.approx(1.0, abs=1e-9)
    assert found.residual < 1e-7


def test_stated_uncertainty_matches_the_actual_errors():
    """The root mean square of many locations agrees to within a fifth."""
    tip, axis = bolt((0.2, 0.0, 0.15), (1.0, 0.3, 0.1))
    tips, turns, stated = [], [], []
    for seed in range(150):
        touches = points(tip, axis, GOOD, 0.3 * TOUCH_STDDEV, seed)
        found = locate(touches, RADIUS, *guess_near(tip, axis))
        tips.append(np.linalg.norm(found.tip - tip))
        turns.append(math.acos(min(1.0, found.axis @ axis)))
        stated.append((found.tip_error, found.axis_error))
    tip_error, axis_error = np.mean(stated, axis=0)
    assert np.sqrt(np.mean(np.square(tips))) == pytest.approx(0.3 * tip_error, rel=0.2)
    assert np.sqrt(np.mean(np.square(turns))) == pytest.approx(0.3 * axis_error, rel=0.2)


def test_more_and_farther_points_reduce_the_uncertainty():
    tip, axis = bolt((0.2, 0.0, 0.15), (1.0, 0.0, 0.0))
    rim, all_, far = (
        locate(points(tip, axis, where), RADIUS, tip, axis)
        for where in (GOOD[:3], GOOD, [(s, a, 2.0 * d) for s, a, d in GOOD])
    )
    assert rim.axis_error > 3.0 * all_.axis_error > 3.0 * far.axis_error
    assert "give or take" in rim.text


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (GOOD[:2], "at least three are needed"),
        ([(FLANK, a, 0.01) for a in ANGLES], "do not determine|direction of the axis"),
        ([(FLANK, a, d) for a in ANGLES for d in (0.005, 0.02)], "where the bolt ends"),
        ([(END, a, 0.0) for a in ANGLES], "direction of the axis|where the axis is"),
        ([(FLANK, 1.0, d) for d in (0.0, 0.01, 0.02)], "direction of the axis|where the"),
        ([(RIM, a, 0.0) for a in (0.0, 1.0, 1.0)], "points 2 and 3 are the same"),
        ([(RIM, a, 0.0) for a in (0.0, 0.4, 0.8)], "direction of the axis"),
    ],
)
def test_insufficient_points_are_rejected_with_advice(where, message):
    tip, axis = bolt((0.2, 0.0, 0.15), (1.0, 0.0, 0.2))
    with pytest.raises(TasksError, match=message):
        locate(points(tip, axis, where), RADIUS, *guess_near(tip, axis, 0.002, 0.05))


# -- writing to the scene file --------------------------------------------------------------

TEXTS = {
    "axis": "xyz: [0.2, -0.06, 0.16]   # measured with a rule\n    axis: [1, 0, 0]",
    "mm": "xyz_mm: [200, -60, 160]\n    rpy_deg: [0, 90, 0]     # as the wall",
    "frame": "frame: wall\n    xyz: [0.1, 0, 0]\n    rpy: [0, 1.5707963, 0]",
    "plain": "xyz: [0.2, -0.06, 0.16]",
}


def scene_file(folder, placed):
    file = folder / "my_scene.yaml"
    file.write_text(
        f"# my scene\nscene: mine\nframes:\n  wall: {{xyz: [0.1, 0, 0.1], rpy_deg: [0, 0, 20]}}\n"
        f"bolts:\n  b:                  # the only one\n    {placed}\n"
        "    diameter_mm: 6.35   # 1/4 inch\n    pitch_mm: 1.27\n    length_mm: 25.4\n"
    )
    return file


@pytest.mark.parametrize("form", TEXTS)
def test_write_bolt_changes_only_the_bolts_pose(tmp_path, form):
    file = scene_file(tmp_path, TEXTS[form])
    before = file.read_text()
    scene = load_scene(file)
    tip, axis = bolt((0.21, -0.05, 0.17), (1.0, -0.2, 0.1))
    after = write_bolt(scene, "b", tip, axis, "nut_arm")
    for T in (after.bolt("b").pose, load_scene(file).bolt("b").pose):
        assert np.allclose(T[:3, 3], tip, atol=2e-5) and np.allclose(T[:3, 2], axis, atol=2e-5)
    now = file.read_text()
    changed = [(a, b) for a, b in zip(before.split("\n"), now.split("\n"), strict=False) if a != b]
    assert 1 <= len(changed) <= 2
    assert [line for line in before.split() if line.startswith("#")] == [
        line for line in now.split() if line.startswith("#")
    ]
    assert not list(tmp_path.glob(".*"))


def test_write_bolt_rejects_shipped_and_changed_files(tmp_path):
    shipped = resolve("nut_transfer", "scenes", "scene", SceneError)
    before = Path(shipped).read_bytes()
    tip, axis = bolt((0.2, 0.0, 0.2), (1.0, 0.0, 0.0))
    with pytest.raises(SceneError, match="is shipped and cannot be changed; copy it"):
        write_bolt(load_scene(shipped), "upper_bolt", tip, axis, "nut_arm")
    assert Path(shipped).read_bytes() == before
    file = scene_file(tmp_path, TEXTS["axis"])
    scene = load_scene(file)
    file.write_text(file.read_text().replace("0.16]", "0.18]"))
    with pytest.raises(SceneError, match="changed in the file meanwhile"):
        write_bolt(scene, "b", tip, axis, "nut_arm")


def test_start_of_a_thread_is_written_and_the_old_text_kept(tmp_path):
    file = scene_file(tmp_path, TEXTS["axis"])
    before = file.read_text()
    for degrees in (-120.0, 33.3):
        old = file.read_text()
        after = write_thread_start(load_scene(file), "b", math.radians(degrees), "nut_arm")
        for bolt in (after.bolt("b"), load_scene(file).bolt("b")):
            assert bolt.start_known and math.degrees(bolt.start) == pytest.approx(degrees)
        assert (tmp_path / f"{file.name}.bak").read_text() == old
    now = file.read_text()
    assert "thread_start_deg: 33.3" in now and now.splitlines()[:3] == before.splitlines()[:3]
    assert "# the only one" in now and "# 1/4 inch" in now
    nut = "nut: {on: b, turns: 2, across_flats_mm: 11, thickness_mm: 5}\n"
    file.write_text(before + nut)
    with pytest.raises(SceneError, match="the nut starts on b, and gives the start of its thread"):
        write_thread_start(load_scene(file), "b", 0.0, "nut_arm")
