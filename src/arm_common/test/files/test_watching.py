# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every way of saving a file is detected."""

import pytest
from arm_common.files.watching import MAX_MISSES, FileWatch
from arm_testing.files.saving import by_rename, in_place, polls


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text("one")
    return path


@pytest.mark.parametrize("save", [by_rename, in_place])
def test_every_change_is_returned_once(file, save):
    watch = FileWatch(file)
    assert polls(watch) == [b"one"]
    assert polls(watch) == []
    save(file, "two")
    assert polls(watch) == [b"two"]
    save(file, "two")
    assert polls(watch) == []
    save(file, "one")
    assert polls(watch) == [b"one"]


def test_incomplete_file_is_not_returned(file):
    watch = FileWatch(file)
    polls(watch)
    for text in ("", "a", "a b", "a b c"):
        file.write_text(text)
        assert polls(watch, 1) == []
    assert polls(watch, 1) == [b"a b c"]


def test_last_of_several_saves_counts(file):
    watch = FileWatch(file)
    polls(watch)
    for text in ("two", "three", "one"):
        by_rename(file, text)
        watch.poll()
    assert polls(watch) == []  # the initial content


def test_briefly_missing_file_is_tolerated(file):
    watch = FileWatch(file)
    polls(watch)
    file.unlink()
    assert polls(watch, MAX_MISSES - 1) == []
    file.write_text("one")
    assert polls(watch) == []


def test_missing_file_is_reported_once(file):
    watch = FileWatch(file)
    polls(watch)
    file.unlink()
    assert polls(watch, MAX_MISSES - 1) == []
    with pytest.raises(FileNotFoundError):
        watch.poll()
    assert polls(watch) == []
    file.write_text("one")
    assert polls(watch) == [b"one"]
