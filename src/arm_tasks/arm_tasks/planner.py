# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Task + scene + robot -> Plan: every step proven before the first motion, or the one refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.collision import LIBRARY, CollisionChecker, available
from arm_tasks.errors import PlanError, SceneError
from arm_tasks.geometry import Array
from arm_tasks.motions import Motions
from arm_tasks.nut_belief import Belief, InJaws, OnBolt, at_start
from arm_tasks.plan import Plan, Situation
from arm_tasks.plan_builder import Labels, PlanBuilder, Refused
from arm_tasks.scene import Scene, readonly
from arm_tasks.screw_plan import ScrewPlanner
from arm_tasks.task_steps import (
    Grip,
    MoveJoints,
    MoveLinear,
    MovePose,
    MovePosture,
    Repeat,
    Screw,
    ScrewOn,
    StepBase,
    Task,
    Turn,
    Unscrew,
    Wait,
)


def plan_task(
    task: Task,
    scene: Scene,
    model: RobotModel,
    chain: Chain,
    start: Mapping[str, float],
    start_width: float,
    collisions: bool = True,
) -> Plan:
    """Plan and prove a whole task; nothing moves.

    Args:
        task: What to do.
        scene: Where things are.
        model: The robot: postures and gripper.
        chain: Its kinematics; limits of speed and acceleration must be known.
        start: Joint positions by name [rad or m]; other names, such as fingers, are not looked at.
        start_width: Width of the jaws [m]; not looked at if there is no gripper.
        collisions: Whether to look for collisions, as far as the library for it is installed.

    Returns:
        The plan; if a step cannot be done, plan.feasible is False and plan.refusal names it and
        says by how much.

    Raises:
        TaskFileError: A step makes no sense with this scene or robot: unknown frame, posture, ...
        PlanError: A joint has no start position, or it is not finite or outside its limits; the
            jaws' width or a limit of speed or acceleration is not known.
    """
    q = _start(chain, start)
    if model.gripper is not None and not math.isfinite(start_width):
        raise PlanError(f"the width of the jaws at the start is {start_width}")
    checker, unchecked = _checker(model, scene) if collisions else (None, [])
    builder = PlanBuilder(model, chain, q, start_width, checker)
    planner = _Planner(task.steps, scene, builder)
    refusal, refused_at = None, None
    try:
        planner.run()
    except Refused as refused:
        refusal, refused_at = refused.report, planner.before
    return Plan(
        task=task.name,
        scene=scene.name,
        joint_names=chain.joint_names,
        start=q,
        start_width=start_width,
        steps=tuple(builder.steps),
        refusal=refusal,
        warnings=(*builder.warnings, *unchecked),
        refused_at=refused_at,
    )


def _checker(model: RobotModel, scene: Scene) -> tuple[CollisionChecker | None, list[str]]:
    """Return what knows of collisions, and what a person should know that it does not know."""
    if not available():
        return None, [f"collisions were not looked for: pip install {LIBRARY}"]
    checker = CollisionChecker(model, scene)
    meshes = ", ".join(checker.unknown)
    why = f"collisions of {meshes} were not looked for: of meshes nothing is known here"
    return checker, [why] if meshes else []


def can_step(
    steps: Sequence[StepBase], scene: Scene, model: RobotModel, chain: Chain, at: Situation
) -> bool:
    """Return whether one step can be done from what it begins with, whatever comes before it.

    Args:
        steps: Of the task; the one to try is at.number of them, repetitions written out.
        scene: Where things are.
        model: The robot.
        chain: Its kinematics.
        at: What the step begins with.
    """

    def done(checker: CollisionChecker | None) -> bool:
        planner = _Planner(steps, scene, PlanBuilder(model, chain, at.q, at.width, checker))
        planner.nut = at.nut
        try:
            planner.one(at.number)
        except Refused:
            return False
        return True

    if not done(None):  # collisions take longer to look for
        return False
    checker, _ = _checker(model, scene)
    return checker is None or done(checker)


class _Planner:
    """Walks through the steps of a task and gives each to the function for its kind."""

    def __init__(self, steps: Sequence[StepBase], scene: Scene, builder: PlanBuilder) -> None:
        self.scene = scene
        self.builder = builder
        self.motions = Motions(scene, builder)
        self.nut: Belief = at_start(scene)
        self.steps = list(expanded(steps))
        self.plan_of: dict[type[StepBase], Callable[[Any, str], None]] = {
            MoveJoints: self.motions.move_joints,
            MovePosture: self.motions.move_posture,
            MovePose: self.motions.move_pose,
            MoveLinear: self.motions.move_linear,
            Turn: self.motions.turn,
            Grip: self._grip,
            Unscrew: self._unscrew,
            ScrewOn: self._screw_on,
            Wait: self._wait,
        }

    def run(self) -> None:
        """Plan every step; raises Refused at the first that cannot be done."""
        for number in range(len(self.steps)):
            self.one(number)

    def one(self, number: int) -> None:
        """Plan one step; raises Refused if it cannot be done."""
        top, step, name = self.steps[number]
        self.builder.task_step = top
        self.before = Situation(number, self.builder.q, self.builder.width, self.nut)
        try:
            self.plan_of[type(step)](step, name)
        except SceneError as error:
            raise self.builder.wrong(step, error.what) from None

    def _grip(self, step: Grip, name: str) -> None:
        width = self.builder.jaws(step).max_width if step.width is None else step.width
        verb = "opening" if step.width is None or width > self.builder.width else "closing"
        message = f"{verb} the jaws to {width * 1e3:.1f} mm"
        self.builder.gripper(Labels(step, name, message), width)

    def _unscrew(self, step: Unscrew, name: str) -> None:
        self._check_bolt(step)
        if not isinstance(self.nut, OnBolt) or self.nut.bolt != step.bolt:
            where = f"on {self.nut.bolt}" if isinstance(self.nut, OnBolt) else "in the jaws"
            raise self.builder.wrong(step, f"the nut is {where} at this step, not on {step.bolt}")
        planner = ScrewPlanner(self.builder, self.scene, step, name)
        self.nut = planner.unscrew(self.nut, self._next_screw_on())

    def _screw_on(self, step: ScrewOn, name: str) -> None:
        self._check_bolt(step)
        if not isinstance(self.nut, InJaws):
            raise self.builder.wrong(step, "the nut is not in the jaws; unscrew it before")
        self.nut = ScrewPlanner(self.builder, self.scene, step, name).screw_on(self.nut)

    def _check_bolt(self, step: Screw) -> None:
        self.scene.bolt(step.bolt)
        self.scene.the_nut()

    def _next_screw_on(self) -> ScrewOn | None:
        later = (
            step for _, step, _ in self.steps[self.before.number + 1 :] if isinstance(step, Screw)
        )
        following = next(later, None)
        return following if isinstance(following, ScrewOn) else None

    def _wait(self, step: Wait, name: str) -> None:
        labels = Labels(step, name, f"waiting for {step.seconds:g} s")
        self.builder.wait(labels, step.seconds)


def expanded(
    steps: Sequence[StepBase], top: int | None = None, suffix: str = ""
) -> Iterator[tuple[int, StepBase, str]]:
    """Yield (index in the task, step, name) with repetitions written out."""
    for i, step in enumerate(steps):
        at = i if top is None else top
        if not isinstance(step, Repeat):
            yield at, step, f"{step.name}{suffix}"
            continue
        for k in range(step.times):
            yield from expanded(step.steps, at, f"{suffix} ({k + 1} of {step.times})")


def _start(chain: Chain, start: Mapping[str, float]) -> Array:
    for what, values in (("speed", chain.velocity), ("acceleration", chain.acceleration)):
        if not np.isfinite(values).all():
            name = chain.joint_names[int(np.argmin(np.isfinite(values)))]
            raise PlanError(f"joint {name} has no limit of {what}; motions cannot be timed")
    missing = [name for name in chain.joint_names if name not in start]
    if missing:
        raise PlanError(f"no start position is known for joint {', '.join(missing)}")
    q = np.array([start[name] for name in chain.joint_names], dtype=np.float64)
    for i, name in enumerate(chain.joint_names):
        if not math.isfinite(q[i]):
            raise PlanError(f"the start position of joint {name} is {q[i]}")
        excess = float(max(q[i] - chain.upper[i], chain.lower[i] - q[i]))
        if excess > 1e-3:
            where = f"{excess:.4f} beyond its limit"
            raise PlanError(f"joint {name} starts {where}; move it back before running a task")
    return readonly(np.clip(q, chain.lower, chain.upper))
