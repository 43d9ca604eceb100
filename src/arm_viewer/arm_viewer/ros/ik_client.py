# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A client of the service kinematics/solve_ik; responses arrive in the node's thread."""

from __future__ import annotations

from collections.abc import Callable

from arm_common.ros.messages import pose_message
from rclpy.node import Node

from arm_interfaces.srv import SolveIK
from arm_viewer.control.ik_follower import IkRequest, IkResponse, Solution
from arm_viewer.ros.service_client import ServiceClient
from arm_viewer.scene.shapes import Array


class IkClient:
    """A client of the kinematics node.

    Args:
        node: The node that calls.
        tip: Frame to bring to the target.
        on_response: Takes each response.
    """

    def __init__(self, node: Node, tip: str, on_response: Callable[[IkResponse], None]) -> None:
        self._client = ServiceClient(node, SolveIK, "kinematics/solve_ik")
        self._tip, self._on_response = tip, on_response

    def send(self, frame: str, pose: Array, request: IkRequest) -> bool:
        """Send a request for a pose (4, 4) in a frame; False if the service is unavailable."""
        message = SolveIK.Request(tip_frame=self._tip, mode=request.mode)
        message.max_solutions = request.max_solutions
        message.position_tolerance = request.position_tolerance
        message.orientation_tolerance = request.orientation_tolerance
        message.target.header.frame_id = frame
        message.target.pose = pose_message(pose)
        return self._client.call(message, self._convert)

    def _convert(self, response: SolveIK.Response) -> None:
        solutions = tuple(
            Solution(
                dict(zip(s.joint_state.name, s.joint_state.position, strict=True)),
                s.position_error,
                s.orientation_error,
            )
            for s in response.solutions
        )
        ok = response.status == SolveIK.Response.SUCCESS
        self._on_response(IkResponse(ok, response.message, solutions))
