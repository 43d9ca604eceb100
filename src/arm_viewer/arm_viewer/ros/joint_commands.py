# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Who moves the joints: the view itself, or the arm's driver.

Publishes joint_states from the panel's sliders: on a change, and ten times a second at rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from arm_common.ros.qos import GOAL, STREAM
from builtin_interfaces.msg import Duration
from control_msgs.action import GripperCommand
from rclpy.action import ActionClient
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_viewer.control.joint_sliders import JointSliders
from arm_viewer.scene.robot import VisualJoint, VisualRobot

# mypy: disable-error-code="no-untyped-call"


REST_PERIOD = 0.1  # s


class SliderPublisher:
    """The publisher behind the sliders.

    Args:
        node: The node that publishes.
        rest: Joint values to begin with, by name [rad or m].
    """

    def __init__(self, node: Node, rest: Mapping[str, float]) -> None:
        self._node, self._rest = node, rest
        self._sliders = JointSliders(())
        self._publisher = node.create_publisher(JointState, "joint_states", 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(REST_PERIOD, self.publish, clock=steady)

    def set_robot(self, robot: VisualRobot) -> None:
        """Take another robot; joints that the former one had too keep their values."""
        start = {**self._rest, **self._sliders.values()}
        self._sliders = JointSliders(robot.joints, start)
        self.publish()

    def follow(self, message: JointState) -> None:
        """Move the joints that a message names to its positions, within limits; publish them.

        Raises:
            ViewerError: If a position is not finite.
        """
        self.take(dict(zip(message.name, message.position, strict=False)))

    def take(self, joints: Mapping[str, float]) -> None:
        """Move joints, by name [rad or m], within limits, and publish them.

        Raises:
            ViewerError: If a position is not finite.
        """
        self._sliders.apply(joints)
        self.publish()

    def values(self) -> dict[str, float]:
        """Return every joint's value [rad or m]."""
        return self._sliders.values()

    def publish(self) -> None:
        """Publish all joints, if a robot is known."""
        values = self._sliders.values()
        if not values:
            return
        message = JointState(name=list(values), position=list(values.values()))
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
        self._timer.reset()


# mypy: disable-error-code="no-untyped-call"


SHARE = 0.5  # of the joints' speed limits
SHORTEST = 0.2  # [s] of a motion
UNLIMITED = 1.0  # [rad/s or m/s] of joints without a limit


class JointCommander(Protocol):
    """Moves joints."""

    def move(self, joints: Mapping[str, float]) -> str:
        """Move joints to values [rad or m] by name; return what is wrong, or ""."""


class SliderCommander:
    """The view publishes joint_states itself: joints are where they are told to be."""

    def __init__(self, sliders: SliderPublisher) -> None:
        self._sliders = sliders

    def move(self, joints: Mapping[str, float]) -> str:
        """Move joints at once."""
        self._sliders.take(joints)
        return ""


class DriverCommander:
    """The arm's driver takes trajectories and widths of the jaws.

    Publishes arm_controller/joint_trajectory; calls gripper_controller/gripper_cmd. Why the
    driver refuses something is in its log.

    Args:
        node: The node that publishes.
    """

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(
            JointTrajectory, "arm_controller/joint_trajectory", STREAM
        )
        self._jaws = ActionClient(
            node,
            GripperCommand,
            "gripper_controller/gripper_cmd",
            goal_service_qos_profile=GOAL,
        )
        self._arm: Sequence[VisualJoint] = ()
        self._here: Mapping[str, float] = {}

    def set_arm(self, joints: Sequence[VisualJoint]) -> None:
        """Take the joints of the arm; others are fingers of the jaws."""
        self._arm = joints

    def set_here(self, values: Mapping[str, float]) -> None:
        """Take where the joints are, by name [rad or m]."""
        self._here = values

    def move(self, joints: Mapping[str, float]) -> str:
        """Send the arm one point, far enough in time for half the speed limits; and the jaws."""
        if not self._arm:
            return "Not known which joints the driver moves: no robot_description yet."
        arm = {joint.name for joint in self._arm}
        fingers = [value for name, value in joints.items() if name not in arm]
        problem = self._grip(2.0 * fingers[0]) if fingers else ""  # each is at half the width
        return self._follow(joints) or problem if joints.keys() & arm else problem

    def _grip(self, width: float) -> str:
        """Bring the jaws to a width [m]."""
        if not self._jaws.server_is_ready():
            return "Nobody moves the jaws: no driver offers gripper_controller/gripper_cmd."
        goal = GripperCommand.Goal()
        goal.command.position = width
        self._jaws.send_goal_async(goal)
        return ""

    def _follow(self, joints: Mapping[str, float]) -> str:
        if not self._publisher.get_subscription_count():
            return "Nobody drives the arm: no driver listens to arm_controller/joint_trajectory."
        missing = [joint.name for joint in self._arm if joint.name not in self._here]
        if missing:
            return f"Not known where {', '.join(missing)} is: no joint_states yet."
        target = {j.name: joints.get(j.name, self._here[j.name]) for j in self._arm}
        point = JointTrajectoryPoint(
            positions=list(target.values()), time_from_start=_duration(self._time(target))
        )
        self._publisher.publish(JointTrajectory(joint_names=list(target), points=[point]))
        return ""

    def _time(self, target: Mapping[str, float]) -> float:
        """Return how long the motion takes [s]."""
        ways = [
            abs(target[j.name] - self._here[j.name])
            / (SHARE * (j.velocity if math.isfinite(j.velocity) else UNLIMITED))
            for j in self._arm
        ]
        return max([SHORTEST, *ways])


def _duration(seconds: float) -> Duration:
    whole = int(seconds)
    return Duration(sec=whole, nanosec=int(1e9 * (seconds - whole)))
