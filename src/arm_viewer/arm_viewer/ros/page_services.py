# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Services that a page calls without blocking; responses arrive in the node's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arm_common.ros.message_conversions import pose_message
from arm_common.ros.qos import CALLS
from arm_common.ros.service_client import ServiceClient
from arm_common.transforms import Array
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Header

from arm_interfaces.srv import SolveIK
from arm_viewer.port import IK_MODES, IkRequest, IkResponse, ResponseCallback, Solution


class PageService(ServiceClient):
    """A service of a button; `unavailable` takes a sentence when a request finds no provider."""

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        unavailable: Callable[[str], None] = lambda sentence: None,
        qos: QoSProfile = CALLS,
    ) -> None:
        super().__init__(node, kind, name, qos)
        self._unavailable = unavailable

    def send(self, on_response: Callable[[Any], None] | None = None, /, **fields: Any) -> bool:
        """Send a request as `ServiceClient` does, or report that nobody provides the service."""
        if super().send(on_response, **fields):
            return True
        words = self.name.rpartition("/")[2].replace("_", " ")
        self._unavailable(f"Nothing answers '{words}' yet; is the arm running?")
        return False


class IkClient:
    """A client of kinematics/solve_ik, to bring the frame `tip` to targets."""

    def __init__(self, node: Node, tip: str) -> None:
        self._client = ServiceClient(node, SolveIK, "kinematics/solve_ik")
        self._tip = tip

    def send(
        self, frame: str, pose: Array, request: IkRequest, on_response: ResponseCallback
    ) -> bool:
        """Send a request for a pose (4, 4) in a frame; False if the service is unavailable."""
        target = PoseStamped(header=Header(frame_id=frame), pose=pose_message(pose))
        return self._client.send(
            lambda response: on_response(_ik_response(response)),
            tip_frame=self._tip,
            target=target,
            mode=IK_MODES.index(request.mode),
            max_solutions=request.max_solutions,
            position_tolerance=request.position_tolerance,
            orientation_tolerance=request.orientation_tolerance,
        )


def _ik_response(response: SolveIK.Response) -> IkResponse:
    solutions = tuple(
        Solution(
            dict(zip(s.joint_state.name, s.joint_state.position, strict=True)),
            s.position_error,
            s.orientation_error,
        )
        for s in response.solutions
    )
    ok = response.status == SolveIK.Response.SUCCESS
    return IkResponse(ok, response.message, solutions)
