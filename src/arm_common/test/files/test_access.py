# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Names in requests refer to allowed files only, and say nothing about others."""

import os
from pathlib import Path

import pytest
from arm_common.errors import InputError
from arm_common.files.access import ANY_FILE
from arm_common.files.requests import RestrictedFiles, folders_in
from arm_common.files.saving import check_writable, write_bytes

TEXT = b"task: t\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with an allowed one, and beside it a secret, a FIFO, and links to them."""
    folder = tmp_path / "allowed"
    (folder / "below").mkdir(parents=True)
    (folder / "own.yaml").write_bytes(TEXT)
    (folder / "below/own.yaml").write_bytes(TEXT)
    (folder / "inner.yaml").symlink_to("below/own.yaml")
    (tmp_path / "secret.yaml").write_text("key")
    (folder / "out.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "up").symlink_to(tmp_path)
    (folder / "loop.yaml").symlink_to("loop.yaml")
    (folder / "zero.yaml").symlink_to("/dev/zero")
    os.mkfifo(folder / "fifo.yaml")
    monkeypatch.chdir(folder)
    return tmp_path


@pytest.fixture
def files(place):
    return RestrictedFiles([place / "allowed"])


@pytest.mark.parametrize("name", ["own.yaml", "below/../own.yaml", "below/own.yaml", "inner.yaml"])
def test_allowed_file_is_read(files, place, name):
    for path in (files.path(name), place / "allowed" / name):
        assert files.has(path) and files.read(path, 100) == TEXT


ATTACKS = (
    "/etc/passwd", "/etc/../etc/passwd", "../secret.yaml", "../../secret.yaml", "up/secret.yaml",
    "below/../../secret.yaml", "out.yaml", "loop.yaml", "zero.yaml", "fifo.yaml", "/dev/zero",
    "/dev/stdin", "/proc/self/environ", "below", "", ".", "/", "~/secret.yaml", "~nobody_here/x",
    "nowhere.yaml", "own.yaml/x", "x\0y", "a" * 5000, "/x" * 5000,
)  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS, ids=lambda name: name[:30].replace("\0", "0"))
def test_forbidden_file_is_as_one_that_does_not_exist(files, name):
    path = files.path(name)
    assert not files.has(path)
    with pytest.raises(FileNotFoundError) as refused:
        files.read(path, 100)
    assert str(refused.value) == "[Errno 2] No such file or directory"


def test_forbidden_file_is_not_touched(files, monkeypatch, place):
    def touched(*_, **__):
        raise AssertionError("a file outside was looked up")

    for name in ("resolve", "lstat", "stat", "is_file"):
        monkeypatch.setattr(Path, name, touched)
    monkeypatch.setattr(os, "open", touched)
    assert not files.has(place / "secret.yaml")


def swap_folder(monkeypatch, place):
    """Replace a folder by a link that leads out, after the name was resolved and before open."""
    real_open = os.open

    def swapped(path, *flags, **more):
        (place / "allowed/below").rename(place / "allowed/was")
        (place / "allowed/below").symlink_to(place)
        monkeypatch.setattr(os, "open", real_open)
        return real_open(path, *flags, **more)

    monkeypatch.setattr(os, "open", swapped)


def test_folder_replaced_by_a_link_leads_nowhere(files, place, monkeypatch):
    (place / "own.yaml").write_text("key")
    swap_folder(monkeypatch, place)
    with pytest.raises(FileNotFoundError):
        files.read(Path("below/own.yaml"), 100)


def test_file_replaced_meanwhile_is_read(place, monkeypatch):
    files, fstat = RestrictedFiles([], [place / "allowed/own.yaml"]), os.fstat

    def replaced(descriptor):
        (place / "allowed/below/own.yaml").replace(place / "allowed/own.yaml")
        monkeypatch.setattr(os, "fstat", fstat)
        return fstat(descriptor)

    monkeypatch.setattr(os, "fstat", replaced)
    assert files.read(Path("own.yaml"), 100) == TEXT


def test_single_file_is_allowed_and_its_neighbours_are_not(place):
    files = RestrictedFiles([], [Path("own.yaml")])
    assert files.has(place / "allowed/own.yaml") and not files.has(place / "allowed/inner.yaml")


def test_allowed_folder_may_be_a_link(place):
    (place / "link").symlink_to("allowed")
    files = RestrictedFiles([place / "link"])
    assert files.has(place / "link/own.yaml") and not files.has(place / "link/out.yaml")


def test_no_more_is_read_than_is_used(files, place):
    (place / "allowed/large.yaml").write_bytes(b"x" * 1000)
    for access in (files, ANY_FILE):
        assert len(access.read(Path("large.yaml"), 10)) == 11
    assert len(ANY_FILE.read(Path("/dev/zero"), 10)) == 11


def test_any_file_of_an_odd_name_does_not_exist(place):
    for name in ("~nobody_here/x", "a" * 5000):
        assert not ANY_FILE.has(ANY_FILE.path(name))


def test_missing_folder_is_reported(place):
    assert folders_in(f"{place}::{place}/allowed", "task_path") == [place, place / "allowed"]
    with pytest.raises(InputError, match="parameter task_path: there is no folder /nowhere"):
        folders_in(f"{place}:/nowhere", "task_path")


@pytest.mark.parametrize(
    "name", ["new.svg", "old.svg", "no/such.svg", ".", "folder", "old.svg/x.svg", "/dev/null"]
)
def test_unwritable_output_is_refused_before_the_work_as_after_it(tmp_path, name):
    (tmp_path / "old.svg").write_bytes(TEXT)
    (tmp_path / "folder").mkdir()
    answers = []
    for check in (check_writable, lambda output: write_bytes(TEXT, output)):
        try:
            check(str(tmp_path / name))
            answers.append("")
        except InputError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]
