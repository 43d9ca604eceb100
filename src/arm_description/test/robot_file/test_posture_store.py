# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Saving a posture changes nothing else in the robot file."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from arm_common.files.saving import FileChangedError
from arm_description.robot_file.posture_store import store_posture
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arm_description import DescriptionError, parse_robot, read_robot, shipped_robots

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
