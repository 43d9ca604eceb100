# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The engine's port to the servo driver's actions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from action_msgs.msg import GoalStatus
from arm_description.command_qos import GOAL
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from arm_tasks.plan import JointTrajectory
from arm_tasks.ports import Move, MoveState, MoveStatus, Standing
from arm_tasks.ros_arm_state import ArmState
from arm_tasks.ros_conversions import trajectory_message

ANSWER_WITHIN = 10.0  # s on the wall, for the driver to accept or refuse a goal


class RosArmPort:
    """Starts motions by follow_joint_trajectory and gripper_cmd.

    All methods must be called from the thread that spins the node.

    Args:
        node: The node of the clients.
        state: Says whether the driver is still there.

    Attributes:
        on_end: Called when a motion has ended or was refused.
    """

    def __init__(self, node: Node, state: ArmState) -> None:
        self._state = state
        self.on_end: Callable[[], None] = lambda: None
        self._follow = ActionClient(
            node,
            FollowJointTrajectory,
            "arm_controller/follow_joint_trajectory",
            goal_service_qos_profile=GOAL,
        )
        self._gripper = ActionClient(
            node,
            GripperCommand,
            "gripper_controller/gripper_cmd",
            goal_service_qos_profile=GOAL,
        )

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
        return ActionMove(self._follow, goal, self._state, self._ended)

    def set_width(self, width: float) -> Move:
        """Start to bring the jaws to a width [m]."""
        goal = GripperCommand.Goal()
        goal.command.position = width
        return ActionMove(self._gripper, goal, self._state, self._ended)

    def _ended(self) -> None:
        self.on_end()

    def where(self) -> Standing:
        """Return where joint_states say that it is."""
        self._state.hear()
        return Standing(self._state.positions, self._state.width)


class ActionMove:
    """One goal of an action of the driver, as the engine's handle.

    A goal that was given up is withdrawn, also if the driver is heard again only later.
    """

    def __init__(
        self, client: ActionClient, goal: Any, state: ArmState, on_end: Callable[[], None]
    ) -> None:
        self._state, self._on_end = state, on_end
        self._answered = self._canceled = False
        self._status = MoveStatus(MoveState.RUNNING)
        self._sent = time.monotonic()
        name = UUID(uuid=list(uuid4().bytes))
        # By its name it can be withdrawn also if the answer does not come.
        self._goal = ClientGoalHandle(client, name, None)
        client.send_goal_async(goal, goal_uuid=name).add_done_callback(self._on_answer)

    def poll(self) -> MoveStatus:
        """Return how far it is; a driver that fell silent is a failure."""
        if not self._status.done and (why := self._silence()):
            self._withdraw()
            self._status = MoveStatus(MoveState.FAILED, why)
        return self._status

    def cancel(self) -> None:
        """Ask the driver to stop and hold, as soon as it has accepted the goal."""
        if not self._status.done:
            self._withdraw()

    def _withdraw(self) -> None:
        self._canceled = True
        self._goal.cancel_goal_async()

    def _silence(self) -> str:
        """Return why nothing more is to be expected of the driver, or ""."""
        if not self._answered and time.monotonic() - self._sent > ANSWER_WITHIN:
            return f"the servo driver has not answered within {ANSWER_WITHIN:.0f} s"
        return self._state.lost()

    def _on_answer(self, future: Any) -> None:
        handle, self._answered = future.result(), True
        if not handle.accepted:
            if self._status.done:
                return
            said = self._state.driver_says
            why = f"its log says why, and it reports: {said}" if said else "its log says why"
            self._status = MoveStatus(MoveState.REJECTED, why)
            self._on_end()
            return
        if self._canceled:
            handle.cancel_goal_async()
        handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        if self._status.done:
            return
        response = future.result()
        states = {
            GoalStatus.STATUS_SUCCEEDED: MoveState.SUCCEEDED,
            GoalStatus.STATUS_CANCELED: MoveState.CANCELED,
        }
        state = states.get(response.status, MoveState.FAILED)
        self._status = MoveStatus(state, getattr(response.result, "error_string", ""))
        self._on_end()
