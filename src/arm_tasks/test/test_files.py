# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shipped files are found from the source tree and from an installation."""

import shutil
from pathlib import Path

from arm_tasks.scene.file import load_scene
from arm_tasks.task.parser import load_task

from arm_tasks import errors


def test_every_shipped_file_can_be_read():
    assert "nut_transfer" in errors.shipped("scenes")
    for name in errors.shipped("scenes"):
        assert load_scene(name).name == name
    for name in errors.shipped("tasks"):
        task = load_task(name)
        assert task.name == name
        assert not task.scene or task.scene in errors.shipped("scenes")


def test_an_installation_is_found_by_the_ament_prefix(tmp_path, monkeypatch):
    source = Path(__file__).resolve().parents[1]
    for kind in ("scenes", "tasks"):
        shutil.copytree(source / kind, tmp_path / "share" / "arm_tasks" / kind)
    elsewhere = tmp_path / "lib" / "site-packages" / "arm_tasks" / "files.py"
    monkeypatch.setattr(errors, "__file__", str(elsewhere))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    assert errors.shipped("tasks")["nut_transfer"].is_relative_to(tmp_path)
    monkeypatch.setattr(errors, "__file__", "/nowhere/arm_tasks/errors.py")
    assert errors.shipped("tasks") == {}
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/other:{tmp_path}")
    assert "nut_transfer" in errors.shipped("tasks")
