# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Walks through the steps of a task, along every way that it can take, and plans each of them.

A task without `if` and `until` has one way. At a branch nobody knows yet which it will be; both
are planned. The walk keeps all places at which the plan can stand, its ends, and plans each step
from each of them; ends that are alike are joined, so that what follows is planned once.

Task + scene + robot -> Plan: every step proven before the first motion, or the one refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array

from arm_kinematics import Chain
from arm_tasks.errors import PlanError, SceneError
from arm_tasks.planning.collision.checker import LIBRARY, available
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.plan_builder import Exit, Labels, PlanBuilder, Refused
from arm_tasks.planning.step_planner import StepPlanner
from arm_tasks.planning.world_model import CollisionCheckerCache, PlannedWorldState
from arm_tasks.scene.scene import Scene, readonly
from arm_tasks.task.condition import Condition
from arm_tasks.task.request import TaskRequest
from arm_tasks.task.steps import Call, If, Repeat, Screw, StepBase, Until

_MOST_ENDS = 16
_SAME = 1e-6  # joint positions [rad or m] and widths [m] that differ by less are the same

Steps = Sequence[StepBase]


@dataclass(frozen=True)
class PlanState:
    """A place at which the plan can stand.

    Attributes:
        q: Joint positions (n,) [rad or m].
        width: Of the jaws [m].
        world: What the plan takes the world to be like.
        exits: Steps that come from elsewhere to what will follow here.
    """

    q: Array
    width: float
    world: PlannedWorldState
    exits: tuple[Exit, ...] = ()

    def same(self, other: PlanState, nut_matters: bool) -> bool:
        """Return whether the task can go on alike from both."""
        if nut_matters and self.world.nut != other.world.nut:
            return False
        joints = np.abs(self.q - other.q).max() < _SAME
        return (
            bool(joints) and abs(self.width - other.width) < _SAME and self.world.same(other.world)
        )


class BranchPlanner:
    """Plans steps along every way; raises Refused at the first that cannot be done.

    Args:
        planner: Plans each of them; it stands where the task begins.
    """

    def __init__(self, planner: StepPlanner) -> None:
        self._planner = planner
        self._builder = planner.builder

    def run(self, steps: Steps) -> None:
        """Plan every step along every way."""
        ends = [self._end(())]
        for index, step in enumerate(steps):
            self._builder.task_step = index
            ends = self._step(step, ends, "", steps[index + 1 :])
        self._builder.join(exit_ for end in ends for exit_ in end.exits)

    def _list(
        self, steps: Steps, ends: list[PlanState], suffix: str, later: Steps
    ) -> list[PlanState]:
        for index, step in enumerate(steps):
            ends = self._step(step, ends, suffix, (*steps[index + 1 :], *later))
        return ends

    def _step(
        self, step: StepBase, ends: list[PlanState], suffix: str, later: Steps
    ) -> list[PlanState]:
        if isinstance(step, Repeat):
            for k in range(step.times):
                following = later if k + 1 == step.times else (*step.steps, *later)
                part = f"{suffix} ({k + 1} of {step.times})"
                ends = self._list(step.steps, ends, part, following)
            return ends
        if isinstance(step, Call):
            return self._list(step.steps, ends, suffix, later)
        if isinstance(step, If):
            return self._if(step, ends, suffix, later)
        if isinstance(step, Until):
            return self._until(step, ends, suffix, later)
        screw_next = next(screws(later), None)
        return [
            self._from(end, step, self._way(step, suffix, k, ends), screw_next)
            for k, end in enumerate(ends)
        ]

    def _if(self, step: If, ends: list[PlanState], suffix: str, later: Steps) -> list[PlanState]:
        after: list[PlanState] = []
        for k, end in enumerate(ends):
            yes, no = self._branch(step, step.when, end, self._way(step, suffix, k, ends))
            after += self._list(step.then, [yes], suffix, later)
            after += self._list(step.otherwise, [no], suffix, later)
        return self._joined(after, step, later)

    def _until(
        self, step: Until, ends: list[PlanState], suffix: str, later: Steps
    ) -> list[PlanState]:
        after: list[PlanState] = []
        for k in range(step.at_most + 1):
            not_yet: list[PlanState] = []
            for n, end in enumerate(ends):
                yes, no = self._branch(step, step.when, end, self._way(step, suffix, n, ends))
                after.append(yes)
                not_yet.append(no)
            if k < step.at_most:  # else the task fails if it does not hold then
                part = f"{suffix} ({k + 1} of at most {step.at_most})"
                following = (*step.steps, *later)
                rounds = self._list(step.steps, not_yet, part, following)
                ends = self._joined(rounds, step, following)
        return self._joined(after, step, later)

    def _from(
        self, end: PlanState, step: StepBase, name: str, screw_next: Screw | None
    ) -> PlanState:
        """Plan a step from an end; return where the plan stands then."""
        builder = self._builder
        self._stand_at(end)
        first = len(builder.steps)
        self._planner.plan(step, name, screw_next)
        if len(builder.steps) == first:
            return replace(end, q=builder.q, width=builder.width, world=self._planner.world)
        return self._end(((len(builder.steps) - 1, "following"),))

    def _branch(
        self, step: If | Until, when: Condition, end: PlanState, name: str
    ) -> tuple[PlanState, PlanState]:
        """Add a look at the world; return where the plan stands if it holds, and if not."""
        if when.nut_on:
            try:
                end.world.scene.bolt(when.nut_on)
            except SceneError as error:
                raise self._builder.wrong(step, error.what) from None
        self._stand_at(end)
        index = self._builder.branch(Labels(step, name, f"looking whether {when}"), when)
        yes, no = self._end(((index, "following"),)), self._end(((index, "otherwise"),))
        return (
            replace(yes, world=end.world.seen(when, holds=True)),
            replace(no, world=end.world.seen(when, holds=False)),
        )

    def _stand_at(self, end: PlanState) -> None:
        self._builder.q, self._builder.width = end.q, end.width
        self._planner.world = end.world
        self._builder.join(end.exits)

    def _end(self, exits: tuple[Exit, ...]) -> PlanState:
        builder = self._builder
        return PlanState(builder.q, builder.width, self._planner.world, exits)

    def _joined(self, ends: list[PlanState], step: StepBase, later: Steps) -> list[PlanState]:
        """Return the ends with those that are alike for the later steps as one."""
        result: list[PlanState] = []
        nut_matters = any(True for _ in screws(later))
        for end in ends:
            for i, other in enumerate(result):
                if end.same(other, nut_matters):
                    result[i] = replace(other, exits=(*other.exits, *end.exits))
                    break
            else:
                result.append(end)
        if len(result) > _MOST_ENDS:
            what = f"the task could stand at {len(result)} different places after this"
            remedy = "let the branches end in the same posture, the jaws equally wide"
            raise self._builder.wrong(step, f"{what}; {remedy}")
        return result

    def _way(self, step: StepBase, suffix: str, k: int, ends: list[PlanState]) -> str:
        way = f" [way {k + 1} of {len(ends)}]" if len(ends) > 1 else ""
        return f"{step.name}{suffix}{way}"


def screws(steps: Steps) -> Iterator[Screw]:
    """Yield the screw steps among steps, in order; of an `if` those of `then` first."""
    for step in steps:
        if isinstance(step, Screw):
            yield step
        elif isinstance(step, Repeat | Call | Until):
            yield from screws(step.steps)
        elif isinstance(step, If):
            yield from screws((*step.then, *step.otherwise))


def plan_task(request: TaskRequest, collisions: bool = True) -> TaskPlan:
    """Plan and prove a whole task; nothing moves.

    Args:
        request: What to do, where, with which arm, and from where.
        collisions: Whether to check collisions, if the library for it is installed.

    Returns:
        The plan; if a step cannot be done, plan.feasible is False and plan.refusal names it and
        says by how much.

    Raises:
        TaskFileError: A step makes no sense with this scene or robot: unknown frame, posture, ...
        PlanError: A joint has no start position, or it is not finite or outside its limits; the
            jaws' width or a limit of speed or acceleration is not known.
    """
    q, width = _start(request.chain, request.start.positions), request.start.width
    if request.model.gripper is not None and not math.isfinite(width):
        raise PlanError(f"the width of the jaws at the start is {width}")
    checkers = CollisionCheckerCache(request.model, wanted=collisions and available())
    world = PlannedWorldState.at_start(request.scene)
    unchecked = _unchecked(checkers, world) if collisions else []
    builder = PlanBuilder(request.model, request.chain, q, width)
    planner = StepPlanner(builder, world, checkers)
    refusal, refused_at = None, None
    try:
        BranchPlanner(planner).run(request.task.steps)
    except Refused as refused:
        refusal, refused_at = refused.report, planner.before
    return TaskPlan(
        request=request,
        start=q,
        steps=tuple(builder.steps),
        refusal=refusal,
        warnings=(*builder.warnings, *unchecked),
        refused_at=refused_at,
    )


def _unchecked(checkers: CollisionCheckerCache, world: PlannedWorldState) -> list[str]:
    """Return what a person should know that is not known of collisions."""
    checker = checkers.of(world)
    if checker is None:
        return [f"collisions were not looked for: pip install {LIBRARY}"]
    meshes = ", ".join(checker.unknown)
    why = f"collisions of {meshes} were not looked for: of meshes nothing is known here"
    return [why] if meshes else []


def can_step(step: StepBase, scene: Scene, plan: TaskPlan) -> bool:
    """Return whether a step can be done in place of the one that a plan refuses.

    Args:
        step: The one to try.
        scene: Where things are then.
        plan: The refusal.
    """
    at, model = plan.refused_at, plan.request.model
    assert at is not None

    def done(collisions: bool, sketch: bool) -> bool:
        builder = PlanBuilder(model, plan.request.chain, at.q, at.width, sketch=sketch)
        world = replace(at.world, scene=scene)
        try:
            planner = StepPlanner(builder, world, CollisionCheckerCache(model, collisions))
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
