# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Services that are called without blocking; responses arrive in the node's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arm_common.ros.message_conversions import pose_message
from arm_common.ros.qos import CALLS
from arm_common.transforms import Array
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Header

from arm_interfaces.srv import SolveIK
from arm_viewer.port import IK_MODES, IkRequest, IkResponse, ResponseCallback, Solution

# mypy: disable-error-code="no-untyped-call"


def label(service: str) -> str:
    """Return the name of a service as words: "record" of teach/record."""
    return service.rpartition("/")[2].replace("_", " ")


class ServiceClient:
    """A client of one service; `unavailable` takes a sentence when a call finds no provider."""

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        unavailable: Callable[[str], None] = lambda sentence: None,
        qos: QoSProfile = CALLS,
    ) -> None:
        self._client = node.create_client(kind, name, qos_profile=qos)
        self._kind, self._name, self._unavailable = kind, name, unavailable

    @property
    def ready(self) -> bool:
        """Whether a node provides the service."""
        return bool(self._client.service_is_ready())

    def call(self, on_response: Callable[[Any], None] | None = None, /, **fields: Any) -> bool:
        """Send a request with these fields; return False if no node provides the service."""
        if not self.ready:
            self._unavailable(f"Nothing answers '{label(self._name)}' yet; is the arm running?")
            return False
        future = self._client.call_async(self._kind.Request(**fields))
        if on_response is not None:
            future.add_done_callback(lambda done: on_response(done.result()))
        return True


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
        return self._client.call(
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
