# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two ways to move the joints: publish joint_states, or command the arm's driver."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from arm_common.ros.actions.client import GoalClient
from arm_common.ros.executor import QUIET
from arm_common.ros.graph import has_driver
from arm_common.ros.message_conversions import duration_message
from arm_common.ros.qos import LATCHED, STEADY_CLOCK, STREAM
from arm_description.model.constraints import ConstraintSet
from control_msgs.action import GripperCommand
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.msg import TaskState
from arm_viewer.scene.robot import JointSliders, VisualJoint, VisualRobot

# mypy: disable-error-code="no-untyped-call"

SPEED_PERIOD = 0.02  # [s] of the shortest mean speed; positions may arrive in bursts
REST_PERIOD = 0.1  # [s] between joint_states while no slider moves
SPEED_SHARE = 0.5  # of the joints' speed limits
SHORTEST_MOTION = 0.2  # [s]
DEFAULT_SPEED = 1.0  # [rad/s or m/s] of joints without a limit
# A motion is sent in parts that end within the driver's command_timeout, 0.5 s, so that the arm
# rests soon if this program dies.
PART = 0.4  # [s] of a motion in one message
RESEND_PERIOD = 0.1  # [s]
PATIENCE = 5  # periods without progress after which the motion is given up
PROGRESS = 1e-3  # [s] of the remaining motion per period that count as progress
TASK_RUNNING = "A task is running: cancel it before you move the arm."


class SliderPublisher:
    """Publishes joint_states from the page's sliders: on a change, and ten times a second.

    It publishes nothing while a driver does. Efforts are those that hold the robot at rest, where
    its description has masses. The joints begin at `rest`, by name [rad or m].
    """

    def __init__(self, node: Node, rest: Mapping[str, float]) -> None:
        self._node, self._rest = node, rest
        self._sliders = JointSliders(())
        self._begins = False
        self._last: tuple[dict[str, float], float] = ({}, 0.0)  # published positions, time [s]
        self._speeds: dict[str, float] = {}  # [rad/s or m/s] by name, in a burst
        self._efforts: Callable[[Mapping[str, float]], list[float]] = lambda values: []
        self._held: tuple[dict[str, float], list[float]] = ({}, [])  # positions, their efforts
        self._publisher = node.create_publisher(JointState, "joint_states", 10)
        self._timer = node.create_timer(REST_PERIOD, self._publish, clock=STEADY_CLOCK)

    def set_robot(self, robot: VisualRobot) -> None:
        """Publish another robot's joints; unless it begins, those of the same name keep values."""
        former = {} if self._begins else self._sliders.values()
        self._begins = False
        self._sliders = JointSliders(robot.joints, {**self._rest, **former}, robot.constraints)
        self._efforts, self._held = robot.efforts, ({}, [])
        self._publish()

    def begin(self, positions: Mapping[str, float]) -> None:
        """Set the initial joint positions of the next robot, by name [rad or m]."""
        self._rest, self._begins = positions, True

    def follow(self, positions: Mapping[str, float]) -> bool:
        """Show positions that a driver publishes, by name [rad or m]; return True if they differ.

        Raises:
            ViewerError: A position is not finite.
        """
        former = self._sliders.values()
        self._sliders.apply(positions)
        return self._sliders.values() != former

    def move(self, joints: Mapping[str, float]) -> str:
        """Move joints, by name [rad or m], within limits, and publish them.

        Return the limit at which they stop because it depends on other joints, or "".

        Raises:
            ViewerError: A position is not finite.
        """
        problem = self._sliders.apply(joints)
        self._publish()
        return problem

    def values(self) -> dict[str, float]:
        """Return every joint's position [rad or m]."""
        return self._sliders.values()

    def _publish(self) -> None:
        values = self._sliders.values()
        if not values or has_driver(self._node):  # no robot has been described yet, or
            return  # a second publisher of joint_states would contradict the driver
        now = self._node.get_clock().now()
        message = JointState(name=list(values), position=list(values.values()))
        message.velocity = self._velocities(values, 1e-9 * now.nanoseconds)
        if values != self._held[0]:
            self._held = values, self._efforts(values)
        message.effort = self._held[1]
        message.header.stamp = now.to_msg()
        self._publisher.publish(message)
        self._timer.reset()

    def _velocities(self, values: Mapping[str, float], now: float) -> list[float]:
        """Return mean speeds up to time `now` [s] in rad/s or m/s; in a burst the last ones."""
        last, then = self._last
        passed = now - then
        if not 0.0 <= passed < SPEED_PERIOD:
            shares = {n: (value - last.get(n, value)) / passed for n, value in values.items()}
            self._speeds = shares if passed > 0.0 else {}
            self._last = dict(values), now
        return [self._speeds.get(name, 0.0) for name in values]


class DriverCommander:
    """Sends trajectories and gripper widths to the arm's driver, which logs what it rejects.

    Publishes arm_controller/joint_trajectory; calls gripper_controller/gripper_cmd; subscribes
    task_server/state, because a command would end the motion of a task and fail it. `positions`
    returns the measured joint positions, by name [rad or m]; `on_task` is called when a task
    begins or ends; `width_at` returns the gripper's width [m] at a position of its fingers.
    """

    def __init__(
        self,
        node: Node,
        positions: Callable[[], Mapping[str, float]],
        on_task: Callable[[], None] = lambda: None,
        width_at: Callable[[float], float] = lambda position: 2.0 * position,
    ) -> None:
        self._node = node
        self._publisher = node.create_publisher(
            JointTrajectory, "arm_controller/joint_trajectory", STREAM
        )
        gripper = "gripper_controller/gripper_cmd"
        self._gripper = GoalClient(node, GripperCommand, gripper)
        self._arm: Sequence[VisualJoint] = ()
        self._constraints = ConstraintSet((), ())
        self._positions, self._on_task, self._width_at = positions, on_task, width_at
        self._task_active = False
        self._target: Mapping[str, float] = {}  # of the arm's joints while it is sent to it
        self._remaining, self._idle_periods = math.inf, 0  # [s] of the motion to the target
        self._timer = node.create_timer(RESEND_PERIOD, self._send_next_part, clock=STEADY_CLOCK)
        self._timer.cancel()
        self._task_state = node.create_subscription(
            TaskState, "task_server/state", self._on_task_state, LATCHED, event_callbacks=QUIET
        )

    @property
    def task_running(self) -> bool:
        """Whether a task is planned, executed or paused by a task server that still exists."""
        return self._task_active and bool(self._task_state.get_publisher_count())

    def _on_task_state(self, message: TaskState) -> None:
        active = message.state != TaskState.IDLE
        if active != self._task_active:
            self._task_active = active
            self._on_task()

    @property
    def available(self) -> bool:
        """True if a driver takes trajectories."""
        return has_driver(self._node)

    def set_arm(self, joints: Sequence[VisualJoint], constraints: ConstraintSet) -> None:
        """Set the joints of the arm; all others are fingers of the gripper."""
        self._arm, self._constraints = joints, constraints

    def move(self, joints: Mapping[str, float]) -> str:
        """Send a trajectory point at half the speed limits to the arm, and a width to the gripper.

        Return why something cannot move, or "".
        """
        if self.task_running:
            return TASK_RUNNING
        if not self._arm:
            return "The joints of the arm are unknown: no robot has been described yet."
        arm = {joint.name for joint in self._arm}
        fingers = [value for name, value in joints.items() if name not in arm]
        problem = self._move_gripper(self._width_at(fingers[0])) if fingers else ""
        return self._move_arm(joints) or problem if joints.keys() & arm else problem

    def _move_gripper(self, width: float) -> str:
        """Open or close the gripper to a width [m]."""
        if not self._gripper.server_is_ready():
            return "No driver moves the gripper: is the arm running?"
        goal = GripperCommand.Goal()
        goal.command.position = width
        self._gripper.send_goal_async(goal)
        return ""

    def _outside(self, positions: Mapping[str, float]) -> str:
        """Return which limit that depends on other joints positions by name exceed, or ""."""
        names = self._constraints.names
        if not self._constraints or not set(names) <= positions.keys():
            return ""
        worst = self._constraints.worst([positions[name] for name in names])
        return f"The arm cannot move there: {worst.sentence}." if worst else ""

    def _put_inside(self, measured: Mapping[str, float]) -> dict[str, float]:
        """Return measured positions of the arm by name, put into the limits if they are near."""
        arm = ConstraintSet([j.name for j in self._arm], self._constraints.constraints)
        lower, upper = ([getattr(j, end) for j in self._arm] for end in ("lower", "upper"))
        near = arm.put_inside([measured[name] for name in arm.names], lower, upper)
        return dict(zip(arm.names, near.tolist(), strict=True))

    def _move_arm(self, joints: Mapping[str, float]) -> str:
        if not self.available:
            return "No driver moves the arm: is it running?"
        measured = self._positions()
        missing = [joint.name for joint in self._arm if joint.name not in measured]
        if missing:
            return f"The position of {', '.join(missing)} is unknown: the driver is silent."
        still = self._put_inside(measured)
        target = {j.name: joints.get(j.name, still[j.name]) for j in self._arm}
        if problem := self._outside({**measured, **target}):
            return problem
        self._target, self._remaining, self._idle_periods = target, math.inf, 0
        self._send_part(still)
        return ""

    def _send_next_part(self) -> None:
        """Send the next part of the motion, unless the arm no longer moves towards its target."""
        measured = self._positions()
        missing = [joint.name for joint in self._arm if joint.name not in measured]
        if not self._target or missing or self.task_running or self._idle_periods >= PATIENCE:
            self._timer.cancel()
            return
        self._send_part({j.name: measured[j.name] for j in self._arm})

    def _send_part(self, start: Mapping[str, float]) -> None:
        """Send the motion from positions to the target, or its first part if it is long."""
        target = self._target
        seconds = 0.0
        for j in self._arm:
            speed = SPEED_SHARE * (j.velocity if math.isfinite(j.velocity) else DEFAULT_SPEED)
            seconds = max(seconds, abs(target[j.name] - start[j.name]) / speed)
        progress = self._remaining - seconds
        self._idle_periods = 0 if progress > PROGRESS else self._idle_periods + 1
        self._remaining = seconds
        fraction = min(1.0, PART / max(seconds, PART))
        point = JointTrajectoryPoint(
            positions=[start[n] + fraction * (target[n] - start[n]) for n in target]
        )
        point.time_from_start = duration_message(max(SHORTEST_MOTION, min(seconds, PART)))
        self._publisher.publish(JointTrajectory(joint_names=list(target), points=[point]))
        if fraction < 1.0:
            self._timer.reset()
        else:
            self._timer.cancel()
            self._target = {}
