# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Scenes are edited from the command line without losing comments or changing anything else."""

import difflib

import numpy as np
import pytest
from arm_tasks.commands.scene import main
from arm_tasks.errors import SceneError, shipped
from arm_tasks.scene.editing import add_object, move_object, remove_object
from arm_tasks.scene.file import load_scene, scene_from_text


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(shipped("scenes")["work_environment"].read_bytes())
    return path


def changed(before, after):
    lines = difflib.ndiff(before.decode().splitlines(), after.decode().splitlines())
    return [line for line in lines if line[0] in "+-"]


@pytest.mark.parametrize(
    ("scene", "name"), [(n, k) for n in shipped("scenes") for k in load_scene(n).frames]
)
def test_move_changes_only_one_object(scene, name):
    data = shipped("scenes")[scene].read_bytes()
    new = move_object(data, name, (0.001, -0.002, 0.003), by=True)
    old, now = changed(data, new)
    assert old.split("[")[0][2:] == now.split("[")[0][2:]
    assert ("#" in old) == ("#" in now)
    before, after = scene_from_text(data.decode()), scene_from_text(new.decode())
    way = np.linalg.norm(after.frame(name)[:3, 3] - before.frame(name)[:3, 3])
    assert way == pytest.approx(np.sqrt(14e-6))
    placed = [k for k in before.frames if before.moves_with(k, name)]
    same = [k for k in before.frames if np.allclose(before.frame(k), after.frame(k), atol=1e-12)]
    assert sorted(placed + same) == sorted(before.frames)
    back = move_object(new, name, (-0.001, 0.002, -0.003), by=True)
    assert np.allclose(scene_from_text(back.decode()).frame(name), before.frame(name), atol=1e-9)


def test_added_object_can_be_removed(mine):
    data = mine.read_bytes()
    for section, *keys in (
        ("pegs", "xyz_mm=[1, 2, 3]", "diameter_mm=8", "length_mm=30"),
        ("walls", "xyz=[1, 0, 0]", "height=1", "width=1", "thickness=0.1"),
        ("frames", "frame=left", "xyz_mm=[0, 0, 9]"),
    ):
        new = add_object(data, section, "extra", dict(key.split("=") for key in keys))
        assert "extra" in scene_from_text(new.decode()).frames
        assert all(line.startswith("+") for line in changed(data, new))
        assert remove_object(new, "extra").split() == data.split()


def test_remove_deletes_only_the_lines_of_the_object(mine):
    data = mine.read_bytes()
    new = remove_object(data, "peg")
    assert "peg" not in scene_from_text(new.decode()).frames
    assert all(line.startswith("- ") for line in changed(data, new))
    flow = b"scene: s\npegs: {a: {xyz: [0, 0, 0], diameter: 1, length: 1}, b: {xyz: [0, 0, 0], "
    flow += b"diameter: 1, length: 1}}  # two\n"
    for name, other in (("a", "b"), ("b", "a")):
        left = remove_object(flow, name)
        assert list(scene_from_text(left.decode()).frames) == [other] and b"# two" in left


def test_scene_command_lists_and_edits_with_a_backup(mine, capsys):
    assert main([str(mine)]) == 0
    listing = capsys.readouterr().out
    assert "batteries, 0.023 kg" in listing and "pallet" in listing
    before = mine.read_bytes()
    assert main([str(mine), "move", "pallet", "--to-mm", "0", "0", "22"]) == 0
    assert load_scene(mine).frame("pallet") is not None
    assert mine.with_name("mine.yaml.bak").read_bytes() == before
    other = mine.with_name("other.yaml")
    peg = ["xyz_mm=[0,0,0]", "diameter_mm=5", "length_mm=9"]
    assert main(["easel", "-o", str(other), "add", "pegs", "p", *peg]) == 0
    assert "p" in load_scene(other).objects
    assert main([str(other), "remove", "p"]) == 0
    assert "p" not in load_scene(other).objects


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["remove", "belt"], "there is no frame 'belt' above this line"),
        (["remove", "pallte"], "did you mean 'pallet'"),
        (["move", "pal", "--by-mm", "0", "0", "1"], "did you mean 'pallet'"),
        (["add", "pegz", "p", "a=1"], "did you mean 'pegs'"),
        (["add", "pegs", "p", "a=1"], "unknown key 'a'"),
        (["add", "pegs", "cell", "xyz=[0,0,0]", "diameter=1", "length=1"], "'cell' is taken"),
        (["add", "pegs", "p", "xyz"], "is not KEY=VALUE"),
        (["add", "pegs", "p", "xyz=[0,"], "not valid YAML"),
    ],
)
def test_invalid_edit_leaves_the_file_unchanged(mine, capsys, arguments, message):
    before = mine.read_bytes()
    assert main([str(mine), *arguments]) == 1
    assert message in capsys.readouterr().err
    assert mine.read_bytes() == before


def test_shipped_scenes_are_never_overwritten(capsys):
    assert main(["easel", "move", "board", "--by-mm", "0", "0", "1"]) == 1
    assert "easel is shipped; give a file" in capsys.readouterr().err


def test_a_copy_without_an_edit_is_written_and_said(tmp_path, capsys):
    copy = tmp_path / "copy.yaml"
    assert main(["easel", "-o", str(copy)]) == 0
    assert copy.read_bytes() == shipped("scenes")["easel"].read_bytes()
    assert "without changes" in capsys.readouterr().out
    assert main(["easel", "-o", str(copy)]) == 0
    assert "Nothing changed" in capsys.readouterr().out
    assert not copy.with_suffix(".yaml.bak").exists()


def test_a_folder_is_called_one(tmp_path, capsys):
    assert main([str(tmp_path)]) == 1
    assert "this is a folder, not a scene file" in capsys.readouterr().err


def test_how_many_numbers_were_given_is_said(tmp_path):
    text = shipped("scenes")["easel"].read_text().replace("[245, 0, 150]", "[245, 0]")
    with pytest.raises(SceneError, match="a list of 3 numbers, not of 2"):
        scene_from_text(text)
