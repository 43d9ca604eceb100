# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of arm_tasks, for misuse and bad files, and the shipped files; infeasible is no error."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from arm_common.suggestions import did_you_mean


class TasksError(ValueError):
    """Base of every error that arm_tasks raises; its text is one sentence for a person.

    Attributes:
        what: The sentence without the place: `key: problem; remedy`.
        file: The file at fault, or "" if there is none.
        line: The line in that file, from 1, or 0 if unknown.
    """

    def __init__(
        self, problem: str, file: str = "", line: int = 0, key: str = "", remedy: str = ""
    ) -> None:
        said = f"{key}: {problem}" if key else problem
        self.what = f"{said}; {remedy}" if remedy else said
        self.file = file
        self.line = line
        super().__init__(self.what, file, line)

    def __str__(self) -> str:
        if not self.file:
            return self.what
        place = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{place}: {self.what}"


class SceneError(TasksError):
    """A scene file, or a request about a scene, makes no sense."""


class TaskFileError(TasksError):
    """A task file makes no sense, by itself or with the scene and the robot at hand."""


class PlanError(TasksError):
    """The planner was asked something that makes no sense, such as a start without a joint."""


class WorldError(TasksError):
    """The simulated world was given a tool pose or a gripper width that cannot be."""


_PACKAGE = "arm_tasks"


def shipped(kind: str) -> dict[str, Path]:
    """Return the shipped files of a kind, "scenes" or "tasks", by name, sorted.

    The source tree's own folder goes first, so that a checkout is never shadowed by an older
    installation; then share/arm_tasks of the prefix that this file is installed under, then of
    each prefix in AMENT_PREFIX_PATH.
    """
    here = Path(__file__).absolute()
    prefixes = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    installed = [prefix / "share" / _PACKAGE / kind for prefix in (*here.parents, *prefixes)]
    folders = [here.parents[1] / kind, *installed]
    folder = next(filter(Path.is_dir, folders), folders[0])
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def resolve(name_or_path: str, kind: str, noun: str, error: Callable[..., TasksError]) -> Path:
    """Return the file that a name or a path means.

    A path is what has a slash or ends in .yaml or .yml; everything else is a shipped name.

    Args:
        name_or_path: What a person wrote.
        kind: "scenes" or "tasks".
        noun: What to call it in the error, such as "scene".
        error: What to raise.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        if path.is_file():
            return path
        raise error(f"there is no such {noun} file", str(path))
    names = shipped(kind)
    if name_or_path not in names:
        where = f"shipped with {_PACKAGE}, and it is no path of a .yaml file"
        raise error(f"no {noun} '{name_or_path}' is {where}; {did_you_mean(name_or_path, names)}")
    return names[name_or_path]
