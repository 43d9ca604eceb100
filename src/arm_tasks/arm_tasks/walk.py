# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Walks through the steps of a task, along every way that it can take, and plans each of them.

A task without `if` and `until` has one way. At a branch nobody knows yet which it will be; both
are planned. The walk keeps all places at which the plan can stand, its ends, and plans each step
from each of them; ends that are alike are joined, so that what follows is planned once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arm_tasks.condition import Condition
from arm_tasks.errors import SceneError
from arm_tasks.geometry import Array
from arm_tasks.plan_builder import Exit, Labels
from arm_tasks.step_planner import StepPlanner
from arm_tasks.task_steps import Call, If, Repeat, Screw, StepBase, Until
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


class Walk:
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
        builder = self._builder
        self._stand_at(end)
        first = len(builder.steps)
        self._planner.plan(step, name, screw_next)
        if len(builder.steps) == first:
            return replace(end, q=builder.q, width=builder.width, world=self._planner.world)
        return self._end(((len(builder.steps) - 1, "following"),))

    def _branch(self, step: If | Until, when: Condition, end: End, name: str) -> tuple[End, End]:
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

    def _stand_at(self, end: End) -> None:
        self._builder.q, self._builder.width = end.q, end.width
        self._planner.world = end.world
        self._builder.join(end.exits)

    def _end(self, exits: tuple[Exit, ...]) -> End:
        builder = self._builder
        return End(builder.q, builder.width, self._planner.world, exits)

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
            raise self._builder.wrong(step, f"{what}; {remedy}")
        return result

    def _way(self, step: StepBase, suffix: str, k: int, ends: list[End]) -> str:
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
