# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/test_planner.py
"""Plans the steps that move joints or the tool."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, inverse, shift_z, tilt_z
from arm_description.model.units import SHOWN, deg, mm
from arm_kinematics.paths.cartesian_path import PathStatus
from arm_kinematics.paths.shapes import PathShape, arc, line, rounded, screw

from arm_kinematics import Chain, IkResult, KinematicsError
from arm_tasks.errors import SceneError
from arm_tasks.planning.plan_builder import Labels, PlanBuilder, StepRefused
from arm_tasks.planning.tool_path import OutOfReach, path_options, tool_path
from arm_tasks.scene.scene import BASE_FRAME, TOOL_FRAME, Scene
from arm_tasks.task import steps

# The jaws enclose a bolt if the tool is within this distance and angle of its axis.
_ENCLOSED_DISTANCE = 8e-3  # m
_ENCLOSED_TILT = math.radians(20.0)
_CLEAR_DISTANCE = 0.02  # m before the end of a bolt, where the jaws are clear of it


@dataclass
class Motions:
    """Plans motions in a scene and adds them to a builder."""

    scene: Scene
    builder: PlanBuilder

    def move_joints(self, step: steps.MoveJoints, name: str) -> None:
        """Plan a step to given joint positions."""
        self._to_joints(step, name, f"moving {', '.join(step.positions)}", step.positions)

    def move_posture(self, step: steps.MovePosture, name: str) -> None:
        """Plan a step to a posture of the robot; the jaws do not move."""
        postures = self.builder.model.postures
        if step.taught is not None:
            self._require_free_name(step, step.posture)
            self._to_joints(step, name, f"moving {', '.join(step.taught)}", step.taught)
            return
        if step.posture not in postures:
            robot = self.builder.model.name
            known = did_you_mean(step.posture, postures)
            raise self.builder.invalid(step, f"{robot} has no posture '{step.posture}'; {known}")
        posture = {k: v for k, v in postures[step.posture].items() if k != "gripper"}
        self._to_joints(step, name, f"moving to posture {step.posture}", posture)

    def _require_free_name(self, step: steps.StepBase, taught: str) -> None:
        """Raise TaskFileError if a taught pose would hide a posture or a frame of its name."""
        robot = self.builder.model
        if isinstance(step, steps.MovePosture):
            also = f"a posture of {robot.name}" if taught in robot.postures else ""
        else:
            frames = BASE_FRAME, TOOL_FRAME, *self.scene.frames
            also = f"a frame of {self.scene.name}" if taught in frames else ""
        if also:
            what = f"'{taught}' is a taught pose and {also}; rename the taught pose"
            raise self.builder.invalid(step, what)

    def _to_joints(
        self, step: steps.StepBase, name: str, message: str, positions: Mapping[str, float]
    ) -> None:
        chain = self.builder.chain
        goal = np.array(self.builder.q)
        for joint, value in positions.items():
            if joint not in chain.joint_names:
                known = did_you_mean(joint, chain.joint_names)
                raise self.builder.invalid(step, f"there is no joint '{joint}'; {known}")
            i = chain.joint_names.index(joint)
            if chain.sliding[i] and isinstance(step, steps.MoveJoints) and step.degrees:
                raise self.builder.invalid(
                    step, f"joint '{joint}' is prismatic; give it in m, by joints"
                )
            goal[i] = value
        labels = Labels(step, name, message)
        excess = np.maximum(goal - chain.upper, chain.lower - goal)
        worst = int(np.argmax(excess))
        if excess[worst] > 1e-9:
            raise self.builder.refuse(labels, _beyond(chain, worst, float(excess[worst])))
        try:
            self.builder.joint_motion(labels, goal)
        except StepRefused:
            if not self._retreat_from_bolt(labels):
                raise
            self.builder.joint_motion(labels, goal)

    def _retreat_from_bolt(self, labels: Labels) -> bool:
        """Plan a straight retreat from a bolt between the jaws; return whether it is possible.

        The jaws keep their width: they slide off a nut on the thread and carry a free nut along.
        """
        builder = self.builder
        T = builder.chain.fk(builder.q)
        for bolt in self.scene.bolts.values():
            bolt_tool = inverse(bolt.pose) @ T
            x, y, z = (float(v) for v in bolt_tool[:3, 3])
            near = math.hypot(x, y) < _ENCLOSED_DISTANCE and -_CLEAR_DISTANCE < z < bolt.length
            if not near or tilt_z(bolt_tool[:3, :3]) >= _ENCLOSED_TILT:
                continue
            back = screw(T, -z - _CLEAR_DISTANCE, 0.0)
            options = path_options("axis", steps.Tolerance(tilt=_ENCLOSED_TILT))
            try:
                path = tool_path(builder.chain, back, builder.q, options)
            except OutOfReach:
                return False
            with builder.allow_contact(bolt.name):
                message = f"retreating from {bolt.name}"
                retreat = replace(labels, message=message, part="retreat")
                builder.motion(retreat, path.positions)
            return True
        return False

    def _goal(self, step: steps.ToTarget, tool: Array) -> Array:
        """Return base_link <- target (4, 4) for a tool pose before the step (4, 4) [m]."""
        target = step.target
        if target.taught:
            self._require_free_name(step, target.taught)
        return self._frame(target.frame, tool) @ target.pose

    def _frame(self, name: str, tool: Array) -> Array:
        if name == TOOL_FRAME:
            return tool
        try:
            return self.scene.frame(name)
        except SceneError as error:
            remedy = "a frame that another node publishes needs the step find_frame first"
            raise SceneError(error.problem, remedy=remedy, file=error.file) from None

    def move_pose(self, step: steps.MovePose, name: str) -> None:
        """Plan a step to a tool pose, straight in joint space to the nearest free solution."""
        labels = Labels(step, name, f"moving to {_where(step.target)}")

        def plan(found: IkResult) -> None:
            errors = found.position_error, found.orientation_error
            self.builder.joint_motion(labels, found.q, errors)

        self._reach(step, labels, plan)

    def approach(self, step: steps.Approach, name: str) -> None:
        """Plan a step to a pose in front of the target, then straight to the target."""
        where = _where(step.target)
        labels = Labels(step, name, f"moving in front of {where}", "in front")
        straight = Labels(step, name, f"moving straight to {where}", "straight")
        chain, options = self.builder.chain, path_options(step.target.orientation, step.tolerance)

        def plan(found: IkResult) -> None:
            T = chain.fk(found.q)
            back = line(T, T @ shift_z(-step.distance))
            out = tool_path(chain, back, found.q, options)
            errors = out.position_error, out.orientation_error
            self.builder.joint_motion(labels, out.positions[-1], errors)
            self.builder.motion(straight, out.positions[::-1], errors)

        self._reach(step, labels, plan)

    def retreat(self, step: steps.Retreat, name: str) -> None:
        """Plan a straight line back along the tool's z."""
        labels = Labels(step, name, f"moving back by {mm(step.distance)}")
        T = self.builder.chain.fk(self.builder.q)
        back = line(T, T @ shift_z(-step.distance))
        self.builder.follow(labels, back, path_options("full", step.tolerance))

    def _reach(
        self, step: steps.ToTarget, labels: Labels, plan: Callable[[IkResult], None]
    ) -> None:
        """Plan with the preferred IK solution of the target that is feasible."""
        builder = self.builder
        goal = self._goal(step, builder.chain.fk(builder.q))
        options = path_options(step.target.orientation, step.tolerance)
        builder.first_feasible(labels, lambda: builder.postures(goal, options), plan)

    def move_linear(self, step: steps.MoveLinear, name: str) -> None:
        """Plan a step along a straight line."""
        labels = Labels(step, name, f"moving straight to {_where(step.target)}")
        self._follow(labels, step, straight=True)

    def move_arc(self, step: steps.MoveArc, name: str) -> None:
        """Plan a step along an arc."""
        self._follow(Labels(step, name, f"moving on an arc to {_where(step.target)}"), step)

    def _follow(self, labels: Labels, step: steps.PathStep, straight: bool = False) -> None:
        shape = self._shape(step, self.builder.chain.fk(self.builder.q))
        options = path_options(step.target.orientation, step.tolerance)
        self.builder.follow(labels, shape, options, straight=straight)

    def _shape(self, step: steps.PathStep, tool: Array) -> PathShape:
        """Return the path of a step for a tool pose before it (4, 4) [m]."""
        goal = self._goal(step, tool)
        if not isinstance(step, steps.MoveArc):
            return line(tool, goal)
        via = (self._frame(step.target.frame, tool) @ (*step.via, 1.0))[:3]
        try:
            return arc(tool, via, goal)
        except KinematicsError as error:
            raise self.builder.invalid(step, str(error)) from None

    def move_blended(self, step: steps.MoveBlended, name: str) -> None:
        """Plan one motion along the paths of several steps, with rounded corners."""
        chain, shapes = self.builder.chain, list[PathShape]()
        tool = chain.fk(self.builder.q)
        for each in step.steps:
            shapes.append(self._shape(each, tool))
            tool = shapes[-1].goal
        try:
            ways = rounded(shapes, [each.blend for each in step.steps[:-1]])
        except KinematicsError as error:
            assert isinstance(error.value, int)
            raise self.builder.invalid(step.steps[error.value], str(error)) from None
        where = _where(step.steps[-1].target)
        corners = "a corner" if len(shapes) == 2 else f"{len(shapes) - 1} corners"
        labels = Labels(step, name, f"moving around {corners} to {where}")
        q, rows, errors = self.builder.q, [self.builder.q[None]], [(0.0, 0.0)]
        for each, way in zip(step.steps, ways, strict=True):
            options = path_options(each.target.orientation, each.tolerance)
            for shape in way:
                try:
                    path = tool_path(chain, shape, q, options)
                except OutOfReach as miss:
                    miss.what = f"{each.name} (line {each.line}): {miss.what}"
                    raise self.builder.refuse(labels, miss) from None
                q = path.positions[-1]
                rows.append(path.positions[1:])
                errors.append((path.position_error, path.orientation_error))
        distance, angle = np.max(errors, axis=0)
        self.builder.motion(labels, np.vstack(rows), (float(distance), float(angle)))

    def turn(self, step: steps.Turn, name: str) -> None:
        """Plan a turn about the tool's own z."""
        labels = Labels(step, name, f"turning by {deg(step.angle, 0)}")
        T = self.builder.chain.fk(self.builder.q)
        shape = screw(T, step.advance, step.angle)
        self.builder.follow(labels, shape, path_options("full", step.tolerance))


MOTIONS: dict[type[steps.StepBase], Callable[[Motions, Any, str], None]] = {
    steps.MoveJoints: Motions.move_joints,
    steps.MovePosture: Motions.move_posture,
    steps.MovePose: Motions.move_pose,
    steps.MoveLinear: Motions.move_linear,
    steps.MoveArc: Motions.move_arc,
    steps.MoveBlended: Motions.move_blended,
    steps.Approach: Motions.approach,
    steps.Retreat: Motions.retreat,
    steps.Turn: Motions.turn,
}


def _beyond(chain: Chain, joint: int, excess: float) -> OutOfReach:
    prismatic = chain.sliding[joint]
    amount = SHOWN.fixed(excess, "prismatic" if prismatic else "revolute")
    what = f"joint {chain.joint_names[joint]} is {amount} beyond its limit"
    missing = (excess, 0.0) if prismatic else (0.0, excess)
    return OutOfReach(what, *missing, reason=PathStatus.JOINT_LIMIT)


def _where(target: steps.Target) -> str:
    x, y, z = (float(v) * 1e3 for v in target.pose[:3, 3])
    if target.frame == TOOL_FRAME:
        return f"({x:g}, {y:g}, {z:g}) mm from the current pose"
    return f"({x:g}, {y:g}, {z:g}) mm in {target.frame}"
