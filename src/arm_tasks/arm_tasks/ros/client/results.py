# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Results and errors of the arm's verbs, and their one-step tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from arm_common.errors import one_line
from arm_common.transforms import Array
from numpy.typing import NDArray

from arm_interfaces.srv import SolveIK
from arm_tasks.errors import TasksError
from arm_tasks.task.steps import Orientation


@dataclass(frozen=True)
class Progress:
    """Progress of a task.

    Attributes:
        step: Index of the running step, from 0.
        steps_total: Number of steps, each part counted; 0 while the task is being checked.
        number: Number of the step in the task file, such as 3, or 3.2 for its second part.
        name: Name of the step.
        progress: Completed fraction of the step, 0 to 1.
        message: What the arm is doing, one sentence.
        paused: True while the task waits to be resumed.
    """

    step: int
    steps_total: int
    number: str
    name: str
    progress: float
    message: str
    paused: bool


@dataclass(frozen=True)
class IkAnswer:
    """An answer of inverse kinematics; truthy if there is a solution.

    Attributes:
        status: A status of SolveIK.
        message: One sentence.
        joints: The nearest solution, or the best effort if there is none, by name [rad or m].
        position_error: Position error of `joints` [m].
        orientation_error: Orientation error of `joints` [rad].
        limiting_joints: Joints whose limits prevent a solution.
    """

    status: int
    message: str
    joints: Mapping[str, float]
    position_error: float
    orientation_error: float
    limiting_joints: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.status == SolveIK.Response.SUCCESS)


@dataclass(frozen=True)
class IkBatchAnswer:
    """Answers of inverse kinematics for many targets; row k belongs to target k.

    Attributes:
        message: One sentence that counts the statuses.
        joint_names: Names of the joints (n).
        statuses: A status of SolveIK for each target (m,); TIMEOUT also if it was not tried.
        q: Solutions, or the best efforts, or the seeds of targets that were not tried (m, n)
            [rad or m].
        position_error: Distances from the targets (m,) [m]; inf for targets that were not tried.
        orientation_error: Angles from the targets (m,) [rad], likewise.
    """

    message: str
    joint_names: tuple[str, ...]
    statuses: NDArray[np.int8]
    q: Array
    position_error: Array
    orientation_error: Array

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Whether each target has a solution (m,)."""
        return np.asarray(self.statuses == SolveIK.Response.SUCCESS)

    def __len__(self) -> int:
        return len(self.statuses)


@dataclass(frozen=True)
class DynamicsAnswer:
    """Torques of the joints, by name [N m], or forces of prismatic ones [N].

    Attributes:
        message: One sentence: the joint that is loaded most.
        torques: What the motion takes.
        gravity_torques: The part of it that holds the arm at rest.
        shares: The torques as signed shares of the effort limits; 0 where there is none.
        inertia: Torque per acceleration (n, n), in the order of `torques`.
        payload_capacity: Largest mass at the tool that the joints can hold here [kg].
    """

    message: str
    torques: Mapping[str, float]
    gravity_torques: Mapping[str, float]
    shares: Mapping[str, float]
    inertia: Array
    payload_capacity: float


class ArmError(TasksError):
    """A verb failed or was rejected; the text is one sentence.

    Attributes:
        result: The action's result or the service's response, or None.
    """

    def __init__(self, what: str, result: Any = None) -> None:
        super().__init__(what)
        self.result = result


class ArmTimeoutError(ArmError, TimeoutError):
    """A verb did not finish in time."""


XYZ = Sequence[float]


def number_of(value: Any, what: str) -> float:
    """Return a value as a float; raise ArmError, which says what it is, if it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        shown = one_line(repr(value), 80)
        raise ArmError(f"{what} is {shown}, not a number") from None


def numbers_of(values: Mapping[str, Any], what: str) -> dict[str, float]:
    """Return values by name as floats; errors as of number_of()."""
    return {name: number_of(value, f"{what} of {name}") for name, value in values.items()}


def task_text(kind: str, **keys: Any) -> str:
    """Return the text of a one-step task, without keys that are None."""
    body = {key: value for key, value in keys.items() if value is not None}
    task = {"task": kind, "steps": [{kind: body}]}
    return str(yaml.safe_dump(task, sort_keys=False))


def pose_keys(
    xyz: XYZ, rpy: XYZ | None, frame: str, orientation: Orientation | None
) -> dict[str, Any]:
    """Return the pose keys of a step, xyz [m] and rpy [rad]; None allows any orientation."""
    return {
        "frame": frame,
        "xyz": [number_of(value, "a value of xyz") for value in xyz],
        "rpy": None if rpy is None else [number_of(value, "a value of rpy") for value in rpy],
        "orientation": orientation or ("any" if rpy is None else "full"),
    }
