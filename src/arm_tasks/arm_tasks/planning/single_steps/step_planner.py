# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/test_planner.py
"""Plans single steps of a task from the end of the plan so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.plugins import PluginGroup
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array
from arm_description.model.units import millimetres, mm

from arm_tasks.errors import PlanError, SceneError, TaskFileError
from arm_tasks.planning.plan import Situation
from arm_tasks.planning.plan_builder import Labels, PlanBuilder
from arm_tasks.planning.screwing.last_grip import NextGrip, pull_off_problem
from arm_tasks.planning.screwing.planner import ScrewPlanner
from arm_tasks.planning.single_steps.motions import MOTIONS, Motions
from arm_tasks.planning.torques import carried_load
from arm_tasks.planning.world_model import (
    CollisionCheckerCache,
    Dropped,
    InJaws,
    OnBolt,
    PlannedNutState,
    PlannedWorldState,
    where_nut_is,
)
from arm_tasks.scene.grasp import GRIP, grasp, holding_width
from arm_tasks.scene.scene import BASE_FRAME, TOOL_FRAME
from arm_tasks.task import steps
from arm_tasks.task.condition import Condition
from arm_tasks.task.functions import load_function

RECORDED_MOTIONS = PluginGroup(
    "arm_tasks.recorded_motions",
    "step with a recording",
    {"play": "arm_tasks.planning.single_steps.playing:PlayPlanner"},
)
"""By kind of step: planners of motions along files, which a task without such a step needs not."""


class StepPlanner:
    """Plans steps and adds them to a builder; an infeasible step raises StepRefused.

    Builder and world are at the end of the plan so far.
    """

    def __init__(
        self,
        builder: PlanBuilder,
        world: PlannedWorldState,
        checkers: CollisionCheckerCache,
        files: FileAccess = ANY_FILE,
        found: Mapping[int, Array] | None = None,
    ) -> None:
        self.builder = builder
        self.world = world
        self._found, self._own_frames = found or {}, world.scene.frames.keys()
        self.situation: Situation | None = None  # where the current step starts
        self._checkers, self._files = checkers, files

    def plan(self, step: steps.StepBase, name: str, next_nut_step: steps.HandleNut | None) -> None:
        """Plan a step that does not contain others."""
        q, width = self.builder.q, self.builder.width
        self.situation = Situation(step, next_nut_step, q, width, self.world)
        self.builder.checker = self._checkers.get(self.world)
        self.builder.payload = carried_load(self.world)
        try:
            if type(step) in PLANNERS:
                PLANNERS[type(step)](self, step, name)
                return
            if step.gripper is not None:
                self._require_empty_jaws(step, ", so they cannot move while the arm moves")
            scene = self.world.with_tool(self._tool())
            if type(step) in MOTIONS:
                MOTIONS[type(step)](Motions(scene, self.builder), step, name)
            else:
                planner = RECORDED_MOTIONS.load(step.kind)
                planner(scene, self.builder, self._files).plan(step, name)
        except SceneError as error:
            raise self.builder.invalid(step, error.message) from None

    def _tool(self) -> Array:
        return self.builder.chain.fk(self.builder.q)

    def _grip(self, step: steps.GripStep, name: str) -> None:
        if step.payload:
            self._grip_payload(step, name)
            return
        jaws = self.builder.jaws(step)
        width = jaws.max_width if step.width is None else step.width
        width = max(width, jaws.min_width) if step.kind == "close" else width
        verb = "opening" if width > self.builder.width else "closing"
        message = f"{verb} the jaws to {mm(width, 1)}"
        self.builder.gripper(Labels(step, name, message), width)
        carried = self.world.carried
        if carried is not None and width > carried.width:
            self.world = self.world.released(self._tool())
        if isinstance(self.world.nut, InJaws):
            opened = self.world.scene.require_nut().across_flats + GRIP.open_gap
            if width >= opened:
                self.world = replace(self.world, nut=Dropped(name, step.line))

    def _grip_payload(self, step: steps.GripStep, name: str) -> None:
        jaws, obj = self.builder.jaws(step), self.world.scene.object(step.payload)
        if not obj.is_payload:
            what = f"{step.payload} has no mass in the scene, so it cannot be carried"
            raise self.builder.invalid(step, what)
        self._require_empty_jaws(step)
        held = grasp(obj, self._tool(), jaws, self.builder.width)
        if isinstance(held, str):
            raise self.builder.invalid(step, f"{step.payload} is not between the jaws: {held}")
        labels = Labels(step, name, f"closing the jaws on {step.payload}")
        self.builder.gripper(labels, holding_width(jaws, held.width))
        self.world = replace(self.world, carried=held)

    def _require_empty_jaws(self, step: steps.StepBase, reason: str = " already") -> None:
        carried = self.world.carried
        held = "the nut" if isinstance(self.world.nut, InJaws) else carried and carried.name
        if held:
            raise self.builder.invalid(step, f"the jaws hold {held}{reason}")

    def _handle_nut(self, step: steps.HandleNut, name: str) -> None:
        planner = ScrewPlanner(self.builder, self.world.scene, step, name)
        nut: PlannedNutState = self.world.nut
        if isinstance(step, steps.Unscrew):
            if not isinstance(nut, OnBolt) or nut.bolt != step.bolt:
                raise self._nut_elsewhere(step, f"on {step.bolt}")
            if problem := pull_off_problem(planner.bolt, nut, step):
                raise self.builder.invalid(step, problem)
            self._require_empty_jaws(step)
            nut = planner.unscrew(step, nut, self._next_grip())
        elif not isinstance(nut, InJaws):
            raise self._nut_elsewhere(step, "in the jaws; unscrew it first")
        elif isinstance(step, steps.ScrewOn):
            nut = planner.screw_on(step, nut)
        elif isinstance(step, steps.Regrasp):
            nut = planner.regrasp(step, nut, self._next_grip())
        elif isinstance(step, steps.FindThread):
            planner.find_thread(step, nut)
        self.world = replace(self.world, nut=nut)

    def _next_grip(self) -> NextGrip | None:
        """Return the next step with the nut if it matters by which flats the jaws hold it."""
        then = self.situation.next_nut_step if self.situation else None
        return then if isinstance(then, NextGrip) else None

    def _nut_elsewhere(self, step: steps.HandleNut, required: str) -> TaskFileError:
        where = where_nut_is(self.world.nut)
        fell = isinstance(self.world.nut, Dropped)
        return self.builder.invalid(
            step, where if fell else f"{where} at this step, not {required}"
        )

    def _wait(self, step: steps.Wait, name: str) -> None:
        self.builder.add(
            Labels(step, name, f"waiting for {step.seconds:g} s"), "wait", step.seconds
        )

    def _wait_until(self, step: steps.WaitUntil, name: str) -> None:
        self.check_condition(step, step.when)
        labels = Labels(step, name, f"waiting until {step.when}")
        self.builder.add(labels, "wait", 0.0, when=step.when, timeout=step.timeout)
        self.world = self.world.after_branch(step.when, holds=True)

    def _find_frame(self, step: steps.FindFrame, name: str) -> None:
        """Plan a step that finds a frame; the plan goes on from it if its pose is known."""
        if step.frame in (BASE_FRAME, TOOL_FRAME, *self._own_frames):
            what = f"{step.frame} is known; only frames of other nodes need to be found"
            raise self.builder.invalid(step, what)
        T = self._found.get(len(self.builder.steps))
        if T is None:
            labels = Labels(step, name, f"looking for {step.frame}")
            self.builder.add(labels, "find", 0.0, find=step, timeout=step.timeout)
            return
        message = f"{step.frame} was found at ({millimetres(T[:3, 3])}) mm in {BASE_FRAME}"
        self.builder.add(Labels(step, name, message), "wait", 0.0, timeout=step.timeout)
        self.world = replace(self.world, scene=self.world.scene.with_frame(step.frame, T))

    def _command(self, step: steps.Command, name: str) -> None:
        verb = {"call_service": "calling", "publish": "publishing on"}.get(step.kind, "running")
        if step.kind == "run_function":
            try:
                load_function(step.to, step.content)
            except PlanError as error:
                raise self.builder.invalid(step, error.message) from None
        self.builder.add(Labels(step, name, f"{verb} {step.to}"), "command", 0.0, command=step)

    def check_condition(self, step: steps.StepBase, when: Condition) -> None:
        """Raise TaskFileError if a condition names a bolt or joint that does not exist."""
        chain, gripper = self.builder.chain, self.builder.model.gripper
        try:
            if when.nut_on:
                self.world.scene.bolt(when.nut_on)
        except SceneError as error:
            raise self.builder.invalid(step, error.message) from None
        if when.joint and when.joint not in chain.joint_names:
            known = did_you_mean(when.joint, chain.joint_names)
            raise self.builder.invalid(step, f"there is no joint '{when.joint}'; {known}")
        if when.needs_width and gripper is None:
            self.builder.jaws(step)

    def _pause(self, step: steps.PauseForPerson, name: str) -> None:
        self.builder.add(Labels(step, name, step.say), "pause", 0.0)
        if step.nut_back:
            self.world.scene.require_nut()
            nut = PlannedWorldState.at_start(self.world.scene).nut
            self.world = replace(self.world, nut=nut)


PLANNERS: dict[type[steps.StepBase], Callable[[StepPlanner, Any, str], None]] = {
    steps.GripStep: StepPlanner._grip,
    steps.Unscrew: StepPlanner._handle_nut,
    steps.ScrewOn: StepPlanner._handle_nut,
    steps.FindThread: StepPlanner._handle_nut,
    steps.Regrasp: StepPlanner._handle_nut,
    steps.Wait: StepPlanner._wait,
    steps.WaitUntil: StepPlanner._wait_until,
    steps.FindFrame: StepPlanner._find_frame,
    steps.Command: StepPlanner._command,
    steps.SetSpeed: lambda planner, step, name: None,
    steps.PauseForPerson: StepPlanner._pause,
}
