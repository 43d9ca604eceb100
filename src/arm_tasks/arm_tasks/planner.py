# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Task + scene + robot -> Plan: every step proven before the first motion, or the one refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.checkers import Checkers
from arm_tasks.collision import LIBRARY, available
from arm_tasks.errors import PlanError
from arm_tasks.geometry import Array
from arm_tasks.plan import Plan, Situation
from arm_tasks.plan_builder import PlanBuilder, Refused
from arm_tasks.scene import Scene, readonly
from arm_tasks.step_planner import StepPlanner
from arm_tasks.task_steps import Screw, StepBase, Task
from arm_tasks.walk import Walk
from arm_tasks.world_belief import World


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
    checkers = Checkers(model, wanted=collisions and available())
    world = World.at_start(scene)
    unchecked = _unchecked(checkers, world) if collisions else []
    builder = PlanBuilder(model, chain, q, start_width)
    planner = StepPlanner(builder, world, checkers)
    refusal, refused_at = None, None
    try:
        Walk(planner).run(task.steps)
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


def _unchecked(checkers: Checkers, world: World) -> list[str]:
    """Return what a person should know that is not known of collisions."""
    checker = checkers.of(world)
    if checker is None:
        return [f"collisions were not looked for: pip install {LIBRARY}"]
    meshes = ", ".join(checker.unknown)
    why = f"collisions of {meshes} were not looked for: of meshes nothing is known here"
    return [why] if meshes else []


def can_step(step: StepBase, scene: Scene, model: RobotModel, chain: Chain, at: Situation) -> bool:
    """Return whether a step can be done from a situation, in place of the step that is there.

    Args:
        step: The one to try.
        scene: Where things are.
        model: The robot.
        chain: Its kinematics.
        at: What the step begins with; its scene is not looked at.
    """

    def done(collisions: bool, sketch: bool) -> bool:
        builder = PlanBuilder(model, chain, at.q, at.width, sketch=sketch)
        world = replace(at.world, scene=scene)
        try:
            planner = StepPlanner(builder, world, Checkers(model, collisions))
            planner.plan(step, step.name, at.screw_next)
        except Refused:
            return False
        return True

    # what takes long comes last: all strokes of a screw step, collisions, both of them
    sketches = [True, False] if isinstance(step, Screw) else [False]
    looks = [False, True] if available() else [False]
    return all(done(collisions, sketch) for sketch in sketches for collisions in looks)


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
