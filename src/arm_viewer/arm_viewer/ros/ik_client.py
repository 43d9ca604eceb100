# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Asks the service kinematics/solve_ik; answers come in the node's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arm_common.transforms import matrix_to_pose
from rclpy.node import Node

from arm_interfaces.srv import SolveIK
from arm_viewer.control.ik_follower import IkAnswerView, IkRequest, Solution
from arm_viewer.scene.shapes import Array

# mypy: disable-error-code="no-untyped-call"


class IkClient:
    """A client of the kinematics node.

    Args:
        node: The node that calls.
        tip: Frame to bring to the target.
        answered: Takes what came of a request.
    """

    def __init__(self, node: Node, tip: str, answered: Callable[[IkAnswerView], None]) -> None:
        self._client = node.create_client(SolveIK, "kinematics/solve_ik")
        self._tip, self._answered = tip, answered

    def ask(self, frame: str, pose: Array, wish: IkRequest) -> bool:
        """Send a request for a pose (4, 4) in a frame; False if nobody serves."""
        if not self._client.service_is_ready():
            return False
        request = SolveIK.Request(tip_frame=self._tip, mode=wish.mode, max_solutions=wish.count)
        request.position_tolerance = wish.position
        request.orientation_tolerance = wish.orientation
        request.target.header.frame_id = frame
        p, o = request.target.pose.position, request.target.pose.orientation
        (p.x, p.y, p.z), (o.x, o.y, o.z, o.w) = matrix_to_pose(pose)
        self._client.call_async(request).add_done_callback(self._done)
        return True

    def _done(self, future: Any) -> None:
        response = future.result()
        solutions = tuple(
            Solution(
                dict(zip(s.joint_state.name, s.joint_state.position, strict=True)),
                s.position_error,
                s.orientation_error,
                s.joint_distance,
            )
            for s in response.solutions
        )
        ok = response.status == SolveIK.Response.SUCCESS
        self._answered(IkAnswerView(ok, response.message, solutions))
