# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_stale_commands.py
"""Clients of the servo driver: its state and its motions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from arm_common.ros.actions.client import GoalClient
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.message_conversions import stamp_seconds
from arm_common.ros.names import PrefixedNames, remember_positions
from arm_common.ros.qos import GOAL, LATCHED
from arm_description.errors import UrdfError
from arm_description.robot_model import RobotModel
from arm_description.ros.description import limited_model
from arm_description.urdf.servo_limits import TOPIC as LIMITS
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import SpeedScalingFactor
from diagnostic_msgs.msg import KeyValue
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from arm_interfaces.msg import HardwareStatus
from arm_tasks.execution.ports import Move, MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.ros.prefix_search import PrefixSearch
from arm_tasks.ros.task_messages import trajectory_message
from arm_tasks.task.request import ArmConfiguration

_SILENCE = 5.0  # [s] of wall time without joint_states until the driver counts as lost
SPEED_SCALING = "arm_controller/speed_scaling_input"
REFUSAL = "arm_hardware/refusal"  # action and reason, as a goal is rejected
# Of joint_states: anyone may publish them, and a recording needs every message of the arm.
_DEPTH = 1000
READY_STATES = (HardwareStatus.ARMED, HardwareStatus.MOVING)


class ArmState:
    """The latest joint_states, arm_hardware/status, limits and refusal of the driver.

    Args:
        node: The node of the subscriptions.
        model: The robot, for the names of its joints and fingers.
        prefix: Prefix of these names in messages; None to find it in joint_states.
        polled: Queues joint_states until poll() is called; None for an ordinary subscription.

    Attributes:
        model: The robot, with the limits of the driver once they have arrived.
        positions: Joint positions by name without the prefix [rad or m]; empty before the first
            message.
        on_joints: Called with the stamp [s] of each joint_states message that has all joints of
            the model, and their positions.
        on_model: Called with the model when the driver's limits have arrived.
    """

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        polled: PolledSubscriptions | None = None,
        prefix: str | None = None,
    ) -> None:
        self._node, self._described = node, model
        self.model = model
        fingers = () if model.gripper is None else model.gripper.moving
        self._joints = {*model.joint_names, *fingers}
        self._search = PrefixSearch(model.joint_names, prefix)
        self._polled = polled
        self.positions: Mapping[str, float] = {}
        self._received = 0.0
        self._status: HardwareStatus | None = None
        self._velocities: tuple[float, ...] = ()
        self._measured = False
        self.on_joints: Callable[[float, list[float]], None] = lambda *_: None
        subscribe = partial(polled.subscribe, node) if polled else node.create_subscription
        subscribe(JointState, "joint_states", self._on_joints, _DEPTH)
        node.create_subscription(HardwareStatus, "arm_hardware/status", self._on_status, LATCHED)
        self._limits = ""
        self.on_model: Callable[[RobotModel], None] = lambda _: None
        node.create_subscription(String, LIMITS, self._on_limits, LATCHED)
        self._refusals: dict[str, tuple[float, str]] = {}  # when they arrived [s], by action
        node.create_subscription(KeyValue, REFUSAL, self._on_refusal, GOAL)

    @property
    def names(self) -> PrefixedNames:
        """The prefix of the names in messages."""
        return self._search.names

    @property
    def measured(self) -> bool:
        """Whether joint_states are measured: only smart servos report efforts."""
        return self._measured

    @property
    def several_arms(self) -> str:
        """Why joint_states do not show which arm is meant, or ""."""
        return self._search.problem

    def refusal(self, action: str, since: float) -> str:
        """Return why the driver refused a goal of an action since a time [s], or ""."""
        arrived, reason = self._refusals.get(action, (-math.inf, ""))
        return reason if arrived >= since else ""

    def poll(self) -> None:
        """Process queued joint_states; call it in the thread that spins the node."""
        if self._polled is not None:
            self._polled.take()

    @property
    def width(self) -> float:
        """Width between the jaws [m]; 0 without a gripper."""
        gripper = self.model.gripper
        if gripper is None or not self.positions.keys() >= set(gripper.moving):
            return 0.0
        return gripper.width_of(self.positions)

    @property
    def complete(self) -> bool:
        """True once both joint_states and arm_hardware/status have been received."""
        return bool(self._received) and self._status is not None

    @property
    def executing(self) -> bool:
        """True if the driver reports that it executes a motion, which may be paused."""
        return self._status is not None and self._status.state == HardwareStatus.MOVING

    @property
    def moving(self) -> bool:
        """True while the driver reports motion that is not paused."""
        return self.executing and (self.speed_scaling > 0.0 or not self.still)

    @property
    def speed_scaling(self) -> float:
        """The speed scaling that was requested from the driver; 1 before its first status."""
        return float(self._status.speed_scaling) if self._status else 1.0

    @property
    def still(self) -> bool:
        """True if the last joint_states report no velocity."""
        return not any(self._velocities)

    @property
    def driver_message(self) -> str:
        """The driver's own description of its state."""
        return str(self._status.message) if self._status else ""

    @property
    def age(self) -> float:
        """Age of the last joint_states in wall time [s]."""
        return time.monotonic() - self._received

    def message_of(self, motion: PlannedTrajectory) -> JointTrajectory:
        """Return a joint motion as a message to this arm."""
        return trajectory_message(motion, self.names)

    def lost(self) -> str:
        """Return why the driver counts as lost, or ""."""
        age = self.age
        if age < _SILENCE:
            return ""
        if self._status is not None and self._status.state == HardwareStatus.UNKNOWN:
            return f"the servo driver knows no positions: {self._status.message}".rstrip(".")
        return f"the servo driver is gone: no joint_states for {age:.1f} s"

    def positions_unknown(self) -> str:
        """Return why the positions of the joints are unknown, or ""."""
        missing = self.names.add_all(
            name for name in self.model.joint_names if name not in self.positions
        )
        if not self.positions:
            return "no joint_states yet; is the servo driver running?"
        if self._received and self.lost():
            return self.lost()
        if self.several_arms:
            return self.several_arms
        if missing:
            return f"joint_states has no {', '.join(missing)}; is it the same robot?"
        return ""

    def limits_unknown(self) -> str:
        """Return why it is unknown how far the driver moves the arm, or ""."""
        if self._limits or not self._node.count_publishers(LIMITS):  # type: ignore[no-untyped-call]
            return ""
        return "no limits of the servo driver yet; is it configured?"

    def not_ready(self) -> str:
        """Return why no motion can start, or ""."""
        if unknown := self.positions_unknown() or self.limits_unknown():
            return unknown
        if self._status is None:
            return "no arm_hardware/status yet; is the servo driver running?"
        if self._status.state not in READY_STATES:
            return f"the servo driver is not armed: {self._status.message}"
        if self.speed_scaling == 0.0:
            return (
                "the servo driver is paused: its speed scaling is 0; publish a factor above 0 on "
                f"{SPEED_SCALING}"
            )
        return ""

    def _on_joints(self, message: JointState) -> None:
        if len(message.name) == len(message.position):
            self._search.receive(message.name)
            received = self.names.own(message.name, message.position)
            positions = dict(self.positions)  # who reads them may keep them
            remember_positions(positions, received, received.values(), self._joints)
            self.positions = positions
            if not received.keys().isdisjoint(self.model.joint_names):  # or of another publisher
                self._velocities = tuple(message.velocity)
                self._measured = len(message.effort) > 0
                self._received = time.monotonic()
            if received.keys() >= set(self.model.joint_names):
                q = [received[name] for name in self.model.joint_names]
                self.on_joints(stamp_seconds(message.header.stamp), q)

    def _on_limits(self, message: String) -> None:
        if message.data == self._limits:
            return
        self._limits = message.data
        try:
            self.model = limited_model(self._described, message.data)
        except UrdfError as error:
            self._node.get_logger().warning(f"{LIMITS} is ignored: {error}")  # type: ignore[no-untyped-call]
            return
        self.on_model(self.model)

    def _on_refusal(self, message: KeyValue) -> None:
        self._refusals[message.key] = time.monotonic(), message.value

    def _on_status(self, message: HardwareStatus) -> None:
        self._status = message


FOLLOW, GRIP = "arm_controller/follow_joint_trajectory", "gripper_controller/gripper_cmd"
REASON_TIMEOUT = 1.0  # [s] of wall time, for the reason of a rejection to arrive after it
RESPONSE_TIMEOUT = 10.0  # [s] of wall time, for the driver to accept or reject a goal
_ENDS = {
    GoalStatus.STATUS_SUCCEEDED: MoveState.SUCCEEDED,
    GoalStatus.STATUS_CANCELED: MoveState.CANCELED,
}
# Whatever else aborts a goal is a newer goal, a stop, a fault or a lost client. A GripperCommand
# has no code, but an aborted one is stalled if the jaws themselves stopped.
_FAILURES = (
    FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED,
    FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED,
)


class DriverClient(ArmState):
    """Starts motions through follow_joint_trajectory and gripper_cmd; implements ArmPort.

    All methods must be called in the thread that spins the node.

    Args:
        node: As of ArmState, like model, polled and prefix.
        goal_tolerances: As of ArmPort, by default none.

    Attributes:
        on_end: Called when a motion has ended or was rejected.
    """

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        polled: PolledSubscriptions | None = None,
        prefix: str | None = None,
        goal_tolerances: Mapping[str, float] | None = None,
    ) -> None:
        self._idle_scaling: float | None = None  # to set once the driver executes nothing
        super().__init__(node, model, polled, prefix)
        self.goal_tolerances: Mapping[str, float] = goal_tolerances or {}
        self.on_end: Callable[[], None] = lambda: None
        # Not latched: a driver that starts later must begin with its own initial scaling.
        self._scaling = node.create_publisher(SpeedScalingFactor, SPEED_SCALING, GOAL)
        self._follow, self._gripper = (
            GoalClient(node, kind, name)
            for kind, name in ((FollowJointTrajectory, FOLLOW), (GripperCommand, GRIP))
        )

    def actions_missing(self) -> str:
        """Return which action server is missing, or ""."""
        for client, name in ((self._follow, "trajectory"), (self._gripper, "gripper")):
            if not client.server_is_ready():
                return f"the servo driver's {name} action is not available"
        return ""

    def move(self, trajectory: PlannedTrajectory) -> Move:
        """Start a joint motion."""
        goal = FollowJointTrajectory.Goal(trajectory=self.message_of(trajectory))
        return ActionMove(self._follow, goal, self, lambda: self.on_end(), FOLLOW)

    def set_width(self, width: float) -> Move:
        """Start to move the jaws to a width [m]."""
        goal = GripperCommand.Goal()
        goal.command.position = width
        return ActionMove(self._gripper, goal, self, lambda: self.on_end(), GRIP)

    @property
    def idle(self) -> bool:
        """True if the driver reports neither a motion nor a velocity."""
        return not self.executing and self.still

    @property
    def ready(self) -> bool:
        """True if the driver is known to accept motions."""
        return not self.not_ready()

    def scale_speed(self, factor: float) -> None:
        """Set the speed scaling of all motions; at 0 they pause, and remain started."""
        self._idle_scaling = None
        self._scaling.publish(SpeedScalingFactor(factor=factor))

    def scale_speed_when_idle(self, factor: float) -> None:
        """Set the speed scaling once the driver reports no motion, unless someone else does.

        It may be lost at the moment, and must not continue a paused motion when it is back.
        """
        self._idle_scaling = factor

    def _on_status(self, message: HardwareStatus) -> None:
        super()._on_status(message)
        if self._idle_scaling is None:
            return
        if self.speed_scaling > 0.0:
            self._idle_scaling = None
        elif not self.executing:
            self.scale_speed(self._idle_scaling)

    def configuration(self) -> ArmConfiguration:
        """Return the latest measured configuration."""
        self.poll()
        return ArmConfiguration(self.positions, self.width)


class ActionMove:
    """One goal of an action of the driver, as a handle for the engine.

    A goal that failed here is cancelled even if the driver becomes reachable later.
    """

    def __init__(
        self,
        client: GoalClient,
        goal: Any,
        state: ArmState,
        on_end: Callable[[], None],
        action: str = FOLLOW,
    ) -> None:
        self._state, self._on_end, self._action = state, on_end, action
        self._has_response = self._canceled = False
        self._rejected = math.inf  # when the rejection arrived [s]
        self._status = MoveStatus(MoveState.RUNNING)
        self._duration = _duration_of(goal)
        self._sent = time.monotonic()
        goal_id = client.new_goal_id()
        # The ID allows cancelling the goal even if no response arrives.
        self._goal = ClientGoalHandle(client, goal_id, None)
        on_feedback = self._on_feedback if self._duration else None
        sent = client.send_goal_async(goal, on_feedback, goal_uuid=goal_id)
        sent.add_done_callback(self._on_response)

    def poll(self) -> MoveStatus:
        """Return the status; a driver that no longer responds is a failure."""
        if not self._status.done and (reason := self._rejection()):
            self._status = MoveStatus(MoveState.REJECTED, reason)
        why = self._state.lost()
        if not self._has_response and time.monotonic() - self._sent > RESPONSE_TIMEOUT:
            why = f"the servo driver has not responded within {RESPONSE_TIMEOUT:.0f} s"
        if why and not self._status.done:
            self._cancel_goal()
            self._status = MoveStatus(MoveState.FAILED, why)
        return self._status

    def cancel(self) -> None:
        """Cancel the goal, as soon as the driver has accepted it."""
        if not self._status.done:
            self._cancel_goal()

    def _cancel_goal(self) -> None:
        self._canceled = True
        self._goal.cancel_goal_async()

    def _on_response(self, future: Any) -> None:
        handle, self._has_response = future.result(), True
        if not handle.accepted:
            self._rejected = time.monotonic()
            if reason := self._rejection():
                self._end(MoveState.REJECTED, reason)
            return
        if self._canceled:
            handle.cancel_goal_async()
        handle.get_result_async().add_done_callback(self._on_result)

    def _on_feedback(self, message: Any) -> None:
        """Note how far along its trajectory the arm is."""
        if not self._status.done:
            along = stamp_seconds(message.feedback.desired.time_from_start)
            self._status = MoveStatus(
                MoveState.RUNNING, progress=min(along / self._duration, 0.99)
            )

    def _rejection(self) -> str:
        """Return why the motion was rejected; "" if it was not, or the reason may yet arrive."""
        if self._rejected == math.inf:
            return ""
        reason = self._state.refusal(self._action, self._sent)
        if reason or time.monotonic() - self._rejected < REASON_TIMEOUT:
            return reason.rstrip(".")
        reported = self._state.driver_message
        return f"see its log; it reports: {reported}" if reported else "see its log"

    def _on_result(self, future: Any) -> None:
        response = future.result()
        failed = getattr(response.result, "error_code", None) in _FAILURES or getattr(
            response.result, "stalled", False
        )
        other = MoveState.FAILED if failed else MoveState.STOPPED
        state = _ENDS.get(response.status, other)
        why = getattr(response.result, "error_string", "")  # a GripperCommand has none
        if state is other and not why and not self._state.executing:
            why = self._state.driver_message
        self._end(state, why)

    def _end(self, state: MoveState, why: str) -> None:
        if not self._status.done:
            self._status = MoveStatus(state, why)
            self._on_end()


def _duration_of(goal: Any) -> float:
    """Return the duration of the trajectory of a goal [s]; 0 of one without."""
    points = goal.trajectory.points if isinstance(goal, FollowJointTrajectory.Goal) else ()
    return stamp_seconds(points[-1].time_from_start) if points else 0.0
