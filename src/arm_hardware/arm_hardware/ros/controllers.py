# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm and gripper controllers: trajectories, their speed scaling and state, GripperCommand.

They behave like joint_trajectory_controller and gripper_action_controller; of servos that do not
answer they report commanded values, never a measured grasp. Goals are validated on arrival and
executed by the controller of the core.

A goal starts in its accepted callback, so goals start in the order of their acceptance, which
rclpy does not guarantee for execute callbacks. Each running goal blocks one executor thread,
because rclpy's executor would poll a coroutine at full CPU load.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from arm_common.ros.actions.server import CLIENT_LOST, GoalOwner, GoalOwners, action_server
from arm_common.ros.qos import CALLS, GOAL
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from control_msgs.srv import QueryTrajectoryState
from diagnostic_msgs.msg import KeyValue
from rclpy.action import CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from arm_hardware.control.controller import TrajectoryController
from arm_hardware.control.snapshot import Tracking
from arm_hardware.driver import Driver
from arm_hardware.errors import INVALID_GOAL, TOLERANCES_VIOLATED, CommandError, HardwareError
from arm_hardware.motion.execution import Goal, GoalOutcome
from arm_hardware.motion.goal_validation import ValidatedGoal, validate_goal
from arm_hardware.motion.speed_scaling import check_speed_scaling
from arm_hardware.ros.driver_context import DriverContext
from arm_hardware.ros.driver_messages import (
    controller_state,
    difference,
    goal_tolerances,
    trajectory_goal,
    trajectory_point,
)

# mypy: disable-error-code="no-untyped-call, attr-defined"

_LOGGER = logging.getLogger(__name__)
CANCEL_WITHIN = 5.0  # [s] of wall time from the cancel callback to the server's change of state
_TOPIC = "arm_controller/joint_trajectory"
_SCALING = "arm_controller/speed_scaling_input"
_QUERY = "arm_controller/query_state"
_Response = TypeVar("_Response", bound=QueryTrajectoryState.Response)


class Running(NamedTuple):
    """A goal and the controller that executes it."""

    goal: Goal
    controller: TrajectoryController


class Prepared(NamedTuple):
    """The controller of a validated and planned goal, and the function that starts it."""

    controller: TrajectoryController
    begin: Callable[[], Goal]


class GoalServer(ABC):
    """Base class of action servers whose goals are executed by the controller."""

    action: Any  # its type
    name: str

    def __init__(
        self, node: Node, context: DriverContext, publish_now: Callable[[], None]
    ) -> None:
        """Create a server on a node; ``publish_now`` is called before a result goes out."""
        self._context = context
        self._publish_now = publish_now
        self._reasons = node.create_publisher(KeyValue, "~/refusal", GOAL)
        self._prepared: Prepared | None = None
        self._running: dict[bytes, Running] = {}
        timeout = context.parameters.client_timeout
        self._owners = GoalOwners(node, self.action, self.name, timeout)
        self._group = MutuallyExclusiveCallbackGroup()
        self._server = action_server(
            node,
            self.action,
            self.name,
            self._execute,
            callback_group=self._group,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    @abstractmethod
    def _prepare(self, goal: Any) -> Prepared:
        """Validate and plan a goal message, or raise HardwareError."""

    @abstractmethod
    def _feedback(self, running: Running) -> Any:
        """Return a feedback message, or None."""

    @abstractmethod
    def _result(self, running: Running) -> Any:
        """Return the result message of a goal that has ended."""

    @property
    def busy(self) -> bool:
        """Whether any goal has no result yet."""
        return bool(self._running)

    def _on_goal(self, message: Any) -> GoalResponse:
        try:
            self._prepared = self._prepare(message)
        except HardwareError as error:
            self._context.refuse(self.name, error, self._reasons.topic_name)
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - no goal ends the process
            reason = self._context.fail(self.name, error)
        else:
            return GoalResponse.ACCEPT
        self._reasons.publish(KeyValue(key=self.name, value=reason))
        return GoalResponse.REJECT

    def _on_accepted(self, handle: Any) -> None:
        prepared, self._prepared = self._prepared, None
        assert prepared is not None, "rclpy calls this right after the goal callback"
        try:
            goal = prepared.begin()
        except HardwareError as error:
            self._context.refuse(self.name, error)
            code = error.code if isinstance(error, CommandError) else INVALID_GOAL
            goal = _aborted(code, str(error))
        except Exception as error:  # noqa: BLE001
            goal = _aborted(INVALID_GOAL, self._context.fail(self.name, error))
        self._running[bytes(handle.goal_id.uuid)] = Running(goal, prepared.controller)
        handle.execute()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        running = self._running.get(bytes(handle.goal_id.uuid))
        if running is None:
            return CancelResponse.REJECT
        running.controller.cancel(running.goal)
        return CancelResponse.ACCEPT

    def _execute(self, handle: Any) -> Any:
        key = bytes(handle.goal_id.uuid)
        running = self._running[key]
        with self._owners.watch(handle.goal_id) as owner:
            self._wait(handle, running, owner)
        try:
            self._publish_now()
        except Exception as error:  # noqa: BLE001 - the goal has its result nevertheless
            self._context.fail(self.name, error)
        finally:
            _set_terminal_state(handle, running.goal)
            del self._running[key]
        return self._result(running)

    def _wait(self, handle: Any, running: Running, owner: GoalOwner) -> None:
        """Report a goal until it ends."""
        period = 1.0 / self._context.parameters.action_monitor_rate  # [s] of wall time
        while not running.goal.wait(period):
            try:
                self._report(handle, running, owner)
            except Exception as error:  # noqa: BLE001 - it ends the goal, not the process
                running.goal.finish(
                    GoalOutcome.ABORTED, INVALID_GOAL, self._context.fail(self.name, error)
                )

    def _report(self, handle: Any, running: Running, owner: GoalOwner) -> None:
        """Publish feedback; end the motion if the client is lost."""
        message = self._feedback(running)
        if message is None:
            return
        owner.publish_feedback(handle, message)
        if owner.is_lost():
            running.controller.give_up(running.goal, f"{CLIENT_LOST[0].upper()}{CLIENT_LOST[1:]}.")


def _aborted(code: int, reason: str) -> Goal:
    """Return a goal that has ended before it began."""
    goal = Goal()
    goal.finish(GoalOutcome.ABORTED, code, reason)
    return goal


def _set_terminal_state(handle: Any, goal: Goal) -> None:
    """Set the terminal state of an action goal to the outcome of the driver's goal."""
    try:
        if goal.outcome is GoalOutcome.SUCCEEDED:
            handle.succeed()
        elif goal.outcome is GoalOutcome.CANCELED and _cancel_requested(handle):
            handle.canceled()
        else:
            handle.abort()
    except rclpy_implementation.RCLError as error:
        _LOGGER.debug("A goal has already ended: %s", error)


def _cancel_requested(handle: Any) -> bool:
    """Wait for the action server to register the cancel request; return whether it did.

    An arm at rest ends the goal even before that.
    """
    deadline = time.monotonic() + CANCEL_WITHIN
    while not handle.is_cancel_requested:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


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


class TrajectoryMonitor:
    """Offers speed_scaling_input, query_state and controller_state of the arm_controller.

    They are as joint_trajectory_controller has them.
    """

    def __init__(self, node: Node, context: DriverContext) -> None:
        self._context = context
        self._publisher = node.create_publisher(
            JointTrajectoryControllerState, "arm_controller/controller_state", 10
        )
        group = MutuallyExclusiveCallbackGroup()
        # Not latched: a factor from before this driver's start must not replace its initial one.
        node.create_subscription(
            SpeedScalingFactor, _SCALING, self._on_scaling, 10, callback_group=group
        )
        node.create_service(
            QueryTrajectoryState, _QUERY, self._on_query, callback_group=group, qos_profile=CALLS
        )

    def tracking(self, driver: Driver) -> Tracking | None:
        """Return what controller_state reports, None if nothing subscribes to it."""
        subscribed = self._publisher.get_subscription_count() > 0
        return driver.controller.tracking() if subscribed else None

    def publish(self, driver: Driver, tracking: Tracking, stamp: Time) -> None:
        """Publish controller_state."""
        self._publisher.publish(controller_state(driver.axes, tracking, stamp))

    def _on_scaling(self, message: SpeedScalingFactor) -> None:
        """Set the speed scaling; without a driver, of the next one."""
        try:
            check_speed_scaling(message.factor)
            self._context.speed_scaling = message.factor
            if self._context.driver is not None:
                self._context.controller().set_speed_scaling(message.factor)
        except HardwareError as error:
            self._context.refuse(_SCALING, error)
        except Exception as error:  # noqa: BLE001 - no message ends the process
            self._context.fail(_SCALING, error)

    def _on_query(self, request: QueryTrajectoryState.Request, response: _Response) -> _Response:
        """Return the executed state of the running trajectory at a time, 0 for now."""
        try:
            controller = self._context.controller()
            state = controller.state_at(self._context.time.moment_of(request.time))
            response.name = list(controller.axes.names)
            response.position = state.positions
            response.velocity = state.velocities
            response.acceleration = state.accelerations
            response.success = True
        except HardwareError as error:
            response.message = str(error)
        except Exception as error:  # noqa: BLE001 - no request ends the process
            response.message = self._context.fail(_QUERY, error)
        return response
