# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the arm tells: how far a task is, and answers of inverse kinematics.

What goes wrong when a program moves the arm.

Verbs -> tasks of one step, as text of the task language: one way to plan, check and move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import yaml

from arm_tasks.errors import TasksError


@dataclass(frozen=True)
class Progress:
    """How far a task is.

    Attributes:
        step: Index of the running step, from 0.
        steps_total: Number of steps; 0 while it is checked.
        name: The step's name.
        progress: How far the step is, 0 to 1.
        message: One sentence: what the arm is doing.
        paused: Whether it waits to be resumed.
    """

    step: int
    steps_total: int
    name: str
    progress: float
    message: str
    paused: bool


@dataclass(frozen=True)
class IkAnswer:
    """An answer of inverse kinematics; true if there is a solution.

    Attributes:
        status: As in SolveIK, 1 for success.
        message: One sentence.
        joints: The nearest solution by joint name [rad or m]; without one, the best effort.
        position_error: Of these joints [m].
        orientation_error: Of these joints [rad].
        limiting_joints: Those whose limits are in the way.
    """

    status: int
    message: str
    joints: Mapping[str, float]
    position_error: float
    orientation_error: float
    limiting_joints: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.status == 1


class ArmError(TasksError):
    """The arm did not do what it was asked for; its text is one sentence.

    Attributes:
        result: The action's result or the service's response that says so, or None.
    """

    def __init__(self, what: str, result: Any = None) -> None:
        super().__init__(what)
        self.result = result


class ArmTimeoutError(ArmError, TimeoutError):
    """It took longer than it was given."""


Orientation = Literal["full", "axis", "any"]
XYZ = Sequence[float]


def task_text(kind: str, **keys: Any) -> str:
    """Return a task of one step; keys that are None are left out."""
    body = {key: value for key, value in keys.items() if value is not None}
    task = {"task": kind, "steps": [{kind: body}]}
    return str(yaml.safe_dump(task, sort_keys=False))


def joints_text(joints: Mapping[str, float], speed: float | None) -> str:
    """Return the task that moves some joints [rad or m]."""
    positions = {name: float(value) for name, value in joints.items()}
    return task_text("move_joints", joints=positions, speed=speed)


def pose_text(
    kind: Literal["move_pose", "move_linear"],
    xyz: XYZ,
    rpy: XYZ | None,
    frame: str,
    orientation: Orientation | None,
    speed: float | None,
) -> str:
    """Return the task that moves the tool to a place [m], turned by rpy [rad].

    Without rpy any orientation will do, unless it is asked for.
    """
    return task_text(
        kind,
        frame=frame,
        xyz=[float(value) for value in xyz],
        rpy=None if rpy is None else [float(value) for value in rpy],
        orientation=orientation or ("any" if rpy is None else "full"),
        speed=speed,
    )
