# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Scene files: the shipped geometry, and every error with its file and line."""

import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from arm_common.transforms import is_rigid
from arm_tasks.errors import SceneError
from arm_tasks.scene.file import load_scene, scene_from_text

import arm_tasks
from arm_tasks import errors

GOOD = """\
scene: test
frames:
  bench: {xyz_mm: [100, 0, 50], rpy_deg: [0, 0, 90]}
bolts:
  a:
    frame: bench
    xyz: [0, 0, 0.1]
    axis: [1, 0, 0]
    diameter_mm: 6.35
    pitch_mm: 1.27
    length_mm: 25
nut:
  on: a
  turns: 4
  across_flats_mm: 11.11
  thickness_mm: 5.56
  flats_deg: 10
boxes:
  wall: {frame: a, xyz: [0, 0, 0.03], size: [0.1, 0.1, 0.01], color: [1, 0, 0, 0.5]}
"""


def arc(a_deg):
    """Return r and z of the grasp point of nut_arm with a level forearm and the shoulder at a."""
    a = math.radians(a_deg)
    return 0.160 + 0.105 * math.sin(a), 0.080 + 0.105 * math.cos(a)


@pytest.mark.parametrize(
    ("bolt", "yaw_deg", "a_deg", "depth"),
    [("upper_bolt", 15, 5, 0.00278), ("lower_bolt", -15, 40, 0.0)],
)
def test_shipped_bolts_are_on_the_arc_of_the_arm(scene, bolt, yaw_deg, a_deg, depth):
    T = scene.frame(bolt)
    r, z = arc(a_deg)
    out = np.array([math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg)), 0.0])
    assert T[:3, 3] + depth * T[:3, 2] == pytest.approx(r * out + [0, 0, z], abs=1e-5)
    assert T[:3, 2] == pytest.approx(out, abs=1e-6)
    assert T[:3, 0] == pytest.approx([0, 0, 1], abs=1e-6)


def test_shipped_nut_starts_on_the_arc_fully_engaged(scene):
    r, z = arc(5)
    start = scene.nut_start()[:3, 3]
    assert (math.hypot(start[0], start[1]), start[2]) == pytest.approx((r, z), abs=1e-5)
    thread = scene.bolt("upper_bolt")
    assert thread.engaged(scene.nut.turns, scene.nut.thickness) == pytest.approx(5.56 / 1.27)


def test_scene_file_is_converted_to_frames_in_base_link():
    scene = scene_from_text(GOOD)
    bolt = scene.bolt("a")
    assert bolt.pose[:3, 3] == pytest.approx([0.1, 0, 0.15])
    assert bolt.pose[:3, 2] == pytest.approx([0, 1, 0])
    assert scene.frame("wall")[:3, 3] == pytest.approx([0.1, 0.03, 0.15])
    assert all(is_rigid(T) for T in scene.frames.values())
    assert (bolt.diameter, bolt.pitch, bolt.hand) == pytest.approx((6.35e-3, 1.27e-3, 1))
    assert bolt.roll(4) == pytest.approx(math.radians(10) + 8 * math.pi)
    assert math.remainder(math.degrees(bolt.start) - 10, 360) == pytest.approx(0)
    assert scene.objects["wall"].parts[0].color == (1, 0, 0, 0.5)


def test_x_axis_of_a_vertical_bolt_points_forward():
    text = GOOD.replace("frame: bench", "").replace("[1, 0, 0]", "[0, 0, -1]", 1)
    assert scene_from_text(text).bolt("a").pose[:3, 0] == pytest.approx([1, 0, 0])


def test_with_bolt_returns_a_copy(scene):
    moved = scene.with_bolt("lower_bolt", np.eye(4))
    assert np.array_equal(moved.frame("lower_bolt"), np.eye(4))
    assert np.array_equal(scene.bolt("upper_bolt").pose, moved.bolt("upper_bolt").pose)
    assert not np.array_equal(scene.frame("lower_bolt"), np.eye(4))
    with pytest.raises(ValueError, match="read-only"):
        scene.bolt("upper_bolt").pose[0, 0] = 5.0


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("pitch_mm", "pich_mm", 10, "unknown key 'pich_mm'; did you mean 'pitch_mm'?"),
        (
            "    pitch_mm: 1.27\n",
            "",
            11,
            "the nut cannot be on a, a smooth pin; give the pitch of",
        ),
        (
            "pitch_mm: 1.27",
            "handedness: left",
            5,
            "a smooth pin has no handedness; give its pitch",
        ),
        ("    axis", "    color: 3\n    axis", 8, "bolt a: unknown key 'color'"),
        ("pitch_mm: 1.27", "pitch_mm: -1.27", 10, "pitch_mm is -1.27 but must be above 0"),
        ("pitch_mm: 1.27", "pitch_mm: 1\n    pitch: 1", 10, "either pitch or pitch_mm, not both"),
        ("pitch_mm: 1.27", "pitch_mm: 40", 5, "the pitch must be smaller than the length (25 mm)"),
        ("axis: [1, 0, 0]", "axis: [1, 0]", 8, "axis must be a list of 3 numbers"),
        ("axis: [1, 0, 0]", "axis: [0, 0, 0]", 8, "axis must not be zero"),
        ("axis: [1, 0, 0]", "axis: [1, 0, 0]\n    rpy: [0, 0, 0]", 8, "either axis or rpy"),
        ("frame: bench", "frame: benhc", 6, "did you mean 'bench'?"),
        ("frame: bench", "frame: 3", 6, "frame must be text, not 3"),
        ("length_mm: 25", "length_mm: 25\n    handedness: up", 12, "handedness cannot be 'up'"),
        ("on: a", "on: b", 13, "on cannot be 'b'"),
        ("turns: 4", "turns: 40", 14, "turns is 40 but must be above 0 and at most 19.685"),
        ("pitch_mm: 1.27", "pitch_mm: 5", 5, "leaves no core in a bolt of 6.35 mm"),
        (
            "turns: 4",
            "turns: 4\n  pitch_mm: 1",
            12,
            "the nut, 6.35 mm x 1 mm, does not fit a, 1/4-20",
        ),
        ("turns: 4", "turns: 4\n  diameter_mm: 8", 12, "the nut, M8x1.27, does not fit a, 1/4-20"),
        ("turns: 4", "turns: 4\n  handedness: left", 12, "1/4-20 LH, does not fit a, 1/4-20"),
        ("across_flats_mm: 11.11", "across_flats_mm: 5", 12, "more than the diameter of a"),
        ("  wall:", "  a:", 19, "the name 'a' is taken"),
        ("  wall:", "  base_link:", 19, "the name 'base_link' is taken"),
        ("  wall:", "  tool0:", 19, "the name 'tool0' is taken"),
        ("[0.1, 0.1, 0.01]", "[0.1, 0.1, 0]", 19, "size is 0 but must be above 0"),
        ("[1, 0, 0, 0.5]", "[1, 0, 0, 5]", 19, "must be red, green, blue, opacity"),
        ("scene: test", "scene: test\nbolts: {}", 5, "bolts: is given twice"),
        ("scene: test", "scene: test\nfloors: 0", 2, "did you mean 'floor'?"),
        ("scene: test", "scene: [", 1, "not valid YAML"),
        ("nut:", "nut: 5\nbut:", 13, "unknown key 'but'; did you mean 'nut'?"),
    ],
)
def test_mistake_is_reported_in_one_sentence_with_its_line(old, new, line, message):
    with pytest.raises(SceneError) as error:
        scene_from_text(GOOD.replace(old, new, 1), "my.yaml")
    text = str(error.value)
    assert message in text and "\n" not in text
    assert text.startswith(f"my.yaml:{line}: ") and error.value.line == line


@pytest.mark.parametrize("text", ["", "5", "[1, 2]", "a: &a [*a]", "? [1]\n: 2", "a: 2024-01-01"])
def test_malformed_scene_is_rejected(text):
    with pytest.raises(SceneError):
        scene_from_text(text)


def test_unloadable_scene_is_rejected_with_the_reason(tmp_path):
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\xff")
    for scene, message in (
        ("nut_transfr", "did you mean 'nut_transfer'"),
        (tmp_path / "none.yaml", "no such scene file"),
        (tmp_path / "binary.yaml", "not UTF-8"),
    ):
        with pytest.raises(SceneError, match=message):
            load_scene(scene)


def test_unknown_bolt_or_frame_is_rejected_with_a_suggestion(scene):
    with pytest.raises(SceneError, match="no bolt 'upper'"):
        scene.bolt("upper")
    with pytest.raises(SceneError, match=r"no frame 'uper_bolt'.* did you mean 'upper_bolt'"):
        scene.frame("uper_bolt")
    with pytest.raises(SceneError, match="has no nut"):
        scene_from_text("scene: empty").require_nut()
    assert np.array_equal(scene.frame("base_link"), np.eye(4))


def test_shipped_files_are_found_by_the_ament_prefix(tmp_path, monkeypatch):
    source = Path(__file__).resolve().parents[2]
    for kind in ("scenes", "tasks"):
        shutil.copytree(source / kind, tmp_path / "share" / "arm_tasks" / kind)
    elsewhere = tmp_path / "lib" / "site-packages" / "arm_tasks" / "__init__.py"
    monkeypatch.setattr(arm_tasks, "__file__", str(elsewhere))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    assert errors.shipped("tasks")["nut_transfer"].is_relative_to(tmp_path)
    monkeypatch.setattr(arm_tasks, "__file__", "/nowhere/arm_tasks/__init__.py")
    assert errors.shipped("tasks") == {}
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/other:{tmp_path}")
    assert "nut_transfer" in errors.shipped("tasks")


def test_scene_has_at_most_2000_objects():
    boxes = "".join(f"  b{i}: {{xyz_mm: [{i}, 1, 1], size_mm: [1, 1, 1]}}\n" for i in range(2000))
    assert len(scene_from_text(f"scene: many\nboxes:\n{boxes}").objects) == 2000
    with pytest.raises(SceneError, match=r":2003: .*at most 2000 frames, bolts and objects"):
        scene_from_text(
            f"scene: many\nboxes:\n{boxes}  more: {{xyz_mm: [1, 1, 1], size_mm: [1, 1, 1]}}"
        )


def test_name_of_100000_letters_is_refused():
    with pytest.raises(SceneError, match="has 100000 characters; at most 10000") as refused:
        scene_from_text(f"scene: {'x' * 100_000}")
    assert len(str(refused.value)) < 300
