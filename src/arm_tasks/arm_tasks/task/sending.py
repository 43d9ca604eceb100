# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/task/test_request.py
"""The files that a client sends with a request: the server may not have them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from arm_common.files.access import FileAccess

from arm_tasks.errors import TasksError, resolve, shipped
from arm_tasks.scene.file import TASK_SCENE, load_scene
from arm_tasks.task.parser import DEFAULT_TASK, load_task
from arm_tasks.task.request import RecordedFiles, check_amount
from arm_tasks.task.steps import Play, all_steps


def files_of(task: str, scene: str = "") -> dict[str, str]:
    """Return the texts of all files that a task and a scene consist of, by path.

    Shipped files are left out. So are a task, a scene and recordings that this computer does not
    have: the server may have them.

    Raises:
        InputError: A file is not what it is named as, so none must be sent; or there are too many.
    """
    files = RecordedFiles()
    if _is_own(task := task or DEFAULT_TASK, "tasks", files):
        loaded = load_task(task, files)
        for step in all_steps(loaded.steps):
            if isinstance(step, Play) and step.path and files.has(path := Path(step.path)):
                # most tasks need none of the formats
                from arm_description.trajectories.files import check_recording

                check_recording(path, files)
        scene = scene or loaded.scene
    if _is_own(scene := scene or TASK_SCENE, "scenes", files):
        load_scene(scene, files=files)
    ours = {str(file) for kind in ("tasks", "scenes") for file in shipped(kind).values()}
    texts = {name: text for name, text in files.texts.items() if name not in ours}
    check_amount(texts.items())
    return texts


def _is_own(name: str, kind: str, files: FileAccess) -> bool:
    """Return whether there is a file of a name that is not shipped: those name only each other."""
    with suppress(TasksError):
        return resolve(name, kind, "", TasksError, files) not in shipped(kind).values()
    return False
