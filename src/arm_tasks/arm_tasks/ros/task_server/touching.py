# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/system/test_teaching_system.py
"""Bolts located by touching them, and starts of threads by the click of a nut turned back."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from arm_common.ros.message_conversions import pose_message
from arm_common.transforms import Array, frame_along, pose
from arm_description.model.units import deg, millimetres
from arm_description.robot_model import RobotModel

from arm_interfaces.srv import TouchBolt
from arm_tasks.errors import TasksError
from arm_tasks.manual.touch_location import Surface, Touch, locate
from arm_tasks.ros.task_server.execution import TaskControls
from arm_tasks.ros.task_server.planning import Planning
from arm_tasks.ros.task_server.teaching import RestingArm
from arm_tasks.scene.editing import write_bolt, write_thread_start
from arm_tasks.scene.scene import BASE_FRAME, Scene


class Touching:
    """Collects touched points by bolt, and locates the bolts, by the service teach/touch_bolt."""

    def __init__(
        self,
        model: RobotModel,
        arm: RestingArm,
        planning: Planning,
        controls: TaskControls,
        show: Callable[[Scene], None],
    ) -> None:
        self._model, self._arm, self._planning = model, arm, planning
        self._controls, self._show = controls, show
        self._touches: dict[str, list[Touch]] = {}
        self._starts: dict[str, float] = {}  # of the threads of bolts, by clicks [rad]

    def answer(self, request: TouchBolt.Request, response: TouchBolt.Response) -> str:
        """Handle a request: fill the response, and return its message."""
        scene = self._planning.scene
        bolt = scene.bolt(request.bolt)
        if request.action == TouchBolt.Request.CLICK:
            return self._click(bolt.name, response)
        if request.action == TouchBolt.Request.WRITE_THREAD:
            return self._write_thread(scene, bolt.name, response)
        touches = self._touches.setdefault(bolt.name, [])
        response.points = len(touches)
        if request.action == TouchBolt.Request.CLEAR:
            touches.clear()
            response.points = 0
            return f"the points of {bolt.name} are discarded"
        if request.action == TouchBolt.Request.ADD:
            return self._add(request, touches, response)
        found = locate(touches, bolt.diameter / 2.0, bolt.pose[:3, 3], bolt.pose[:3, 2])
        response.pose.header.frame_id = self._arm.frame(BASE_FRAME)
        response.pose.pose = pose_message(pose(frame_along(found.axis), found.tip))
        response.tip_error, response.axis_error = found.tip_error, found.axis_error
        response.residual = found.residual
        moved = float(np.linalg.norm(found.tip - bolt.pose[:3, 3])) * 1e3
        result = f"{bolt.name}: {found.text}; that is {moved:.1f} mm from where the scene has it"
        if request.action != TouchBolt.Request.WRITE:
            return result
        self._require_no_task()
        scene = write_bolt(scene, bolt.name, found.tip, found.axis, self._model.name)
        self._planning.replace_scene(scene)
        self._show(scene)
        return f"{result}; written into {scene.file}"

    def _require_no_task(self) -> None:
        if self._controls.running:
            raise TasksError("a task is running; end it before changing the scene")

    def _click(self, bolt: str, response: TouchBolt.Response) -> str:
        step = self._controls.step
        if step is None or step.thread is None or step.thread.bolt.name != bolt:
            what = f"no nut is being turned back on {bolt}"
            raise TasksError(f"{what}; run a task with the step find_thread")
        start = step.thread.start(self._arm.pose(at_rest=False).tool)
        response.thread_start = self._starts[bolt] = start
        return f"the thread of {bolt} starts at {deg(start, 1)}"

    def _write_thread(self, scene: Scene, bolt: str, response: TouchBolt.Response) -> str:
        self._require_no_task()
        if bolt not in self._starts:
            raise TasksError(f"no nut has clicked on {bolt} yet")
        response.thread_start = start = self._starts[bolt]
        scene = write_thread_start(scene, bolt, start, self._model.name)
        self._planning.replace_scene(scene)
        self._show(scene)
        value = f"thread_start_deg of {bolt} is {math.degrees(start):.1f}"
        return f"{value}; written into {scene.file}, and the old text into {scene.file}.bak"

    def _add(
        self, request: TouchBolt.Request, touches: list[Touch], response: TouchBolt.Response
    ) -> str:
        try:
            surface = Surface(request.surface)
        except ValueError:
            raise TasksError(f"there is no surface {request.surface}; see TouchBolt") from None
        local: Array = np.array([getattr(request.touching, axis) for axis in "xyz"])
        tool = self._arm.pose().tool
        point = tool[:3, :3] @ local + tool[:3, 3]
        if not np.isfinite(point).all():
            raise TasksError("the touch point is not finite")
        touches.append(Touch(surface, point))
        response.points = len(touches)
        return f"point {len(touches)}, {surface.name.lower()}: ({millimetres(point)}) mm"
