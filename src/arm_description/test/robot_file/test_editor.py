# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Editing a robot file: only valid robots are taken, comments stay, every step can be undone."""

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arm_common.files.saving import FileChangedError
from arm_common.yaml.editing import CORRECT_FIRST
from arm_description.library import shipped_robots
from arm_description.model.elements import Mesh
from arm_description.robot_file.editor import (
    NAME_ITSELF,
    RobotEditor,
    starting_robot,
    store_posture,
)
from arm_description.urdf.assembly import changed_meshes
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arm_description import DescriptionError, load_robot, parse_robot, read_robot


def editor_of(robot):
    return RobotEditor(shipped_robots()[robot].read_bytes())


def comments(data):
    return sorted(line.partition("#")[2] for line in data.decode().splitlines() if "# " in line)


def test_entries_are_read_as_they_are_written():
    editor = editor_of("nut_arm")
    row = editor.rows()[1]
    assert (row.name, row.type) == ("shoulder", "revolute")
    texts = [editor.text(row.entries[key]) for key in ("theta", "a", "lower")]
    assert texts == ["-90", "upper_arm", "-90"]
    assert editor.symbols()[:2] == ("shoulder_height", "upper_arm")
    assert editor.text(("constants", "upper_arm")) == "185 - shoulder_height"


def test_an_edit_changes_one_entry_and_keeps_every_comment():
    editor = editor_of("nut_arm")
    before = editor.data
    assert editor.set(("constants", "shoulder_height"), "60") == ""
    assert editor.model.joints[0].row.d == pytest.approx(0.060)
    assert editor.model.joints[1].row.a == pytest.approx(0.125)
    assert comments(editor.data) == comments(before)
    assert editor.set(("joints", 3, "d"), "atan2(1, 1) * reach") == ""
    assert editor.model.joints[3].row.d == pytest.approx(7.2)  # 45 deg times 160 mm
    assert editor.undo()
    assert editor.undo()
    assert editor.data == before
    assert not editor.undo()


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        (("joints", 0, "d"), "l7", "l7"),
        (("joints", 0, "a"), "1 +", "joints[0].a"),
        (("joints", 0, "a"), "", "has no 'a'"),
        (("joints", 0, "limits", "lower"), "95", "lower must be below upper"),
        (("constants", "reach"), "1: 2 # {", "reach"),
    ],
)
def test_a_refused_entry_is_kept_with_its_sentence_beside_the_last_valid_robot(
    path, text, problem
):
    editor = editor_of("nut_arm")
    before, model = editor.data, editor.model
    assert problem in editor.set(path, text)
    assert (editor.data, editor.model) == (before, model)
    assert editor.text(path) == text
    assert problem in editor.wrong[path].problem
    assert editor.add_joints(0) == CORRECT_FIRST
    assert editor.undo()
    assert not editor.wrong


def test_entries_that_are_valid_only_together_can_be_typed_in_any_order():
    editor = editor_of("nut_arm")
    length, turn = ("joints", 1, "a"), ("joints", 1, "theta")
    assert "l9" in editor.set(length, "l9")
    assert "nothing" in editor.set(turn, "nothing")
    assert editor.set(("constants", "l9"), "50") == ""
    assert set(editor.wrong) == {turn}
    assert editor.text(length) == "l9"
    assert editor.model.joints[1].row.a == pytest.approx(0.05)
    assert editor.set(turn, "-80") == ""
    assert not editor.wrong


def test_a_block_is_one_step_and_only_its_wrong_entries_are_refused():
    editor = editor_of("nut_arm")
    before, wrong = editor.data, ("joints", 1, "d")
    block = {("joints", 0, "a"): "5", wrong: "l9", ("joints", 2, "a"): "7"}
    editor.set_all(block)
    assert list(editor.wrong) == [wrong]
    assert [editor.text(path) for path in block] == ["5", "l9", "7"]
    assert editor.set(("constants", "l9"), "6") == ""
    assert not editor.wrong
    assert editor.undo()
    assert editor.undo()
    assert editor.data == before


@pytest.mark.parametrize("robot", sorted(shipped_robots()))
def test_a_renamed_constant_keeps_the_robot(robot):
    editor = editor_of(robot)
    before, text = editor.model, editor.data
    for name in editor.symbols():
        assert editor.set(("constants", name, NAME_ITSELF), f"{name}_2") == ""
    assert replace(editor.model, constants=before.constants) == before
    assert [*editor.model.constants] == [f"{name}_2" for name in before.constants]
    assert comments(editor.data) == comments(text)


def test_only_a_constant_that_nothing_uses_is_removed():
    editor = editor_of("planar2")
    assert editor.set(("constants", "", NAME_ITSELF), "l3 = l1/2") == ""
    assert editor.model.constants["l3"] == 0.15
    assert "constants l3" in editor.set(("constants", "l1", NAME_ITSELF), "")
    assert "used in elbow a" in editor.set(("constants", "l2", NAME_ITSELF), "")
    assert editor.undo()
    assert editor.set(("constants", "", NAME_ITSELF), "l3 = l1/2") == ""
    assert editor.set(("constants", "l3", NAME_ITSELF), "") == ""
    assert "l3" not in editor.model.constants
    for name in ("l2", "pi", "1 + 2"):
        assert editor.set(("constants", "l1", NAME_ITSELF), name)


def test_a_marked_name_goes_with_its_constant_and_a_marked_value_is_corrected_first():
    editor = editor_of("planar2")
    name, value = ("constants", "height", NAME_ITSELF), ("constants", "height")
    assert editor.set(value, "l9")
    for text in ("up", ""):
        assert "correct that first" in editor.set(name, text)
    assert editor.set(value, "0.1") == ""
    assert "used in base" in editor.wrong[name].problem
    assert editor.set(name, "height") == ""
    assert editor.set(("base", "xyz", 2), "0") == ""
    assert editor.set(name, "l1")
    assert editor.set(value, "") == ""
    assert not editor.wrong
    assert "height" not in editor.model.constants


def test_postures_are_renamed_and_removed_and_rest_follows_the_limits():
    editor = editor_of("nut_arm")
    lower = ("joints", 1, "limits", "lower")
    assert "postures.ready" in editor.set(lower, "20")  # another posture is outside
    for name in ("ready", "parked"):
        assert editor.set(("postures", name, NAME_ITSELF), "") == ""
    assert not editor.wrong
    assert editor.set(("postures", "rest", NAME_ITSELF), "home") == ""
    assert editor.set(("postures", "home", NAME_ITSELF), "rest") == ""
    assert editor.model.postures["rest"]["shoulder"] == pytest.approx(np.radians(20))


def test_base_and_tool_are_added_number_by_number():
    editor = editor_of("planar2")
    assert editor.set(("base", "xyz", 2), "l1") == ""
    assert editor.set(("tool", "rpy", 0), "90") == ""
    assert editor.model.base.xyz[2] == 0.3
    assert editor.model.tool.rpy[0] == pytest.approx(np.pi / 2)
    assert editor.set(("base", "xyz", 2), "") == ""
    assert editor.model.base.xyz == (0.0, 0.0, 0.0)


def test_a_gesture_of_a_slider_is_one_step():
    editor = editor_of("planar2")
    before = editor.data
    for value in ("0.31", "0.32", "0.33"):
        assert editor.set(("constants", "l1"), value, gesture=True) == ""
    assert editor.model.constants["l1"] == 0.33
    assert editor.undo()
    assert editor.data == before
    assert editor.redo()
    assert editor.model.constants["l1"] == 0.33


@pytest.mark.parametrize("robot", sorted(shipped_robots()))
def test_rows_of_every_shipped_robot_are_added_moved_and_removed(robot):
    editor = editor_of(robot)
    before, count = editor.data, len(editor.rows())
    assert editor.add_joints(count) == ""
    name = editor.rows()[-1].name
    assert all(name in posture for posture in editor.model.postures.values())
    assert editor.remove_joint(count) == ""
    assert editor.model == parse_robot(before)
    problem = editor.move_joint(0, 1)  # a limit may depend on the order
    assert problem or editor.rows()[1].name == RobotEditor(before).rows()[0].name
    while editor.undo():
        pass
    assert editor.data == before


def test_removing_a_joint_removes_what_belongs_to_it():
    editor = editor_of("puma560")
    names = [row.name for row in editor.rows()]
    for name in reversed(names[1:]):
        assert editor.remove_joint(names.index(name)) == ""
    assert editor.model.joint_names == (names[0],)
    assert "at least one" in editor.remove_joint(0)
    assert "end of the table" in editor.move_joint(0, 1)


@pytest.mark.parametrize("kind", ["prismatic", "universal", "ball", "revolute"])
def test_the_type_of_a_joint_is_changed(kind):
    editor = editor_of("planar2")
    assert editor.set(("joints", 1, "type"), kind) == ""
    names = [n for n in editor.model.joint_names if n.startswith("elbow")]
    assert len(names) == {"universal": 2, "ball": 3}.get(kind, 1)
    assert set(editor.model.postures["rest"]) == set(editor.model.joint_names)
    assert editor.set(("joints", 1, "type"), "revolute") == ""
    assert editor.model.joint_names == ("shoulder", "elbow")


def test_a_joint_is_renamed_with_its_postures():
    editor = editor_of("planar2")
    assert editor.set(("joints", 1, "name"), "knee") == ""
    assert editor.model.postures["elbow_left"]["knee"] == pytest.approx(1.0471975512)
    assert "used twice" in editor.set(("joints", 1, "name"), "shoulder")
    assert editor.set(("joints", 1, "name"), "")


def links(model):
    return [set(named) for named in (model.looks, model.masses, model.meshes)]


@pytest.mark.parametrize("robot", sorted(shipped_robots()))
def test_a_renamed_joint_keeps_what_belongs_to_it(robot):
    editor = editor_of(robot)
    before = editor.data
    for index, row in enumerate(editor.rows()):
        assert editor.set(("joints", index, "name"), f"renamed_{index}") == ""
        assert f"renamed_{index}" in [r.name for r in editor.rows()]
        assert editor.set(("joints", index, "name"), row.name) == ""
        assert comments(editor.data) == comments(before)
    assert parse_robot(editor.data, "robot").transmissions == parse_robot(before).transmissions
    assert links(editor.model) == links(parse_robot(before))
    assert editor.model.postures == parse_robot(before).postures


def test_everything_that_names_a_joint_is_renamed():
    text = (Path(__file__).parent / "every_key.yaml").read_bytes()
    editor = RobotEditor(text)
    before = editor.model
    for index, row in enumerate(editor.rows()):
        assert editor.set(("joints", index, "name"), f"{row.name}_2") == ""
    assert links(editor.model) != links(before)
    assert [len(named) for named in links(editor.model)] == [len(n) for n in links(before)]
    assert len(editor.model.transmissions) == len(before.transmissions)


def test_the_look_of_a_joint_that_turns_into_several_moves_to_the_last():
    editor = editor_of("nut_arm")
    look = editor.model.looks["shoulder_link"]
    assert editor.set(("joints", 1, "type"), "universal") == ""
    last = [name for name in editor.model.joint_names if name.startswith("shoulder_")][-1]
    assert editor.model.looks[f"{last}_link"] == look
    assert editor.set(("joints", 1, "type"), "revolute") == ""
    assert editor.model.looks["shoulder_link"] == look


@pytest.mark.parametrize("robot", sorted(shipped_robots()))
def test_a_posture_is_kept_as_it_is(robot):
    editor = editor_of(robot)
    model = editor.model
    q = {joint.name: joint.rest for joint in model.joints}
    if model.constraint_set:
        q = dict(model.postures["rest"])
    width = {} if model.gripper is None else model.gripper.positions(model.gripper.max_width)
    q.pop("gripper", None)
    assert editor.keep_posture("kept", {**q, **width}) == ""
    kept = editor.model.postures["kept"]
    assert {name: kept[name] for name in q} == pytest.approx(q, abs=1e-8)
    if model.gripper is not None:
        assert kept["gripper"] == pytest.approx(model.gripper.max_width, abs=1e-8)
    assert editor.keep_posture("far", {name: 90.0 for name in q})


HERE = {"turn": 0.5, "slide": 0.02}


def saved(path, text, name="here", positions=HERE):
    path.write_bytes(text.encode())
    store_posture(path, name, positions)
    return path.read_bytes().decode()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "my.yaml"


def test_new_posture_adds_one_line(file, small):
    commented = small.replace("gripper: 10}", "gripper: 10}  # closed\n  # the end") + "# really\n"
    new = saved(file, commented)
    added = "  here: {turn: 28.6478897565, slide: 20}"
    assert added in new.splitlines()
    assert new.replace(f"\n{added}", "") == commented
    assert new.index("# closed") < new.index(added) < new.index("# the end")
    assert read_robot(file).postures["here"] == pytest.approx(HERE, abs=1e-9)


def test_replacing_a_posture_changes_only_its_numbers(file, small):
    block = small[: small.index("postures:")] + (
        "postures:\n"
        "  rest:\n"
        "    turn: 0      # ahead\n"
        "    # in between\n"
        "    gripper: 10\n"
        '    "slide": 2*5\n'
        "# after\n"
    )
    new = saved(file, block, "rest", HERE | {"gripper": 0.03})
    expected = block.replace("turn: 0 ", "turn: 28.6478897565 ").replace("2*5", "20")
    assert new == expected.replace("gripper: 10\n", "gripper: 30\n")


def test_replacing_a_number_removes_its_source(file, small):
    sourced = small.replace("rest: {turn: 0,", "rest: {turn: {value: 0, source: measured},")
    new = saved(file, sourced, "rest", HERE | {"gripper": 0.01})
    assert new == small.replace("turn: 0, slide: 0,", "turn: 28.6478897565, slide: 20,")


def test_posture_may_lose_and_regain_its_gripper_width(file, small):
    without = saved(file, small, "rest")
    assert "rest: {turn: 28.6478897565, slide: 20}\n" in without
    new = saved(file, without, "rest", {"gripper": 0.01, "turn": 0.0, "slide": 0.0})
    assert new == small


@pytest.mark.parametrize("name", ["on", "it's", "a: b", "ß # ", "1", "{x", "two words"])
def test_any_posture_name_reads_back(file, small, name):
    saved(file, small, name)
    assert name in read_robot(file).postures


def test_backup_and_permissions_are_kept(file, small):
    file.write_text(small)
    file.chmod(0o640)
    link = file.with_name("link.yaml")
    link.symlink_to(file)
    model = store_posture(link, "here", HERE)
    assert model == read_robot(file) and link.is_symlink()
    assert file.with_name("my.yaml.bak").read_text() == small
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_of_two_postures_stored_at_once_none_is_lost_silently(file, small):
    file.write_text(small)

    def store(number):
        try:
            store_posture(file, f"posture_{number}", HERE)
        except FileChangedError:
            return None
        return f"posture_{number}"

    with ThreadPoolExecutor(2) as pool:
        stored = set(pool.map(store, range(50))) - {None}
    assert set(read_robot(file).postures) == {"rest", *stored} and stored


def refused(file, text, name="here", positions=HERE):
    file.write_text(text)
    with pytest.raises(DescriptionError) as caught:
        store_posture(file, name, positions)
    assert file.read_text() == text and not file.with_name("my.yaml.bak").exists()
    return str(caught.value)


def test_unreadable_file_is_reported(tmp_path):
    with pytest.raises(DescriptionError, match=r"none\.yaml: cannot be read \(No such file"):
        store_posture(tmp_path / "none.yaml", "here", HERE)


def test_rejected_posture_changes_nothing(file, small):
    for positions, message in (
        ({"tern": 0.0, "slide": 0.0}, "has no joint 'tern'; did you mean 'turn'"),
        ({"turn": 0.0}, "has no 'slide'"),
        ({"turn": 9.0, "slide": 0.0}, "is outside the limits"),
        ({"turn": float("nan"), "slide": 0.0}, "not"),
    ):
        assert message in refused(file, small, positions=positions)
    assert "convention" in refused(file, small.replace("standard", "strandard"))
    shared = small.replace("gripper: 10}", "gripper: 10}").replace("rest: {", "rest: &r {")
    assert "cannot be changed alone" in refused(
        file, shared + "  same: *r\n", "rest", HERE | {"gripper": 0.02}
    )


@settings(max_examples=12)
@given(data=st.data())
def test_saving_a_posture_keeps_the_rest_of_a_shipped_robot(tmp_path_factory, data):
    robot = data.draw(st.sampled_from(sorted(shipped_robots())))
    text = shipped_robots()[robot].read_text()
    model = parse_robot(text)
    name = data.draw(st.sampled_from([*model.postures, "another"]))
    share = data.draw(st.floats(0.0, 1.0))
    positions = {j.name: j.lower + share * (j.upper - j.lower) for j in model.joints}
    q = [positions[name] for name in model.joint_names]
    assume(model.constraint_set.worst(q) is None)
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    new = saved(file, text, name, positions)
    assert parse_robot(new).postures[name] == pytest.approx(positions, abs=1e-9)
    assert [w for w in new.split() if w.startswith("#")] == [
        w for w in text.split() if w.startswith("#")
    ]


PATHS = [
    ("constants", "l1"),
    ("constants", "l1", NAME_ITSELF),
    ("constants", "", NAME_ITSELF),
    ("postures", "rest", NAME_ITSELF),
    ("joints", 0, "a"),
    ("joints", 0, "name"),
    ("joints", 0, "limits", "lower"),
    ("joints", 1, "alpha"),
    ("joints", 1, "type"),
    ("base", "xyz", 1),
    ("tool", "rpy", 2),
    ("units", "angle"),
]
EDITS = st.lists(
    st.one_of(
        st.tuples(
            st.just("set"),
            st.sampled_from(PATHS),
            st.sampled_from(["0.5", "l2", "l1 + l2", "x", "", "30 # no", "- 3", "prismatic"]),
        ),
        st.tuples(st.just("add_joints"), st.integers(0, 2)),
        st.tuples(st.just("remove_joint"), st.integers(0, 1)),
        st.tuples(st.just("move_joint"), st.integers(0, 1), st.sampled_from([-1, 1])),
        st.tuples(st.sampled_from(["undo", "redo"])),
    ),
    max_size=6,
)


@settings(max_examples=25)
@given(EDITS)
def test_after_any_edits_the_text_describes_the_model_and_all_can_be_undone(edits):
    editor = editor_of("planar2")
    before = editor.data
    for verb, *arguments in edits:
        if not (verb == "remove_joint" and arguments[0] >= len(editor.rows())):
            getattr(editor, verb)(*arguments)
    assert parse_robot(editor.data) == editor.model
    after = editor.data
    while editor.undo():
        pass
    assert editor.data == before
    while editor.redo():
        pass
    assert editor.data == after or any(edit[0] == "undo" for edit in edits)


def test_a_mesh_that_belongs_to_other_numbers_is_named():
    model = load_robot("planar2")
    meshes = {"shoulder_link": Mesh("file:///a.stl", "file:///a.stl")}
    before = replace(model, meshes=meshes)
    longer = parse_robot(
        shipped_robots()["planar2"].read_bytes().replace(b"l1: 0.30", b"l1: 0.25")
    )
    (sentence,) = changed_meshes(before, replace(longer, meshes=meshes))
    assert "shoulder_link" in sentence
    assert "0.3 m" in sentence
    assert "0.25 m" in sentence
    assert changed_meshes(before, before) == ()
    other = {"shoulder_link": Mesh("file:///b.stl", "file:///b.stl")}
    assert changed_meshes(before, replace(longer, meshes=other)) == ()


@pytest.mark.parametrize("joints", range(2, 8))
def test_a_new_robot_has_its_number_of_joints_and_a_length_for_each_link(joints):
    model = parse_robot(starting_robot(joints))
    assert model.n == joints
    assert model.postures["rest"] == dict.fromkeys(model.joint_names, 0.0)
    assert len(model.constants) == joints
