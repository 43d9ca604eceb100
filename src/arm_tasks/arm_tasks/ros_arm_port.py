# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The engine's port to the servo driver's actions."""

from __future__ import annotations

from typing import Any

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionClient
from rclpy.node import Node

from arm_tasks.plan import JointTrajectory
from arm_tasks.ports import Move, MoveState, MoveStatus, Standing
from arm_tasks.ros_arm_state import ArmState
from arm_tasks.ros_conversions import trajectory_message


class RosArmPort:
    """Starts motions by follow_joint_trajectory and gripper_cmd.

    All methods must be called from the thread that spins the node.

    Args:
        node: The node of the clients.
        state: Says whether the driver is still there.
    """

    def __init__(self, node: Node, state: ArmState) -> None:
        self._state = state
        self._follow = ActionClient(
            node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory"
        )
        self._gripper = ActionClient(node, GripperCommand, "gripper_controller/gripper_cmd")

    def not_ready(self) -> str:
        """Return which server is missing, or "" if none is."""
        for client, name in ((self._follow, "trajectory"), (self._gripper, "gripper")):
            if not client.server_is_ready():
                return f"the servo driver's {name} action is not there"
        return ""

    def move(self, trajectory: JointTrajectory) -> Move:
        """Start a joint motion."""
        goal = FollowJointTrajectory.Goal()
        goal.trajectory = trajectory_message(
            trajectory.joint_names, trajectory.times, trajectory.positions, trajectory.velocities
        )
        return ActionMove(self._follow, goal, self._state)

    def set_width(self, width: float) -> Move:
        """Start to bring the jaws to a width [m]."""
        goal = GripperCommand.Goal()
        goal.command.position = width
        return ActionMove(self._gripper, goal, self._state)

    def where(self) -> Standing:
        """Return where joint_states say that it is."""
        return Standing(self._state.positions, self._state.width)


class ActionMove:
    """One goal of an action of the driver, as the engine's handle."""

    def __init__(self, client: ActionClient, goal: Any, state: ArmState) -> None:
        self._state = state
        self._handle: Any = None
        self._canceled = False
        self._status = MoveStatus(MoveState.RUNNING)
        client.send_goal_async(goal).add_done_callback(self._on_answer)

    def poll(self) -> MoveStatus:
        """Return how far it is; a driver that fell silent is a failure."""
        if not self._status.done and self._state.lost():
            self._status = MoveStatus(MoveState.FAILED, self._state.lost())
        return self._status

    def cancel(self) -> None:
        """Ask the driver to stop and hold, as soon as it has accepted the goal."""
        self._canceled = True
        if self._handle is not None and not self._status.done:
            self._handle.cancel_goal_async()

    def _on_answer(self, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            said = self._state.driver_says
            why = f"its log says why, and it reports: {said}" if said else "its log says why"
            self._status = MoveStatus(MoveState.REJECTED, why)
            return
        self._handle = handle
        if self._canceled:
            handle.cancel_goal_async()
        handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        response = future.result()
        states = {
            GoalStatus.STATUS_SUCCEEDED: MoveState.SUCCEEDED,
            GoalStatus.STATUS_CANCELED: MoveState.CANCELED,
        }
        state = states.get(response.status, MoveState.FAILED)
        self._status = MoveStatus(state, getattr(response.result, "error_string", ""))
