# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task request, resolved to everything that planning and execution need."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import assemble

from arm_tasks.errors import PlanError, SceneError, TasksError
from arm_tasks.scene.file import TASK_SCENE, load_scene
from arm_tasks.scene.poses import TaughtPose
from arm_tasks.scene.scene import Scene
from arm_tasks.task.parser import DEFAULT_TASK, load_task, task_from_text
from arm_tasks.task.steps import Task

if TYPE_CHECKING:
    from arm_kinematics import Chain


@dataclass(frozen=True)
class ArmConfiguration:
    """Joint positions and jaw width of an arm."""

    positions: Mapping[str, float]  # by joint name [rad or m]; unknown joints are missing
    width: float  # between the jaws [m]; 0 without a gripper

    @classmethod
    def of_posture(cls, model: RobotModel, posture: str = "") -> ArmConfiguration:
        """Return a posture of the robot, by default that at which everything starts."""
        if posture and posture not in model.postures:
            known = ", ".join(model.postures) or "none"
            raise PlanError(f"{model.name} has no posture '{posture}'; it has {known}")
        named = model.postures[posture] if posture else model.home_posture[1]
        width = named.get("gripper", model.gripper.max_width if model.gripper else 0.0)
        return cls({**dict.fromkeys(model.joint_names, 0.0), **named}, width)

    @classmethod
    def of(cls, names: Sequence[str], q: Array, width: float) -> ArmConfiguration:
        """Return the configuration at joint positions (n,) [rad or m] and a width [m]."""
        return cls(dict(zip(names, q.tolist(), strict=True)), width)

    def array(self, names: Sequence[str]) -> Array:
        """Return the positions (n,) of some joints [rad or m]; inf where one is unknown."""
        return np.array([self.positions.get(name, math.inf) for name in names])


PREFERENCES = ("nearest", "torque")  # to the present posture, or the least torque of a servo


@dataclass(frozen=True)
class TorqueLimits:
    """Shares of the actuators' torques from which a plan has a warning, or is refused."""

    warning: float = 0.6
    refusal: float = 1.0

    def __post_init__(self) -> None:
        """Check the shares; raise PlanError if they are not in order."""
        if not 0.0 < self.warning <= self.refusal < math.inf:
            raise PlanError(
                f"torque limits of {self.warning:g} (warning) and {self.refusal:g} (refusal): "
                "give positive shares, the warning not above the refusal"
            )


@dataclass(frozen=True)
class TaskRequest:
    """A task with its scene, arm and start configuration."""

    task: Task  # the task
    scene: Scene  # the surroundings
    model: RobotModel  # the robot: postures and gripper
    chain: Chain  # its kinematics, with limits of speed and acceleration
    start: ArmConfiguration  # initial configuration; joints that are not in the chain are ignored
    torques: TorqueLimits = TorqueLimits()
    prefer: str = PREFERENCES[0]  # which of several postures for a target is tried first
    # base_link <- frame (4, 4) [m] found by steps of the plan, by their indices
    found: Mapping[int, Array] = field(default_factory=dict)


def load_request(
    task: str,
    model: RobotModel,
    chain: Chain,
    start: ArmConfiguration,
    scene: str | Scene = "",
    text: str = "",
    poses: Mapping[str, TaughtPose] | None = None,
    files: FileAccess = ANY_FILE,
) -> TaskRequest:
    """Resolve names to a request; raise TasksError for a missing or invalid file.

    The task is a shipped name or a path, or just a name for errors if the text is given. An
    empty scene selects the task's own, or the bare table for a task without one. The poses are
    for a text without the key `poses`. All paths refer to the given files.
    """
    if text:
        loaded = task_from_text(text, task or "the task", poses, files)
    else:
        loaded = load_task(task or DEFAULT_TASK, files)
    if isinstance(scene, str):
        scene = load_scene(scene or loaded.scene or TASK_SCENE, model.name, files)
    for link in assemble(model, "").links:
        if link.name in scene.frames:
            what = f"the name '{link.name}' is that of a link of {model.name}; choose another"
            raise SceneError(what, file=scene.file)
    return TaskRequest(loaded, scene, model, chain, start)


MAX_FILES, MAX_BYTES = 100, 60_000_000  # sent with a request, altogether


def check_amount(files: Collection[tuple[str, str]]) -> None:
    """Raise TasksError if files, name and text of each, are too many for one request."""
    remedy = "put them into a folder of the server's parameter task_path"
    if len(files) > MAX_FILES:
        raise TasksError(f"a request can have {MAX_FILES} files, not {len(files)}", remedy=remedy)
    if sum(len(name) + len(text.encode()) for name, text in files) > MAX_BYTES:
        size = f"the files of a request can have {MAX_BYTES // 1_000_000} MB altogether"
        raise TasksError(size, remedy=remedy)


class SentFiles(FileAccess):
    """Files whose contents came with a request, before those of another access.

    Args:
        texts: Contents by path, as the request names them.
        others: Access to all other files.
    """

    def __init__(self, texts: Mapping[str, str], others: FileAccess) -> None:
        self._texts = {os.path.normpath(name): text for name, text in texts.items()}
        self._others = others

    def path(self, name: str) -> Path:
        """Return the path that a name in a request means."""
        return Path(name) if os.path.normpath(name) in self._texts else self._others.path(name)

    def has(self, path: Path) -> bool:
        """Return whether there is such a file."""
        return os.path.normpath(path) in self._texts or self._others.has(path)

    def absence(self, path: Path, noun: str) -> str:
        """Return why there is no such file, as the other access says."""
        return self._others.absence(path, noun)

    def read(self, path: Path, max_bytes: int) -> bytes:
        """Return the content of a file, as `FileAccess.read` does."""
        text = self._texts.get(os.path.normpath(path))
        return self._others.read(path, max_bytes) if text is None else text.encode()


class RecordedFiles(FileAccess):
    """All files of this computer; keeps the texts of those that are read, for `SentFiles`.

    Whether they are what they should be is known only once they are parsed.

    Attributes:
        texts: Contents by path.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def read(self, path: Path, max_bytes: int) -> bytes:
        """Return the content of a file, as `FileAccess.read` does."""
        data = super().read(path, max_bytes)
        with suppress(UnicodeDecodeError):
            self.texts[os.path.normpath(path)] = data.decode("utf-8-sig")
        return data
