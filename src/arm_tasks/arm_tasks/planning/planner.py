# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plans a whole task: every step is proven before the first motion, or one is refused.

With `if` and `until`, every branch is planned: each step from each state that the plan can be in.
Equal states are merged, so that the rest of the task is planned once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.suggestions import install_command
from arm_common.transforms import Array
from arm_description.robot_model import read_only

from arm_kinematics import Chain
from arm_tasks.errors import PlanError, SceneError, TaskFileError
from arm_tasks.planning.collision.mujoco_library import has_mujoco
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.plan_builder import Exit, Labels, PlanBuilder, StepRefused, TimeRanOut
from arm_tasks.planning.single_steps.step_planner import StepPlanner
from arm_tasks.planning.torques import TorqueCheck, torque_warnings
from arm_tasks.planning.world_model import CollisionCheckerCache, PlannedWorldState
from arm_tasks.scene.scene import Scene
from arm_tasks.task.condition import Condition
from arm_tasks.task.request import TaskRequest
from arm_tasks.task.steps import (
    Call,
    For,
    HandleNut,
    If,
    MoveBlended,
    PathStep,
    Repeat,
    StepBase,
    Until,
    all_steps,
)

_MAX_STATES = 16
_SAME = 1e-6  # joint positions [rad or m] and widths [m] that differ by less are the same

Steps = Sequence[StepBase]


@dataclass(frozen=True)
class PlanState:
    """A state that the plan can be in after a step."""

    q: Array  # joint positions (n,) [rad or m]
    width: float  # of the jaws [m]
    world: PlannedWorldState  # the expected world
    exits: tuple[Exit, ...] = ()  # steps that the next step from this state follows

    def is_same(self, other: PlanState, nut_matters: bool) -> bool:
        """Return whether the rest of the task is the same from both states."""
        if nut_matters and self.world.nut != other.world.nut:
            return False
        if not self.world.has_same_frames(other.world):
            return False
        joints = bool(np.abs(self.q - other.q).max() < _SAME)
        return joints and abs(self.width - other.width) < _SAME and self.world.is_same(other.world)


class BranchPlanner:
    """Plans steps on every branch; raises StepRefused at the first infeasible step."""

    def __init__(self, planner: StepPlanner) -> None:
        self._planner = planner
        self._builder = planner.builder
        self._blended: list[PathStep] = []  # steps of the motion that the next step continues

    def run(self, steps: Steps) -> list[PlannedWorldState]:
        """Plan every step on every branch; return the worlds that the task can end in."""
        states = [self._state(())]
        for index, step in enumerate(steps):
            self._builder.task_step = index
            self._builder.task_step_start = len(self._builder.steps)
            states = self._step(step, states, "", steps[index + 1 :])
        self._require_no_blend()
        self._builder.join(exit_ for state in states for exit_ in state.exits)
        return [state.world for state in states]

    def _list(
        self, steps: Steps, states: list[PlanState], suffix: str, later: Steps
    ) -> list[PlanState]:
        for index, step in enumerate(steps):
            states = self._step(step, states, suffix, (*steps[index + 1 :], *later))
        return states

    def _branch_list(
        self, steps: Steps, states: list[PlanState], suffix: str, later: Steps
    ) -> list[PlanState]:
        """Plan steps that do not always run: no motion goes on beyond them."""
        states = self._list(steps, states, suffix, later)
        self._require_no_blend()
        return states

    def _require_no_blend(self) -> None:
        if self._blended:
            what = "blend needs a following move_linear or move_arc, into which it leads"
            raise self._builder.invalid(self._blended[-1], what)

    def _step(
        self, step: StepBase, states: list[PlanState], suffix: str, later: Steps
    ) -> list[PlanState]:
        if isinstance(step, Repeat):
            for k in range(step.times):
                following = later if k + 1 == step.times else (*step.steps, *later)
                part = f"{suffix} ({k + 1} of {step.times})"
                states = self._list(step.steps, states, part, following)
            return states
        if isinstance(step, For):
            for k, (values, steps) in enumerate(zip(step.values, step.rounds, strict=True)):
                rest = tuple(each for others in step.rounds[k + 1 :] for each in others)
                states = self._list(steps, states, f"{suffix} ({values})", (*rest, *later))
            return states
        if isinstance(step, Call):
            return self._list(step.steps, states, suffix, later)
        if isinstance(step, PathStep):
            self._blended.append(step)
            if step.blend:
                return states
            step, self._blended = self._motion(self._blended), []
        self._require_no_blend()
        if isinstance(step, If):
            return self._if(step, states, suffix, later)
        if isinstance(step, Until):
            return self._until(step, states, suffix, later)
        if step.on_failure:
            return self._with_failure(step, states, suffix, later)
        next_nut_step = next(nut_steps(later), None)
        after = [
            self._from(state, step, self._name(step, suffix, k, states), next_nut_step)
            for k, state in enumerate(states)
        ]
        return [state for state in after if state is not None]

    def _motion(self, blended: Sequence[PathStep]) -> StepBase:
        """Return the motion of steps that blend into each other, or of a single one."""
        if len(blended) == 1:
            return blended[0]
        motion = MoveBlended.of(blended)
        if motion.problem:
            raise self._builder.invalid(motion.steps[-1], motion.problem)
        return motion

    def _if(self, step: If, states: list[PlanState], suffix: str, later: Steps) -> list[PlanState]:
        after: list[PlanState] = []
        for k, state in enumerate(states):
            yes, no = self._branch(step, step.when, state, self._name(step, suffix, k, states))
            after += self._branch_list(step.then, [yes], suffix, later)
            after += self._branch_list(step.otherwise, [no], suffix, later)
        return self._merged(after, step, later)

    def _until(
        self, step: Until, states: list[PlanState], suffix: str, later: Steps
    ) -> list[PlanState]:
        after: list[PlanState] = []
        for k in range(step.at_most + 1):
            not_yet: list[PlanState] = []
            for n, state in enumerate(states):
                yes, no = self._branch(step, step.when, state, self._name(step, suffix, n, states))
                after.append(yes)
                not_yet.append(no)
            if k < step.at_most:  # after the last check the task fails
                part = f"{suffix} ({k + 1} of at most {step.at_most})"
                following = (*step.steps, *later)
                rounds = self._branch_list(step.steps, not_yet, part, following)
                states = self._merged(rounds, step, following)
        return self._merged(after, step, later)

    def _with_failure(
        self, step: StepBase, states: list[PlanState], suffix: str, later: Steps
    ) -> list[PlanState]:
        """Plan a step and what follows if one of its parts fails, from where that part begins."""
        after: list[PlanState] = []
        steps = self._builder.steps
        next_nut_step = next(nut_steps(later), None)
        for k, state in enumerate(states):
            first = len(steps)
            done = self._from(state, step, self._name(step, suffix, k, states), next_nut_step)
            after += [] if done is None else [done]
            failed = [
                PlanState(part.start, part.start_width, state.world, ((part.index, "otherwise"),))
                for part in steps[first:]
                if part.can_fail
            ]
            failed = self._merged(failed, step, (*step.on_failure, *later))
            after += self._branch_list(step.on_failure, failed, suffix, later)
        return self._merged(after, step, later)

    def _from(
        self, state: PlanState, step: StepBase, name: str, next_nut_step: HandleNut | None
    ) -> PlanState | None:
        """Plan a step from a state; return the state after it, None if that is not known yet."""
        builder = self._builder
        self._set_state(state)
        first = len(builder.steps)
        self._planner.plan(step, name, next_nut_step)
        if len(builder.steps) == first:
            return replace(state, q=builder.q, width=builder.width, world=self._planner.world)
        if builder.steps[-1].find is not None:
            return None
        return self._state(((len(builder.steps) - 1, "following"),))

    def _branch(
        self, step: If | Until, when: Condition, state: PlanState, name: str
    ) -> tuple[PlanState, PlanState]:
        """Add a branch; return the states if its condition holds and if it does not."""
        self._set_state(state)
        self._planner.check_condition(step, when)
        index = len(self._builder.steps)
        labels = Labels(step, name, f"checking whether {when}")
        self._builder.add(labels, "branch", 0.0, when=when)
        yes, no = self._state(((index, "following"),)), self._state(((index, "otherwise"),))
        return (
            replace(yes, world=state.world.after_branch(when, holds=True)),
            replace(no, world=state.world.after_branch(when, holds=False)),
        )

    def _set_state(self, state: PlanState) -> None:
        self._builder.q, self._builder.width = state.q, state.width
        self._builder.first_part = len(self._builder.steps)
        self._planner.world = state.world
        self._builder.join(state.exits)

    def _state(self, exits: tuple[Exit, ...]) -> PlanState:
        builder = self._builder
        return PlanState(builder.q, builder.width, self._planner.world, exits)

    def _merged(self, states: list[PlanState], step: StepBase, later: Steps) -> list[PlanState]:
        """Return the states with those merged that are the same for the later steps."""
        result: list[PlanState] = []
        nut_matters = any(True for _ in nut_steps(later))
        for state in states:
            for i, other in enumerate(result):
                if state.is_same(other, nut_matters):
                    result[i] = replace(other, exits=(*other.exits, *state.exits))
                    break
            else:
                result.append(state)
        if len(result) > _MAX_STATES:
            what = f"the task could be in {len(result)} different states after this"
            remedy = "let the branches end in the same posture and jaw width"
            raise self._builder.invalid(step, f"{what}; {remedy}")
        return result

    def _name(self, step: StepBase, suffix: str, k: int, states: list[PlanState]) -> str:
        branch = f" [branch {k + 1} of {len(states)}]" if len(states) > 1 else ""
        return f"{step.name}{suffix}{branch}"


def nut_steps(steps: Steps) -> Iterator[HandleNut]:
    """Return the steps that handle the nut in order, those of `then` before those of `else`."""
    return (step for step in all_steps(steps) if isinstance(step, HandleNut))


def plan_task(
    request: TaskRequest, collisions: bool = True, files: FileAccess = ANY_FILE
) -> TaskPlan:
    """Plan and prove a whole task; nothing moves.

    If a step is infeasible, the plan has a refusal with the missing distance or angle.
    Collisions are checked if requested and if MuJoCo is installed. Recordings are read from the
    given files.

    Raises:
        TaskFileError: A step is invalid for this scene or robot: unknown frame, posture, ...
        PlanError: A joint has no valid start position, or the jaw width or a limit of speed or
            acceleration is unknown.
    """
    q, width = _start(request.chain, request.start.positions), request.start.width
    if request.model.gripper is not None and not math.isfinite(width):
        raise PlanError(f"the width of the jaws at the start is {width}")
    checkers = CollisionCheckerCache(request.model, enabled=collisions and has_mujoco())
    world = PlannedWorldState.at_start(request.scene)
    unchecked = _unchecked(checkers, world) if collisions else []
    torques = TorqueCheck(request.model, request.chain, request.torques)
    builder = PlanBuilder(request.model, request.chain, q, width, torques, prefer=request.prefer)
    planner = StepPlanner(builder, world, checkers, files, request.found)
    refusal, refused_at = None, None
    try:
        _check_expectation(request, BranchPlanner(planner).run(request.task.steps))
    except StepRefused as refused:
        refusal, refused_at = refused.report, planner.situation
    heavy = torque_warnings(builder.steps, request.torques)
    warnings = (*builder.warnings, *heavy, *unchecked)
    return TaskPlan(request, q, tuple(builder.steps), refusal, warnings, refused_at)


def _check_expectation(request: TaskRequest, worlds: Sequence[PlannedWorldState]) -> None:
    """Raise TaskFileError if none of the worlds that a task can end in is as it expects."""
    expected = request.task.expect
    if expected is None:
        return
    try:
        unmet = [world.unmet(expected) for world in worlds]
    except SceneError as error:
        unmet = [error.message]
    if unmet and all(unmet):
        raise TaskFileError(f"expect: {unmet[0]}", file=request.task.file, line=expected.line)


def _unchecked(checkers: CollisionCheckerCache, world: PlannedWorldState) -> list[str]:
    """Return warnings about collisions that are not checked."""
    checker = checkers.get(world)
    if checker is None:
        return [f"collisions were not checked: {install_command('mujoco')}"]
    reason = "were not checked: they touch in every posture"
    unchecked = [
        f"collisions of {', '.join(links)} with {obj} {reason}"
        for obj, links in checker.unchecked.items()
    ]
    if meshes := ", ".join(checker.unsupported):
        unchecked.append(f"collisions of {meshes} were not checked: meshes are not supported")
    return unchecked


def can_step(
    step: StepBase, scene: Scene, plan: TaskPlan, is_over: Callable[[], bool] | None = None
) -> bool:
    """Return whether a step is feasible in a scene in place of the refused step of a plan.

    The answer is no if `is_over`, called between the parts of the step, returns True.
    """
    at, model, chain = plan.refused_at, plan.request.model, plan.request.chain
    assert at is not None
    torques = TorqueCheck(model, chain, plan.request.torques)
    memory: dict[str, Any] = {}

    def feasible(collisions: bool, sketch: bool) -> bool:
        builder = PlanBuilder(model, chain, at.q, at.width, torques, sketch=sketch)
        builder.prefer = plan.request.prefer
        builder.is_over, builder.memory = is_over, memory
        world = replace(at.world, scene=scene)
        try:
            planner = StepPlanner(builder, world, CollisionCheckerCache(model, collisions))
            planner.plan(step, step.name, at.next_nut_step)
        except (StepRefused, TimeRanOut):
            return False
        return True

    # the slow checks come last: collisions, then all strokes of a screw step
    checks = [False, True] if has_mujoco() else [False]
    sketch = isinstance(step, HandleNut)
    quick = all(feasible(collisions, sketch) for collisions in checks)
    return quick and (not sketch or feasible(checks[-1], sketch=False))


def _start(chain: Chain, start: Mapping[str, float]) -> Array:
    for quantity, values in (("speed", chain.velocity), ("acceleration", chain.acceleration)):
        if not np.isfinite(values).all():
            name = chain.joint_names[int(np.argmin(np.isfinite(values)))]
            raise PlanError(f"joint {name} has no {quantity} limit; motions cannot be timed")
    missing = [name for name in chain.joint_names if name not in start]
    if missing:
        raise PlanError(f"the start position is unknown for joint {', '.join(missing)}")
    q = np.array([start[name] for name in chain.joint_names], dtype=np.float64)
    for i, name in enumerate(chain.joint_names):
        if not math.isfinite(q[i]):
            raise PlanError(f"the start position of joint {name} is {q[i]}")
    q = chain.constraints.put_inside(q, chain.lower, chain.upper)
    for i, name in enumerate(chain.joint_names):
        excess = float(max(q[i] - chain.upper[i], chain.lower[i] - q[i]))
        if excess > 0.0:
            where = f"{excess:.4f} beyond its limit"
            raise PlanError(f"joint {name} starts {where}; move it back before running a task")
    if outside := chain.constraints.worst(q):
        raise PlanError(
            f"the arm starts outside its limits ({outside.sentence}); "
            "move it back before running a task"
        )
    return read_only(q)
