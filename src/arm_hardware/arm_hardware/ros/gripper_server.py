# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""GripperCommand in metres of opening; says what was commanded, never that a grasp succeeded."""

from __future__ import annotations

from typing import Any

from control_msgs.action import GripperCommand

from arm_hardware.goal import Goal, Outcome
from arm_hardware.motion import Motion
from arm_hardware.ros.action_goal import GoalServer, Running


class GripperServer:
    """Offers ``gripper_controller/gripper_cmd``; a newer goal aborts the older."""

    def __init__(self, node: Any) -> None:
        """Offer the action.

        Args:
            node: The HardwareNode.
        """
        self._node = node
        self._server = GoalServer(
            node,
            GripperCommand,
            "gripper_controller/gripper_cmd",
            self._try,
            self._begin,
            self._feedback,
            self._result,
        )

    @property
    def busy(self) -> bool:
        """Whether the client of some goal has not been told of its end."""
        return self._server.busy

    def _try(self, goal: GripperCommand.Goal) -> None:
        self._node.motion().try_grip(goal.command.position, goal.command.max_effort)

    def _begin(self, goal: GripperCommand.Goal, motion: Motion) -> Goal:
        return motion.grip(goal.command.position, goal.command.max_effort)

    def _feedback(self, running: Running) -> GripperCommand.Feedback:
        return _filled(GripperCommand.Feedback(), running)

    def _result(self, running: Running) -> GripperCommand.Result:
        self._node.get_logger().info(f"Gripper: {running.goal.message}")
        return _filled(GripperCommand.Result(), running)


def _filled(message: Any, running: Running) -> Any:
    """Fill a result or feedback: the commanded width; effort and stalling cannot be measured."""
    if running.motion is not None:
        message.position = float(running.motion.command()[0][-1])
    message.effort = 0.0
    message.stalled = False
    message.reached_goal = running.goal.outcome is Outcome.SUCCEEDED
    return message
