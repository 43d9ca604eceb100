# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/task/test_parser.py
"""Errors of arm_tasks, for misuse and invalid files, and the lookup of shipped files.

An infeasible task is not an error but a result.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arm_common.errors import InputError
from arm_common.files.access import ANY_FILE, FileAccess, shipped_files
from arm_common.suggestions import did_you_mean


class TasksError(InputError):
    """Base class of the errors of arm_tasks."""


class SceneError(TasksError):
    """A scene file or a request about a scene is invalid."""


class TaskFileError(TasksError):
    """A task file is invalid, by itself or for the given scene and robot."""


class PlanError(TasksError):
    """A request to the planner is invalid, such as a start without a joint."""


_PACKAGE = "arm_tasks"


def shipped(kind: str) -> dict[str, Path]:
    """Return the shipped files of a kind, "scenes" or "tasks", by name, sorted."""
    return shipped_files(_PACKAGE, kind)


def resolve(
    name_or_path: str,
    kind: str,
    noun: str,
    error: Callable[..., TasksError],
    files: FileAccess = ANY_FILE,
) -> Path:
    """Return the path of a file given as a path or as a shipped name.

    A text with a slash or with the suffix .yaml or .yml is a path.

    Args:
        name_or_path: Path or shipped name.
        kind: "scenes" or "tasks".
        noun: Noun for the error message, such as "scene".
        error: Class of the error to raise.
        files: The files that a path may refer to.
    """
    path = files.path(name_or_path)
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        if files.has(path):
            return path
        raise error(files.absence(path, f"{noun} file"), file=str(path))
    names = shipped(kind)
    if name_or_path not in names:
        what = f"'{name_or_path}' is neither a {noun} shipped with {_PACKAGE} nor a .yaml file"
        raise error(f"{what}; {did_you_mean(name_or_path, names)}")
    return names[name_or_path]
