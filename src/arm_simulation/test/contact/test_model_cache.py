# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled models are stored once for each content, and MuJoCo is optional."""

import sys

import pytest
from arm_simulation.contact import model_cache
from arm_simulation.contact.model_cache import compiled
from arm_tasks.errors import TasksError
from arm_tasks.planning.collision import mujoco_library
from arm_tasks.planning.collision.mujoco_library import has_mujoco

CUBE = "0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1"
DOCUMENT = f"""<mujoco><asset><mesh name="cube" vertex="{CUBE}"/></asset>
<worldbody><geom type="sdf" mesh="cube" size="{{}}"/></worldbody></mujoco>"""


@pytest.fixture
def coarse(monkeypatch):
    pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
    monkeypatch.setattr(model_cache, "DEPTH", 2)


def test_second_compilation_is_read_from_the_cache(coarse, tmp_path):
    reports = []
    first = compiled(DOCUMENT.format(1), reports.append, tmp_path)
    again = compiled(DOCUMENT.format(1), reports.append, tmp_path)
    assert len(reports) == 1
    assert first.ngeom == again.ngeom == 1
    assert len(list(tmp_path.glob("*.mjb"))) == 1


def test_damaged_file_is_compiled_anew(coarse, tmp_path):
    compiled(DOCUMENT.format(1), folder=tmp_path)
    (file,) = tmp_path.glob("*.mjb")
    file.write_bytes(file.read_bytes()[:100])
    assert compiled(DOCUMENT.format(1), folder=tmp_path).ngeom == 1
    assert file.stat().st_size > 100


def test_other_content_and_other_depth_are_compiled_anew(coarse, tmp_path, monkeypatch):
    reports = []
    compiled(DOCUMENT.format(1), reports.append, tmp_path)
    compiled(DOCUMENT.format(2), reports.append, tmp_path)
    monkeypatch.setattr(model_cache, "DEPTH", 3)
    compiled(DOCUMENT.format(1), reports.append, tmp_path)
    assert len(reports) == 3


def test_only_the_newest_models_are_kept(coarse, tmp_path):
    for size in range(1, 9):
        compiled(DOCUMENT.format(size), folder=tmp_path)
    assert len(list(tmp_path.glob("*.mjb"))) == 6


def test_cache_that_cannot_be_written_costs_only_time(coarse, tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert compiled(DOCUMENT.format(1), folder=file).ngeom == 1


def test_missing_library_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    mujoco_library.mujoco.cache_clear()
    assert not has_mujoco()
    with pytest.raises(
        TasksError, match=r"need MuJoCo, which is not installed .* pip install mujoco"
    ) as it:
        compiled("<mujoco/>")
    assert "\n" not in str(it.value)
