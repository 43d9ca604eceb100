# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""FollowJointTrajectory and its topic form, with joint_trajectory_controller's semantics.

GripperCommand in metres of opening; says what was commanded, never that a grasp succeeded.
"""

from __future__ import annotations

from typing import Any

from control_msgs.action import FollowJointTrajectory, GripperCommand
from trajectory_msgs.msg import JointTrajectory

from arm_hardware.control.controller import TrajectoryController
from arm_hardware.errors import HardwareError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import ValidatedGoal, validate_goal
from arm_hardware.ros.goal_server import GoalServer, Prepared, Running
from arm_hardware.ros.messages import request_of, tolerances_of


class TrajectoryServer:
    """Offers ``follow_joint_trajectory`` and ``joint_trajectory`` of the arm_controller."""

    def __init__(self, node: Any) -> None:
        """Offer the interfaces.

        Args:
            node: The HardwareNode.
        """
        self._node = node
        self._server = GoalServer(
            node,
            FollowJointTrajectory,
            "arm_controller/follow_joint_trajectory",
            self._prepare,
            self._feedback,
            self._result,
        )
        self._topic = node.create_subscription(
            JointTrajectory,
            "arm_controller/joint_trajectory",
            self._on_topic,
            10,
            callback_group=self._server.group,
        )

    @property
    def busy(self) -> bool:
        """Whether the client of some goal has not been told of its end."""
        return self._server.busy

    def _validate(
        self, trajectory: JointTrajectory, motion: TrajectoryController
    ) -> ValidatedGoal:
        """Check a message as far as that is possible without knowing where the arm is."""
        motion.require_ready()
        start = self._node.time.seconds_until(trajectory.header.stamp)
        chosen = self._node.parameters
        request = request_of(trajectory, start)
        return validate_goal(
            request,
            motion.axes,
            chosen.allow_partial_joints_goal,
            chosen.allow_nonzero_velocity_at_trajectory_end,
        )

    def _prepare(self, goal: FollowJointTrajectory.Goal) -> Prepared:
        motion = self._node.motion()
        validated = self._validate(goal.trajectory, motion)
        tolerances = tolerances_of(goal, motion.axes)
        planned = motion.plan(validated)
        return Prepared(motion, lambda: motion.follow(planned, tolerances))

    def _feedback(self, running: Running) -> FollowJointTrajectory.Feedback | None:
        """Tell where the trajectory is and what was commanded; "actual" is no measurement."""
        motion = running.motion
        reference = motion.reference
        if reference is None:
            return None
        n = len(motion.axes.arm)
        positions, velocities = (values[:n] for values in motion.command())
        message = FollowJointTrajectory.Feedback(joint_names=list(motion.axes.names))
        message.header.stamp = self._node.time.now()
        message.desired.positions = list(reference)
        message.actual.positions = positions
        message.actual.velocities = velocities
        message.error.positions = [r - p for r, p in zip(reference, positions, strict=True)]
        return message

    def _result(self, running: Running) -> FollowJointTrajectory.Result:
        goal = running.goal
        return FollowJointTrajectory.Result(error_code=goal.code, error_string=goal.message)

    def _on_topic(self, message: JointTrajectory) -> None:
        try:
            motion = self._node.motion()
            if not message.points:
                motion.hold("An empty trajectory came on the topic.")
                return
            motion.follow(self._validate(message, motion), streamed=True)
        except HardwareError as error:
            self._node.refuse("arm_controller/joint_trajectory", error)


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
            self._prepare,
            self._feedback,
            self._result,
        )

    @property
    def busy(self) -> bool:
        """Whether the client of some goal has not been told of its end."""
        return self._server.busy

    def _prepare(self, goal: GripperCommand.Goal) -> Prepared:
        motion, command = self._node.motion(), goal.command
        motion.try_grip(command.position, command.max_effort)
        return Prepared(motion, lambda: motion.grip(command.position, command.max_effort))

    def _feedback(self, running: Running) -> GripperCommand.Feedback:
        return _filled(GripperCommand.Feedback(), running)

    def _result(self, running: Running) -> GripperCommand.Result:
        self._node.get_logger().info(f"Gripper: {running.goal.message}")
        return _filled(GripperCommand.Result(), running)


def _filled(message: Any, running: Running) -> Any:
    """Fill a result or feedback: the commanded width; effort and stalling cannot be measured."""
    message.position = float(running.motion.command()[0][-1])
    message.effort = 0.0
    message.stalled = False
    message.reached_goal = running.goal.outcome is GoalOutcome.SUCCEEDED
    return message
