# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm and gripper controllers: FollowJointTrajectory, its topic form, and GripperCommand.

They behave like joint_trajectory_controller and gripper_action_controller; of servos that do not
answer they report commanded values, never a measured grasp.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from arm_hardware.control.controller import TOLERANCES_VIOLATED, TrajectoryController
from arm_hardware.errors import HardwareError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import ValidatedGoal, validate_goal
from arm_hardware.ros.driver_context import DriverContext
from arm_hardware.ros.driver_messages import (
    difference,
    goal_tolerances,
    trajectory_goal,
    trajectory_point,
)
from arm_hardware.ros.goal_server import GoalServer, Prepared, Running

# mypy: disable-error-code="no-untyped-call"

_LOGGER = logging.getLogger(__name__)
_TOPIC = "arm_controller/joint_trajectory"


class TrajectoryServer(GoalServer):
    """Offers ``follow_joint_trajectory`` and ``joint_trajectory`` of the arm_controller."""

    action, name = FollowJointTrajectory, "arm_controller/follow_joint_trajectory"

    def __init__(
        self, node: Node, context: DriverContext, publish_now: Callable[[], None]
    ) -> None:
        super().__init__(node, context, publish_now)
        node.create_subscription(
            JointTrajectory, _TOPIC, self._on_topic, 10, callback_group=self._group
        )

    def _validate(
        self, trajectory: JointTrajectory, controller: TrajectoryController
    ) -> ValidatedGoal:
        """Return a message's validated goal, or raise HardwareError."""
        controller.require_ready()
        chosen = self._context.parameters
        chosen.bounds.check_points(len(trajectory.points))  # before they are converted
        return validate_goal(
            trajectory_goal(trajectory, self._context.time.seconds_until(trajectory.header.stamp)),
            controller.axes,
            chosen.allow_partial_joints_goal,
            chosen.allow_nonzero_velocity_at_trajectory_end,
            chosen.bounds,
        )

    def _prepare(self, goal: FollowJointTrajectory.Goal) -> Prepared:
        controller = self._context.controller()
        validated = self._validate(goal.trajectory, controller)
        defaults = self._context.constraints.tolerances()
        tolerances = goal_tolerances(goal, controller.axes, defaults)
        planned = controller.plan(validated)
        return Prepared(controller, lambda: controller.follow(planned, tolerances))

    def _feedback(self, running: Running) -> FollowJointTrajectory.Feedback | None:
        """Return reference and actual state; without a measurement that is the command."""
        tracking = running.controller.tracking()
        if tracking.reference is None:
            return None
        message = FollowJointTrajectory.Feedback(joint_names=list(running.controller.axes.names))
        message.header.stamp = self._context.time.now()
        message.desired = trajectory_point(tracking.reference)
        message.actual.positions, message.actual.velocities = tracking.actual
        message.actual.time_from_start = message.desired.time_from_start
        message.error = difference(message.desired, message.actual)
        return message

    def _result(self, running: Running) -> FollowJointTrajectory.Result:
        goal = running.goal
        return FollowJointTrajectory.Result(error_code=goal.code, error_string=goal.message)

    def _on_topic(self, message: JointTrajectory) -> None:
        try:
            controller = self._context.controller()
            if not message.points:
                controller.hold("An empty trajectory arrived on the topic.")
                return
            tolerances = self._context.constraints.tolerances()
            controller.follow(self._validate(message, controller), tolerances, streamed=True)
        except HardwareError as error:
            self._context.refuse(_TOPIC, error)
        except Exception as error:  # noqa: BLE001 - no message ends the process
            self._context.fail(_TOPIC, error)


class GripperServer(GoalServer):
    """Offers ``gripper_controller/gripper_cmd``; a newer goal aborts the older."""

    action, name = GripperCommand, "gripper_controller/gripper_cmd"

    def _prepare(self, goal: GripperCommand.Goal) -> Prepared:
        controller, command = self._context.controller(), goal.command
        planned = controller.plan_grip(command.position, command.max_effort)
        return Prepared(controller, lambda: controller.start_grip(planned))

    def _feedback(self, running: Running) -> GripperCommand.Feedback:
        return _fill_width(GripperCommand.Feedback(), running)

    def _result(self, running: Running) -> GripperCommand.Result:
        _LOGGER.info("Gripper: %s", running.goal.message)
        return _fill_width(GripperCommand.Result(), running)


def _fill_width(message: Any, running: Running) -> Any:
    """Fill a result or feedback with the width; a servo that does not answer shows no grasp.

    As in gripper_action_controller, an aborted goal is stalled if the jaws themselves stopped.
    """
    goal, measured = running.goal, running.controller.snapshot().measured
    message.position = float(running.controller.command()[0][-1])
    message.effort = 0.0
    if measured is not None:
        message.position, message.effort = measured.positions[-1], measured.efforts[-1]
    aborted = goal.outcome is GoalOutcome.ABORTED
    message.stalled = goal.code in TOLERANCES_VIOLATED if aborted else goal.stalled
    message.reached_goal = goal.outcome is GoalOutcome.SUCCEEDED and not goal.stalled
    return message
