# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The error family of arm_tasks: misuse and bad files. An infeasible task is a result instead."""

from __future__ import annotations


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
