# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The file that a page edits: saved only on request, never over somebody else's work."""

import shutil
from functools import partial

import pytest
from arm_description.library import shipped_robots
from arm_studio.editing.robot_editing import RobotEditing
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import ShownFile


class Page:
    def __init__(self, robot):
        self.shown, self.watched, self.updates, self.now = [], [], 0, 0.0
        self.reports, self.begun = [], []
        file = ShownFile(
            self.shown.append,
            lambda model: None,
            self.watched.append,
            begin=self.begin,
            report=self.reports.append,
        )
        self.editing = RobotEditing(robot, file, lambda: self.now)
        self.editing.observe(self.update)

    def begin(self, model):
        self.begun.append(model.name)
        self.shown.append(model)

    def update(self):
        self.updates += 1


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_bytes(shipped_robots()["planar2"].read_bytes())
    return path


@pytest.fixture
def page(file):
    return Page(str(file))


def refused(match):
    return pytest.raises(ViewerError, match=match)


def test_edits_are_shown_at_once_and_written_on_request(page, file):
    before = file.read_bytes()
    assert page.editing.set_symbol("l1", "0.45") == "l1 = 0.45"
    assert page.shown[-1].constants["l1"] == 0.45
    assert file.read_bytes() == before
    assert not page.editing.is_saved
    assert page.editing.save() == f"Saved {file}"
    assert page.editing.is_saved
    assert file.read_bytes() == before.replace(b"l1: 0.30", b"l1: 0.45")
    assert file.with_name("mine.yaml.bak").read_bytes() == before
    assert page.editing.reload() == ""
    assert len(page.shown) == 1


def test_a_refused_entry_shows_nothing_and_is_told_to_the_panels(page):
    assert "nothing" in page.editing.set(("joints", 0, "a"), "nothing")
    assert (page.shown, page.updates) == ([], 1)
    with refused("known are l1, l2, height"):
        page.editing.set_symbol("l9", "1")
    with refused("1 \\+"):
        page.editing.set_symbol("l1", "1 +")
    assert list(page.editing.editor.wrong) == [("joints", 0, "a")]  # a typed line marks no field


def test_quick_edits_of_one_entry_are_one_step(page):
    for now, text in ((0.0, "0.4"), (0.2, "0.45"), (9.0, "0.5")):
        page.now = now
        page.editing.set_symbol("l1", text)
    page.editing.undo()
    assert page.shown[-1].constants["l1"] == 0.45
    page.editing.undo()
    assert page.shown[-1].constants["l1"] == 0.30
    page.editing.redo()
    assert page.shown[-1].constants["l1"] == 0.45


def test_the_file_of_another_program_is_taken_or_kept(page, file):
    text = file.read_bytes()
    file.write_bytes(text.replace(b"l2: 0.20", b"l2: 0.25"))
    assert page.editing.reload() == ""
    assert page.editing.editor.model.constants["l2"] == 0.25
    page.editing.set_symbol("l1", "0.4")
    file.write_bytes(text)
    assert "not saved" in page.editing.reload()
    assert page.shown[-1].constants == {"l1": 0.4, "l2": 0.25, "height": 0.1}
    with refused("changed by another program"):
        page.editing.save()
    assert file.read_bytes() == text
    file.write_bytes(b"{")
    assert page.editing.reload() == ""


@pytest.mark.parametrize("is_refused", [False, True])
def test_neither_an_edit_nor_what_another_program_writes_is_lost(page, file, is_refused):
    """As `./arm set l2 0.25` writes beside an edit of the page, accepted or marked."""
    text = file.read_bytes()
    page.editing.set(("constants", "l1"), "l9" if is_refused else "0.4")
    other = text.replace(b"l2: 0.20", b"l2: 0.25")
    file.write_bytes(other)
    assert "Undo takes the other program's text" in page.editing.reload()
    assert page.editing.is_changed_outside
    assert page.editing.editor.text(("constants", "l1")) == ("l9" if is_refused else "0.4")
    with refused("marked" if is_refused else "changed by another program"):
        page.editing.save()
    assert file.read_bytes() == other
    page.editing.undo()
    assert page.editing.editor.data == other
    assert page.reports == [""]
    assert page.editing.is_saved
    assert not page.editing.is_changed_outside
    assert page.shown[-1].constants["l2"] == 0.25


def test_marked_entries_are_never_saved(page, file):
    text = file.read_bytes()
    page.editing.set(("constants", "l1"), "0.4")
    page.editing.set(("joints", 0, "a"), "l9")
    for save in (page.editing.save, partial(page.editing.save_as, "other")):
        with refused("Nothing was saved. Correct the marked entries first"):
            save()
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == text
    page.editing.set(("joints", 0, "a"), "l1")
    page.editing.save()


def test_a_shipped_robot_is_saved_under_another_name_only(file):
    page = Page("planar2")
    page.editing.set_symbol("l1", "0.4")
    with refused("shipped robot"):
        page.editing.save()
    for name in ("", "a/b", "../x", ".yaml", "a\0b", "a\nb", "\x7f", "\ud800", "\u2028"):
        with refused("is not a file name"):
            page.editing.save_as(name)
    for name in ("x" * 300, "ü" * 120):
        with refused("letters is too long: give at most 200"):
            page.editing.save_as(name)
    with refused("press Save as again"):
        page.editing.save_as("mine")
    assert page.editing.save_as("mine") == f"Saved {file}"
    assert page.watched == [file]
    assert page.editing.save() == f"Saved {file}"


def test_robots_are_opened_and_edits_dropped_only_when_asked_twice(page, file):
    names = [choice.name for choice in page.editing.choices()]
    assert names == ["mine.yaml", *shipped_robots()]
    page.editing.set_symbol("l1", "0.4")
    with refused("press Open again"):
        page.editing.open("puma560")
    assert page.editing.open("puma560").startswith("Opened")
    assert page.shown[-1].name == page.begun[-1] == "puma560"
    assert page.watched == [shipped_robots()["puma560"]]
    file.write_text("name: [\n")
    assert "mine.yaml" not in [choice.name for choice in page.editing.choices()]
    with refused("no robot nobody"):
        page.editing.open("nobody")


@pytest.mark.parametrize("joints", [2, 7])
def test_a_new_robot_needs_a_name(page, joints, tmp_path):
    page.editing.new(joints)
    assert page.shown[-1].n == joints
    assert not page.editing.is_saved
    with refused("Save as"):
        page.editing.save()
    page.editing.new(joints)  # nothing is lost: nobody has edited it
    page.editing.set(("joints", 0, "d"), "12")
    with refused("press New again"):
        page.editing.new(3)
    page.editing.save_as("other.yaml")
    assert (tmp_path / "other.yaml").exists()


def test_save_as_under_the_same_name_asks_before_it_loses_what_another_program_wrote(page, file):
    text = file.read_bytes()
    page.editing.set_symbol("l1", "0.4")
    assert page.editing.save_as("mine") == f"Saved {file}"
    backup = file.with_name("mine.yaml.bak")
    assert backup.read_bytes() == text
    other = text.replace(b"l2: 0.20", b"l2: 0.25")
    file.write_bytes(other)
    page.editing.set_symbol("l1", "0.45")
    with refused("changed by another program"):
        page.editing.save()
    with refused("changed by another program: press Save as again"):
        page.editing.save_as("mine")
    assert file.read_bytes() == other
    assert page.editing.save_as("mine") == f"Saved {file}"
    assert b"l1: 0.45" in file.read_bytes()
    assert backup.read_bytes() == other


def test_to_be_asked_about_opening_a_file_does_not_allow_to_overwrite_it(page, file):
    other = file.with_name("other.yaml")
    other.write_bytes(file.read_bytes())
    page.editing.set_symbol("l1", "0.4")
    with refused("press Open again"):
        page.editing.open("other.yaml")
    with refused("press Save as again"):
        page.editing.save_as("other")


def test_the_shipped_robots_remain_when_the_folder_is_gone(page, file):
    shutil.rmtree(file.parent)
    assert [choice.name for choice in page.editing.choices()] == list(shipped_robots())
