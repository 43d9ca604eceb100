# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Services by which an arm is taught poses and paths; and the list of what there is.

What the services of teaching share: where the arm stands, and answers as sentences.

The service by which bolts are located by touching them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import GOAL
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, frame_along, pose
from arm_description.trajectories.files import write_trajectory
from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from sensor_msgs.msg import JointState

from arm_description import DescriptionError
from arm_interfaces.action import RunTask
from arm_interfaces.srv import ListTasks, RecordPath, TeachPose, TouchBolt
from arm_tasks.errors import TasksError, shipped
from arm_tasks.manual.recorder import PathRecorder
from arm_tasks.manual.touch_location import Surface, Touch, locate
from arm_tasks.ros.messages import pose_message
from arm_tasks.scene.editing import write_bolt
from arm_tasks.scene.poses import TaughtPose, check_name, forget_pose, load_poses, save_pose
from arm_tasks.scene.scene import BASE_FRAME, Scene
from arm_tasks.task.parser import load_task

if TYPE_CHECKING:
    from arm_tasks.ros.task_server.node import TaskServer

ERRORS = (TasksError, DescriptionError, OSError)


def here(server: TaskServer) -> tuple[dict[str, float], Array]:
    """Return where the arm stands: joints by name, base_link <- tool0 (4, 4).

    Raises:
        TasksError: It is not known, or it moves.
    """
    positions, names = server.port.configuration().positions, server.chain.joint_names
    if any(name not in positions for name in names) or server.state.lost():
        raise TasksError(server.state.not_ready())
    if server.state.moving:
        raise TasksError("the arm is moving; let it come to rest, then ask again")
    joints = {name: float(positions[name]) for name in names}
    return joints, server.chain.fk(list(joints.values()))


def answering(answer: Callable[[Any, Any], str]) -> Callable[[Any, Any], Any]:
    """Return a callback that answers with success and a sentence."""

    def callback(request: Any, response: Any) -> Any:
        try:
            response.message = answer(request, response)
            response.success = True
        except ERRORS as error:
            response.message = str(error)
        return response

    return callback


@dataclass(frozen=True)
class TeachingParameters:
    """Parameters of the node that concern teaching."""

    poses: str = parameter("taught_poses.yaml", "File of taught poses.")
    paths: str = parameter("taught_paths", "Folder of recorded paths.")


class Teaching:
    """Serves who teaches; what is taught goes into files.

    Services:
        list_tasks, teach/save_pose, teach/forget_pose, teach/record, teach/end_recording,
        teach/replay.

    Args:
        server: The node.
    """

    def __init__(self, server: TaskServer) -> None:
        self._server = server
        given = declare(server, TeachingParameters)
        self._poses_file, self._paths = Path(given.poses), Path(given.paths)
        self._recorder: PathRecorder | None = None
        self._path = ""
        apart = ReentrantCallbackGroup()  # who awaits an answer must not keep it from coming
        self._run = ActionClient(
            server, RunTask, "run_task", callback_group=apart, goal_service_qos_profile=GOAL
        )
        server.state.on_joints = self._on_joints
        server.create_service(ListTasks, "list_tasks", self._on_list)
        for kind, name, answer in (
            (TeachPose, "save_pose", self._save_pose),
            (TeachPose, "forget_pose", self._forget_pose),
            (RecordPath, "record", self._record),
            (RecordPath, "end_recording", self._end_recording),
        ):
            server.create_service(kind, f"teach/{name}", answering(answer))
        server.create_service(RecordPath, "teach/replay", self._replay, callback_group=apart)

    @property
    def poses(self) -> Mapping[str, TaughtPose]:
        """The taught poses; none if there is no file.

        Raises:
            TaskFileError: The file makes no sense.
        """
        return load_poses(self._poses_file) if self._poses_file.is_file() else {}

    # -- poses --------------------------------------------------------------------------------

    def _save_pose(self, request: TeachPose.Request, _: Any) -> str:
        joints, tool = here(self._server)
        taught = TaughtPose(joints, tool)
        robot = self._server.model.name
        save_pose(self._poses_file, robot, request.name, taught, bool(request.replace))
        return f"{request.name} is kept in {self._poses_file.absolute()}"

    def _forget_pose(self, request: TeachPose.Request, _: Any) -> str:
        forget_pose(self._poses_file, self._server.model.name, request.name)
        return f"{request.name} is forgotten"

    # -- paths --------------------------------------------------------------------------------

    def _record(self, request: RecordPath.Request, _: Any) -> str:
        if self._recorder is not None:
            raise TasksError(f"{self._path} is being recorded; end that first")
        if self._file(check_name(request.name)).exists() and not request.replace:
            raise TasksError(f"there is a path {request.name}; replace it, or choose another name")
        here(self._server)
        self._recorder, self._path = PathRecorder(self._server.model), request.name
        return f"recording {request.name}: move the arm, then end it"

    def _end_recording(self, request: RecordPath.Request, _: Any) -> str:
        self._server.state.hear()
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            raise TasksError("nothing is being recorded")
        if request.discard:
            return f"{self._path} is discarded"
        path = recorder.trajectory()
        self._paths.mkdir(parents=True, exist_ok=True)
        file = self._file(self._path)
        write_trajectory(file, path, self._server.model)
        return f"{self._path}, {path.duration:.1f} s, is kept in {file.absolute()}"

    def _on_joints(self, message: JointState) -> None:
        if self._recorder is None:
            return
        by_name = dict(zip(message.name, message.position, strict=False))
        stamp = message.header.stamp
        try:
            q = [by_name[name] for name in self._server.chain.joint_names]
            self._recorder.add(stamp.sec + 1e-9 * stamp.nanosec, q)
        except KeyError:
            return  # of another robot
        except TasksError as full:
            self._server.get_logger().warning(str(full), throttle_duration_sec=10.0)  # type: ignore[no-untyped-call]

    async def _replay(
        self, request: RecordPath.Request, response: RecordPath.Response
    ) -> RecordPath.Response:
        """Begin a task that plays a path; run_task/state tells how far it is."""
        paths = sorted(file.stem for file in self._paths.glob("*.csv"))
        if request.name not in paths:
            response.message = (
                f"there is no path '{request.name}'; {did_you_mean(request.name, paths)}"
            )
            return response
        file = self._file(request.name)
        play = f"{{path: '{file.absolute()}', reverse: {str(bool(request.reverse)).lower()}}}"
        text = f"task: replay\nsteps:\n  - play: {play}\n"
        handle = await self._run.send_goal_async(
            RunTask.Goal(task=f"replay of {request.name}", text=text)
        )
        response.success = bool(handle.accepted)
        response.message = f"{request.name} is checked and then played; run_task/state tells more"
        return response

    def _file(self, name: str) -> Path:
        return self._paths / f"{name}.csv"

    # -- what there is ------------------------------------------------------------------------

    def _on_list(self, _: ListTasks.Request, response: ListTasks.Response) -> ListTasks.Response:
        """Answer list_tasks; a file that makes no sense is left out."""
        for name in shipped("tasks"):
            try:
                scene = load_task(name).scene
            except TasksError:
                continue
            response.tasks = [*response.tasks, name]
            response.task_scenes = [*response.task_scenes, scene]
        response.scenes, response.scene = list(shipped("scenes")), self._server.planning.scene_name
        response.postures = list(self._server.model.postures)
        try:
            response.poses = list(self.poses)
        except TasksError as error:
            self._server.get_logger().warning(str(error))  # type: ignore[no-untyped-call]
        response.paths = sorted(file.stem for file in self._paths.glob("*.csv"))
        return response


class Touching:
    """Gathers touched points by bolt, and locates the bolts.

    Services:
        teach/touch_bolt.

    Args:
        server: The node.
        show: Called with the scene when a bolt was written into it.
    """

    def __init__(self, server: TaskServer, show: Callable[[Scene], None]) -> None:
        self._server = server
        self._show = show
        self._touches: dict[str, list[Touch]] = {}
        server.create_service(TouchBolt, "teach/touch_bolt", answering(self._touch_bolt))

    def _touch_bolt(self, request: TouchBolt.Request, response: TouchBolt.Response) -> str:
        scene = self._server.planning.scene
        bolt = scene.bolt(request.bolt)
        touches = self._touches.setdefault(bolt.name, [])
        response.points = len(touches)
        if request.action == TouchBolt.Request.CLEAR:
            touches.clear()
            response.points = 0
            return f"the points of {bolt.name} are forgotten"
        if request.action == TouchBolt.Request.ADD:
            return self._touch(request, touches, response)
        found = locate(touches, bolt.diameter / 2.0, bolt.pose[:3, 3], bolt.pose[:3, 2])
        response.pose.header.frame_id = BASE_FRAME
        response.pose.pose = pose_message(pose(frame_along(found.axis), found.tip))
        response.tip_error, response.axis_error = found.tip_error, found.axis_error
        response.residual = found.residual
        moved = float(np.linalg.norm(found.tip - bolt.pose[:3, 3])) * 1e3
        said = f"{bolt.name}: {found.text}; that is {moved:.1f} mm from where the scene has it"
        if request.action != TouchBolt.Request.WRITE:
            return said
        if self._server.controls.engine is not None:
            raise TasksError("a task runs; end it before the scene is changed")
        robot = self._server.model.name
        scene = write_bolt(scene, bolt.name, found.tip, found.axis, robot)
        self._server.planning.scene = scene
        self._show(scene)
        return f"{said}; written into {scene.file}"

    def _touch(
        self, request: TouchBolt.Request, touches: list[Touch], response: TouchBolt.Response
    ) -> str:
        try:
            surface = Surface(request.surface)
        except ValueError:
            raise TasksError(f"there is no surface {request.surface}; see TouchBolt") from None
        _, tool = here(self._server)
        at = request.touching
        point = (tool @ np.array([at.x, at.y, at.z, 1.0]))[:3]
        if not np.isfinite(point).all():
            raise TasksError("the touching point is not finite")
        touches.append(Touch(surface, point))
        response.points = len(touches)
        x, y, z = point * 1e3
        return f"point {len(touches)}, {surface.name.lower()}: ({x:.1f}, {y:.1f}, {z:.1f}) mm"
