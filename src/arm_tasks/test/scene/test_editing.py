# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Scenes are edited from the command line without losing comments or changing anything else."""

import difflib

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp
from arm_common.yaml.editing import CORRECT_FIRST
from arm_tasks.commands.scene import main
from arm_tasks.errors import SceneError, shipped
from arm_tasks.scene.editing import KINDS, SceneEditor
from arm_tasks.scene.file import load_scene, scene_from_text


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(shipped("scenes")["work_environment"].read_bytes())
    return path


def edited(data, edit):
    editor = SceneEditor(data)
    assert edit(editor) == ""
    return editor.data


def changed(before, after):
    lines = difflib.ndiff(before.decode().splitlines(), after.decode().splitlines())
    return [line for line in lines if line[0] in "+-"]


@pytest.mark.parametrize(
    ("scene", "name"), [(n, k) for n in shipped("scenes") for k in load_scene(n).frames]
)
def test_move_changes_only_one_object(scene, name):
    data = shipped("scenes")[scene].read_bytes()
    new = edited(data, lambda editor: editor.shift(name, (0.001, -0.002, 0.003), by=True))
    old, now = changed(data, new)
    assert old.split("[")[0][2:] == now.split("[")[0][2:]
    assert ("#" in old) == ("#" in now)
    before, after = scene_from_text(data.decode()), scene_from_text(new.decode())
    way = np.linalg.norm(after.frame(name)[:3, 3] - before.frame(name)[:3, 3])
    assert way == pytest.approx(np.sqrt(14e-6))
    placed = [k for k in before.frames if before.moves_with(k, name)]
    same = [k for k in before.frames if np.allclose(before.frame(k), after.frame(k), atol=1e-12)]
    assert sorted(placed + same) == sorted(before.frames)
    back = edited(new, lambda editor: editor.shift(name, (-0.001, 0.002, -0.003), by=True))
    assert np.allclose(scene_from_text(back.decode()).frame(name), before.frame(name), atol=1e-9)


def test_added_object_can_be_removed(mine):
    data = mine.read_bytes()
    for section, *keys in (
        ("pegs", "xyz_mm=[1, 2, 3]", "diameter_mm=8", "length_mm=30"),
        ("walls", "xyz=[1, 0, 0]", "height=1", "width=1", "thickness=0.1"),
        ("frames", "frame=left", "xyz_mm=[0, 0, 9]"),
    ):
        values = dict(key.split("=") for key in keys)
        new = edited(data, lambda editor: editor.insert(section, "extra", values))  # noqa: B023
        assert "extra" in scene_from_text(new.decode()).frames
        assert all(line.startswith("+") for line in changed(data, new))
        removed = edited(new, lambda editor: editor.remove("extra"))
        assert removed.split() == data.split()


def test_remove_deletes_only_the_lines_of_the_object(mine):
    data = mine.read_bytes()
    new = edited(data, lambda editor: editor.remove("peg"))
    assert "peg" not in scene_from_text(new.decode()).frames
    assert all(line.startswith("- ") for line in changed(data, new))
    flow = b"scene: s\npegs: {a: {xyz: [0, 0, 0], diameter: 1, length: 1}, b: {xyz: [0, 0, 0], "
    flow += b"diameter: 1, length: 1}}  # two\n"
    for name, other in (("a", "b"), ("b", "a")):
        left = edited(flow, lambda editor: editor.remove(name))  # noqa: B023
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
    third = mine.with_name("third.yaml")
    assert main([str(other), "remove", "p", "-o", str(third)]) == 0  # -o behind the edit, too
    assert "p" not in load_scene(third).objects and "p" in load_scene(other).objects


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


class TestSceneEditor:
    """What the page does with a scene file, step by step."""

    @pytest.fixture(params=[("nut_transfer", ""), ("work_environment", "puma560_gripper")])
    def editor(self, request):
        scene, robot = request.param
        return SceneEditor(shipped("scenes")[scene].read_bytes(), scene, robot=robot)

    def test_every_kind_is_added_and_removed_and_all_of_it_undone(self, editor):
        before, at = editor.data, np.array((0.123, -0.045, 0.2))
        names = []
        for kind in KINDS:
            if kind == "nut" and editor.model.nut is not None:
                assert "already" in editor.add(kind, at)[1]
                continue
            name, problem = editor.add(kind, at)
            assert problem == "" and name in editor.bodies()
            names.append(name)
            if kind != "nut":
                assert np.allclose(editor.model.frames[name][:3, 3], at, atol=1e-4)
        assert editor.model.nut is not None
        assert all(line.startswith("+") for line in changed(before, editor.data))
        full = editor.data
        for name in reversed(names):
            assert editor.remove(name) == ""
        assert set(editor.bodies()) == set(SceneEditor(before).bodies())
        while editor.undo():
            pass
        assert editor.data == before
        for _ in names:
            assert editor.redo()
        assert editor.data == full

    def test_a_body_goes_where_it_is_moved(self, editor):
        """In its parent and with the robot's placement; only what is on it moves, too."""
        rng = np.random.default_rng(3)
        for name, T in editor.model.frames.items():
            before = editor.data
            goal = T @ pose(so3_exp(rng.normal(0.0, 0.3, 3)), rng.normal(0.0, 0.02, 3))
            assert editor.move(name, goal) == ""
            now = editor.model.frames[name]
            assert np.allclose(now[:3, 3], goal[:3, 3], atol=2e-4)
            assert np.allclose(now[:3, 2], goal[:3, 2], atol=2e-3)
            others = [k for k in editor.model.frames if not editor.model.moves_with(k, name)]
            former = SceneEditor(before, robot=editor.robot).model
            assert all(np.allclose(editor.model.frames[k], former.frames[k]) for k in others)
            assert editor.undo() and editor.data == before

    def test_moves_of_one_gesture_are_one_step(self, editor):
        before, name = editor.data, next(iter(editor.model.frames))
        for step in range(3):
            T = editor.model.frames[name].copy()
            T[2, 3] += 0.01
            assert editor.move(name, T, gesture=step > 0) == ""
        assert editor.undo() and editor.data == before

    def test_every_entry_can_be_typed_as_it_is(self, editor):
        before = editor.model
        for name in editor.bodies():
            for entry in editor.entries(name):
                text = editor.text(entry.path)
                if text:
                    assert editor.set(entry.path, text) == ""
        assert all(np.allclose(editor.model.frames[k], T) for k, T in before.frames.items())
        assert [o.parts[0].color for o in editor.model.objects.values()] == [
            o.parts[0].color for o in before.objects.values()
        ]


def test_wrong_entry_keeps_the_last_scene_and_says_why(mine):
    editor = SceneEditor(mine.read_bytes(), "mine.yaml")
    path = ("pegs", "peg", "diameter_mm")
    before = editor.data
    assert "must be" in editor.set(path, "thick") and editor.data == before
    assert editor.wrong[path].text == "thick"
    assert editor.add("box", np.zeros(3))[1] == CORRECT_FIRST
    assert "is not a colour" in editor.set(("pegs", "peg", "color"), "gren")
    assert editor.set(path, "9") == "" and editor.set(("pegs", "peg", "color"), "seagreen") == ""
    assert editor.wrong == {}
    assert editor.model.objects["peg"].parts[0].size[0] == pytest.approx(0.0045)
    assert "is not UTF-8 text" in _problem(b"scene: \xff\xfe")
    assert editor.remove("left") and editor.data.count(b"left") == before.count(b"left")


def _problem(data):
    with pytest.raises(SceneError) as error:
        SceneEditor(data)
    return str(error.value)
