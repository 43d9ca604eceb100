# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task request, resolved to everything that planning and execution need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.errors import PlanError
from arm_tasks.scene.file import DEFAULT_SCENE, load_scene
from arm_tasks.scene.poses import TaughtPose
from arm_tasks.scene.scene import Scene
from arm_tasks.task.parser import DEFAULT_TASK, load_task, task_from_text
from arm_tasks.task.steps import Task


@dataclass(frozen=True)
class ArmConfiguration:
    """Joint positions and jaw width of an arm."""

    positions: Mapping[str, float]  # by joint name [rad or m]; unknown joints are missing
    width: float  # between the jaws [m]; 0 without a gripper

    @classmethod
    def of_posture(cls, model: RobotModel, posture: str = "") -> ArmConfiguration:
        """Return a posture of the robot, by default "rest" or, without one, zeros."""
        if posture and posture not in model.postures:
            known = ", ".join(model.postures) or "none"
            raise PlanError(f"{model.name} has no posture '{posture}'; it has {known}")
        named = model.postures.get(posture or "rest", {})
        width = named.get("gripper", model.gripper.min_width if model.gripper else 0.0)
        return cls({**dict.fromkeys(model.joint_names, 0.0), **named}, width)

    @classmethod
    def of(cls, names: Sequence[str], q: Array, width: float) -> ArmConfiguration:
        """Return the configuration at joint positions (n,) [rad or m] and a width [m]."""
        return cls(dict(zip(names, q.tolist(), strict=True)), width)

    def array(self, names: Sequence[str]) -> Array:
        """Return the positions (n,) of some joints [rad or m]; inf where one is unknown."""
        return np.array([self.positions.get(name, math.inf) for name in names])


@dataclass(frozen=True)
class TaskRequest:
    """A task with its scene, arm and start configuration."""

    task: Task  # the task
    scene: Scene  # the surroundings
    model: RobotModel  # the robot: postures and gripper
    chain: Chain  # its kinematics, with limits of speed and acceleration
    start: ArmConfiguration  # initial configuration; joints that are not in the chain are ignored


def load_request(
    task: str,
    model: RobotModel,
    chain: Chain,
    start: ArmConfiguration,
    scene: str | Scene = "",
    text: str = "",
    poses: Mapping[str, TaughtPose] | None = None,
) -> TaskRequest:
    """Resolve names to a request; raise TasksError for a missing or invalid file.

    The task is a shipped name or a path, or just a name if the text is given. An empty scene
    selects the task's own. The poses are for a text without the key `poses`.
    """
    name = task or DEFAULT_TASK
    loaded = task_from_text(text, name, poses) if text else load_task(name)
    if isinstance(scene, str):
        scene = load_scene(scene or loaded.scene or DEFAULT_SCENE, model.name)
    return TaskRequest(loaded, scene, model, chain, start)
