# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The service by which bolts are located by touching them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from arm_interfaces.srv import TouchBolt
from arm_tasks.errors import TasksError
from arm_tasks.geometry import frame_along, pose
from arm_tasks.ros_conversions import pose_message
from arm_tasks.ros_taught import answering, here
from arm_tasks.scene import BASE_FRAME, Scene
from arm_tasks.teaching.scene_edit import write_bolt
from arm_tasks.teaching.touching import Surface, Touch, locate

if TYPE_CHECKING:
    from arm_tasks.task_server_node import TaskServer


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
