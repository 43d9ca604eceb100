# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/system/test_teaching_system.py
"""Services for teaching: poses, recorded paths, and bolts located by touching them.

What only teaching needs is loaded at the first request.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arm_common.errors import InputError
from arm_common.plugins import PluginGroup
from arm_common.ros.actions.client import GoalClient
from arm_common.ros.qos import CALLS
from arm_common.suggestions import did_you_mean
from arm_description.robot_model import RobotModel
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from arm_interfaces.action import RunTask
from arm_interfaces.srv import ListTasks, RecordPath, TeachPose, TouchBolt
from arm_kinematics import Chain
from arm_tasks.errors import TasksError, shipped
from arm_tasks.ros.driver_client import ArmState
from arm_tasks.scene.poses import TaughtPose, check_name, load_poses
from arm_tasks.task.parser import load_task

if TYPE_CHECKING:
    from arm_tasks.manual.teaching import PathRecorder


TEACHING = PluginGroup(
    "arm_tasks.teaching",
    "way to teach",
    {
        "save_pose": "arm_tasks.manual.teaching:save_pose",
        "forget_pose": "arm_tasks.manual.teaching:forget_pose",
        "path": "arm_tasks.manual.teaching:PathRecorder",
        "bolt": "arm_tasks.ros.task_server.touching:Touching",
    },
)
"""What saves poses, records a path and locates a bolt: loaded when somebody teaches."""


class RestingArm:
    """The pose of the arm, while it is at rest."""

    def __init__(self, state: ArmState, chain: Chain) -> None:
        self._state, self._chain = state, chain

    def frame(self, name: str) -> str:
        """Return the name of a frame in messages."""
        return self._state.names.add(name)

    def pose(self, at_rest: bool = True) -> TaughtPose:
        """Return joint positions and tool pose; raise TasksError if unknown or in motion."""
        self._state.poll()
        positions, names = self._state.positions, self._chain.joint_names
        if any(name not in positions for name in names) or self._state.lost():
            raise TasksError(self._state.not_ready())
        if self._state.moving and at_rest:
            raise TasksError("the arm is moving; try again once it is at rest")
        joints = {name: float(positions[name]) for name in names}
        return TaughtPose(joints, self._chain.fk(list(joints.values())))


def _service(answer: Callable[[Any, Any], str]) -> Callable[[Any, Any], Any]:
    """Return the callback of a service whose response has `success` and `message`."""

    def callback(request: Any, response: Any) -> Any:
        try:
            response.message = answer(request, response)
            response.success = True
        except (InputError, OSError) as error:
            response.message = str(error)
        return response

    return callback


@cache
def _shipped_tasks() -> Mapping[str, str]:
    """Return the scenes of the shipped tasks that are valid, by the names of the tasks."""
    scenes = {}
    for name in shipped("tasks"):
        with contextlib.suppress(TasksError):
            scenes[name] = load_task(name).scene
    return scenes


class Teaching:
    """Saves poses and recorded paths in files.

    Services:
        list_tasks, teach/save_pose, teach/forget_pose, teach/record, teach/end_recording,
        teach/replay.
    """

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        state: ArmState,
        arm: RestingArm,
        poses: Path,
        paths: Path,
        scene: str,
    ) -> None:
        self._logger = node.get_logger()
        self._model, self._state, self._arm = model, state, arm
        self._poses_file, self._paths, self._scene_name = poses, paths, scene
        self._recorder: PathRecorder | None = None
        self._latest: tuple[float, list[float]] | None = None  # stamp [s] and positions
        self._path = ""
        group = ReentrantCallbackGroup()  # replay awaits a response of this node
        self._run = GoalClient(node, RunTask, "run_task", callback_group=group)
        state.on_joints = self._on_joints
        node.create_service(ListTasks, "list_tasks", self._on_list, qos_profile=CALLS)
        for kind, name, answer in (
            (TeachPose, "save_pose", self._save_pose),
            (TeachPose, "forget_pose", self._forget_pose),
            (RecordPath, "record", self._record),
            (RecordPath, "end_recording", self._end_recording),
        ):
            node.create_service(kind, f"teach/{name}", _service(answer), qos_profile=CALLS)
        node.create_service(
            RecordPath, "teach/replay", self._replay, callback_group=group, qos_profile=CALLS
        )

    def poses(self) -> Mapping[str, TaughtPose]:
        """Return the taught poses, none without a file; raise TaskFileError if it is invalid."""
        return load_poses(self._poses_file) if self._poses_file.is_file() else {}

    # -- poses --------------------------------------------------------------------------------

    def _save_pose(self, request: TeachPose.Request, _: Any) -> str:
        taught, replace, model = self._arm.pose(), bool(request.replace), self._model
        TEACHING.load("save_pose")(
            self._poses_file, model.name, request.name, taught, replace, taken=model.postures
        )
        return f"{request.name} is saved in {self._poses_file.absolute()}"

    def _forget_pose(self, request: TeachPose.Request, _: Any) -> str:
        TEACHING.load("forget_pose")(self._poses_file, self._model.name, request.name)
        return f"{request.name} is removed"

    # -- paths --------------------------------------------------------------------------------

    def _record(self, request: RecordPath.Request, _: Any) -> str:
        if self._recorder is not None:
            raise TasksError(f"{self._path} is being recorded; end that recording first")
        if self._file(check_name(request.name)).exists() and not request.replace:
            raise TasksError(f"the path {request.name} already exists; replace it or rename it")
        self._arm.pose()
        self._state.poll()
        self._recorder, self._path = TEACHING.load("path")(self._model), request.name
        if self._latest is not None:
            self._on_joints(*self._latest)  # the start; the next message may be late
        return f"recording {request.name}: move the arm, then end the recording"

    def _end_recording(self, request: RecordPath.Request, _: Any) -> str:
        self._state.poll()
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            raise TasksError("nothing is being recorded")
        if request.discard:
            return f"{self._path} is discarded"
        self._paths.mkdir(parents=True, exist_ok=True)
        file = self._file(self._path)
        return f"{self._path}, {recorder.save(file):.1f} s, is saved in {file.absolute()}"

    def _on_joints(self, stamp: float, q: list[float]) -> None:
        self._latest = stamp, q
        if self._recorder is None:
            return
        try:
            self._recorder.add(stamp, q)
        except TasksError as full:
            self._logger.warning(str(full), throttle_duration_sec=10.0)

    async def _replay(
        self, request: RecordPath.Request, response: RecordPath.Response
    ) -> RecordPath.Response:
        """Start a task that plays a path; its progress is on task_server/state."""
        if request.name not in (paths := self._path_names()):
            hint = did_you_mean(request.name, paths)
            response.message = f"there is no path '{request.name}'; {hint}"
            return response
        file = self._file(request.name)
        play = f"{{path: '{file.absolute()}', reverse: {str(bool(request.reverse)).lower()}}}"
        text = f"task: replay\nsteps:\n  - play: {play}\n"
        goal = RunTask.Goal(task=f"replay of {request.name}", text=text)
        handle = await self._run.send_goal_async(goal)
        response.success = bool(handle.accepted)
        response.message = f"{request.name} is checked, then played"
        return response

    def _file(self, name: str) -> Path:
        return self._paths / f"{name}.csv"

    def _path_names(self) -> list[str]:
        return sorted(file.stem for file in self._paths.glob("*.csv"))

    # -- lists --------------------------------------------------------------------------------

    def _on_list(self, _: ListTasks.Request, response: ListTasks.Response) -> ListTasks.Response:
        """Handle list_tasks; invalid files are omitted."""
        scenes = _shipped_tasks()
        response.tasks, response.task_scenes = list(scenes), list(scenes.values())
        response.scenes, response.scene = list(shipped("scenes")), self._scene_name
        response.postures = list(self._model.postures)
        try:
            response.poses = list(self.poses())
        except TasksError as error:
            self._logger.warning(str(error))
        response.paths = self._path_names()
        return response


def serve_touching(node: Node, *parts: Any) -> None:
    """Create the service teach/touch_bolt; Touching is made of the parts at the first request."""

    @cache
    def touching() -> Any:
        return TEACHING.load("bolt")(*parts)

    def answer(request: TouchBolt.Request, response: TouchBolt.Response) -> str:
        return str(touching().answer(request, response))

    node.create_service(TouchBolt, "teach/touch_bolt", _service(answer), qos_profile=CALLS)
