# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Walks through the steps of a task, along every way that it can take, and plans each of them.

A task without `if` and `until` has one way. At a branch nobody knows yet which it will be; both
are planned. The walk keeps all places at which the plan can stand, its ends, and plans each step
from each of them; ends that are alike are joined, so that what follows is planned once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arm_description import RobotModel
from arm_tasks.collision import CollisionChecker
from arm_tasks.condition import Condition
from arm_tasks.errors import SceneError
from arm_tasks.geometry import Array
from arm_tasks.motions import Motions
from arm_tasks.nut_belief import InJaws, OnBolt, at_start
from arm_tasks.payloads import SQUEEZE, grasp
from arm_tasks.plan import Situation
from arm_tasks.plan_builder import Exit, Labels, PlanBuilder
from arm_tasks.screw_plan import ScrewPlanner
from arm_tasks.task_steps import (
    Approach,
    Call,
    Grip,
    If,
    MoveJoints,
    MoveLinear,
    MovePose,
    MovePosture,
    PauseForPerson,
    Play,
    Repeat,
    Retreat,
    Screw,
    ScrewOn,
    SetSpeed,
    StepBase,
    Turn,
    Unscrew,
    Until,
    Wait,
)
from arm_tasks.world_belief import World

_MOST_ENDS = 16
_SAME = 1e-6  # joint positions [rad or m] and widths [m] that differ by less are the same

Steps = Sequence[StepBase]


@dataclass(frozen=True)
class End:
    """A place at which the plan can stand.

    Attributes:
        q: Joint positions (n,) [rad or m].
        width: Of the jaws [m].
        world: What the plan takes the world to be like.
        exits: Steps that come from elsewhere to what will follow here.
    """

    q: Array
    width: float
    world: World
    exits: tuple[Exit, ...] = ()

    def same(self, other: End, nut_matters: bool) -> bool:
        """Return whether the task can go on alike from both."""
        if nut_matters and self.world.nut != other.world.nut:
            return False
        joints = np.abs(self.q - other.q).max() < _SAME
        return (
            bool(joints) and abs(self.width - other.width) < _SAME and self.world.same(other.world)
        )


class Checkers:
    """A collision checker for each arrangement of payloads, made when it is needed.

    Args:
        model: The robot.
        wanted: Whether to look for collisions at all.
    """

    def __init__(self, model: RobotModel, wanted: bool) -> None:
        self._model = model
        self._wanted = wanted
        self._made: list[tuple[World, CollisionChecker]] = []

    def of(self, world: World) -> CollisionChecker | None:
        """Return the checker for a world, None if collisions are not looked for."""
        if not self._wanted:
            return None
        for known, checker in self._made:
            at_once = known.scene is world.scene and known.carried is world.carried
            if at_once or known.same(world):
                return checker
        checker = CollisionChecker(self._model, world.scene, world.carried)
        self._made.append((world, checker))
        return checker


class Walk:
    """Plans steps onto a builder; raises Refused at the first that cannot be done.

    Args:
        builder: Where the plan begins.
        world: What it begins with.
        checkers: Know of collisions.

    Attributes:
        before: What the step that is being planned begins with, None before the first.
    """

    def __init__(self, builder: PlanBuilder, world: World, checkers: Checkers) -> None:
        self.builder = builder
        self.world = world
        self.before: Situation | None = None
        self._checkers = checkers
        self._plan_of: dict[type[StepBase], Callable[[Any, str], None]] = {
            MoveJoints: lambda step, name: self._motions.move_joints(step, name),
            Play: lambda step, name: self._motions.play(step, name),
            MovePosture: lambda step, name: self._motions.move_posture(step, name),
            MovePose: lambda step, name: self._motions.move_pose(step, name),
            MoveLinear: lambda step, name: self._motions.move_linear(step, name),
            Approach: lambda step, name: self._motions.approach(step, name),
            Retreat: lambda step, name: self._motions.retreat(step, name),
            Turn: lambda step, name: self._motions.turn(step, name),
            Grip: self._grip,
            Unscrew: self._unscrew,
            ScrewOn: self._screw_on,
            Wait: self._wait,
            SetSpeed: lambda step, name: None,
            PauseForPerson: self._pause,
        }

    def run(self, steps: Steps) -> None:
        """Plan every step along every way."""
        ends = [End(self.builder.q, self.builder.width, self.world)]
        for index, step in enumerate(steps):
            self.builder.task_step = index
            ends = self._step(step, ends, "", steps[index + 1 :])
        self.builder.join(exit_ for end in ends for exit_ in end.exits)

    def one(self, step: StepBase, name: str, screw_next: Screw | None) -> None:
        """Plan one step that is no list of others from where the builder stands."""
        q, width = self.builder.q, self.builder.width
        self.before = Situation(step, screw_next, q, width, self.world)
        self.builder.checker = self._checkers.of(self.world)
        try:
            self._plan_of[type(step)](step, name)
        except SceneError as error:
            raise self.builder.wrong(step, error.what) from None

    # -- lists of steps -----------------------------------------------------------------------

    def _list(self, steps: Steps, ends: list[End], suffix: str, later: Steps) -> list[End]:
        for index, step in enumerate(steps):
            ends = self._step(step, ends, suffix, (*steps[index + 1 :], *later))
        return ends

    def _step(self, step: StepBase, ends: list[End], suffix: str, later: Steps) -> list[End]:
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

    def _if(self, step: If, ends: list[End], suffix: str, later: Steps) -> list[End]:
        after: list[End] = []
        for k, end in enumerate(ends):
            yes, no = self._branch(step, step.when, end, self._way(step, suffix, k, ends))
            after += self._list(step.then, [yes], suffix, later)
            after += self._list(step.otherwise, [no], suffix, later)
        return self._joined(after, step, later)

    def _until(self, step: Until, ends: list[End], suffix: str, later: Steps) -> list[End]:
        after: list[End] = []
        for k in range(step.at_most + 1):
            not_yet: list[End] = []
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

    def _from(self, end: End, step: StepBase, name: str, screw_next: Screw | None) -> End:
        """Plan a step from an end; return where the plan stands then."""
        builder = self.builder
        self._stand_at(end)
        first = len(builder.steps)
        self.one(step, name, screw_next)
        if len(builder.steps) == first:
            return replace(end, q=builder.q, width=builder.width, world=self.world)
        return self._end(((len(builder.steps) - 1, "following"),))

    def _branch(self, step: If | Until, when: Condition, end: End, name: str) -> tuple[End, End]:
        """Add a look at the world; return where the plan stands if it holds, and if not."""
        if when.nut_on:
            try:
                end.world.scene.bolt(when.nut_on)
            except SceneError as error:
                raise self.builder.wrong(step, error.what) from None
        self._stand_at(end)
        index = self.builder.branch(Labels(step, name, f"looking whether {when}"), when)
        yes, no = self._end(((index, "following"),)), self._end(((index, "otherwise"),))
        return (
            replace(yes, world=end.world.seen(when, holds=True)),
            replace(no, world=end.world.seen(when, holds=False)),
        )

    def _stand_at(self, end: End) -> None:
        self.builder.q, self.builder.width, self.world = end.q, end.width, end.world
        self.builder.join(end.exits)

    def _end(self, exits: tuple[Exit, ...]) -> End:
        return End(self.builder.q, self.builder.width, self.world, exits)

    def _joined(self, ends: list[End], step: StepBase, later: Steps) -> list[End]:
        """Return the ends with those that are alike for the later steps as one."""
        result: list[End] = []
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
            raise self.builder.wrong(step, f"{what}; {remedy}")
        return result

    def _way(self, step: StepBase, suffix: str, k: int, ends: list[End]) -> str:
        way = f" [way {k + 1} of {len(ends)}]" if len(ends) > 1 else ""
        return f"{step.name}{suffix}{way}"

    # -- kinds of step ------------------------------------------------------------------------

    @property
    def _motions(self) -> Motions:
        return Motions(self.world.with_tool(self._tool()), self.builder)

    def _tool(self) -> Array:
        return self.builder.chain.fk(self.builder.q)

    def _grip(self, step: Grip, name: str) -> None:
        if step.payload:
            self._take(step, name)
            return
        jaws = self.builder.jaws(step)
        width = jaws.max_width if step.width is None else step.width
        width = max(width, jaws.min_width) if step.kind == "close" else width
        verb = "opening" if width > self.builder.width else "closing"
        message = f"{verb} the jaws to {width * 1e3:.1f} mm"
        self.builder.gripper(Labels(step, name, message), width)
        carried = self.world.carried
        if carried is not None and width > carried.width:
            self.world = self.world.let_go(self._tool())

    def _take(self, step: Grip, name: str) -> None:
        """Plan to close the jaws on a payload."""
        jaws, thing = self.builder.jaws(step), self.world.scene.thing(step.payload)
        if not thing.is_payload:
            what = f"{step.payload} has no mass in the scene, it is not to be carried"
            raise self.builder.wrong(step, what)
        if self.world.carried is not None:
            raise self.builder.wrong(step, f"the jaws hold {self.world.carried.name} already")
        held = grasp(thing, self._tool(), jaws, self.builder.width)
        if isinstance(held, str):
            raise self.builder.wrong(step, f"{step.payload} is not between the jaws: {held}")
        width = max(held.width - SQUEEZE, jaws.min_width)
        labels = Labels(step, name, f"closing the jaws on {step.payload}")
        self.builder.gripper(labels, width)
        self.world = replace(self.world, carried=held)

    def _unscrew(self, step: Unscrew, name: str) -> None:
        self._check_bolt(step)
        nut = self.world.nut
        if not isinstance(nut, OnBolt) or nut.bolt != step.bolt:
            what = f"{self._where(nut)} at this step, not on {step.bolt}"
            raise self.builder.wrong(step, what)
        then = self.before.screw_next if self.before else None
        planner = ScrewPlanner(self.builder, self.world.scene, step, name)
        after = planner.unscrew(nut, then if isinstance(then, ScrewOn) else None)
        self.world = replace(self.world, nut=after)

    def _screw_on(self, step: ScrewOn, name: str) -> None:
        self._check_bolt(step)
        nut = self.world.nut
        if not isinstance(nut, InJaws):
            what = f"{self._where(nut)} at this step, not in the jaws; unscrew it before"
            raise self.builder.wrong(step, what)
        after = ScrewPlanner(self.builder, self.world.scene, step, name).screw_on(nut)
        self.world = replace(self.world, nut=after)

    def _check_bolt(self, step: Screw) -> None:
        self.world.scene.bolt(step.bolt)
        self.world.scene.the_nut()

    def _where(self, nut: OnBolt | InJaws | None) -> str:
        if nut is None:
            return "it is not known where the nut is"
        return f"the nut is on {nut.bolt}" if isinstance(nut, OnBolt) else "the nut is in the jaws"

    def _wait(self, step: Wait, name: str) -> None:
        labels = Labels(step, name, f"waiting for {step.seconds:g} s")
        self.builder.wait(labels, step.seconds)

    def _pause(self, step: PauseForPerson, name: str) -> None:
        self.builder.pause(Labels(step, name, step.say))
        if step.nut_back:
            self.world.scene.the_nut()
            self.world = replace(self.world, nut=at_start(self.world.scene))


def screws(steps: Steps) -> Iterator[Screw]:
    """Yield the screw steps among steps, in order; of an `if` those of `then` first."""
    for step in steps:
        if isinstance(step, Screw):
            yield step
        elif isinstance(step, Repeat | Call | Until):
            yield from screws(step.steps)
        elif isinstance(step, If):
            yield from screws((*step.then, *step.otherwise))
