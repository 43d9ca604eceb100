# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publishes joint_states from the panel's sliders: on a change, and ten times a second at rest."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextlib

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_description import DescriptionError, load_robot

from .joint_sliders import JointSliders
from .postures import REST, postures_of
from .robot_picture import RobotPicture

REST_PERIOD = 0.1  # s


class SliderPublisher:
    """The publisher behind the sliders.

    Args:
        node: The node that publishes.
        robot: Shipped name or path of the robot whose postures are offered; empty for none.

    Raises:
        DescriptionError: If there is no such robot.
    """

    def __init__(self, node: Node, robot: str) -> None:
        self._node = node
        self._robot = robot
        self.postures = postures_of(load_robot(robot)) if robot else {}
        self._sliders = JointSliders(())
        self._publisher = node.create_publisher(JointState, "joint_states", 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(REST_PERIOD, self.publish, clock=steady)

    def set_robot(self, robot: RobotPicture) -> None:
        """Take another robot; joints that the former one had too keep their values."""
        start = self.postures.get(REST, {}) | self._sliders.values()
        self._sliders = JointSliders(robot.joints, start)
        self.publish()

    def reload_postures(self) -> bool:
        """Read the postures of the robot's file again, if it is right; whether they changed."""
        if not self._robot:
            return False
        former = self.postures
        with contextlib.suppress(DescriptionError):  # whoever reads the file for tf says what
            self.postures = postures_of(load_robot(self._robot))
        return self.postures != former

    def move(self, joint: str, value: float) -> None:
        """Move one joint to a value [rad or m], within its limits, and publish it.

        Raises:
            ViewerError: If there is no such joint or the value is not finite.
        """
        self._sliders.set(joint, value)
        self.publish()

    def follow(self, message: JointState) -> None:
        """Move the joints that a message names to its positions, within limits; publish them.

        Raises:
            ViewerError: If a position is not finite.
        """
        self._sliders.apply(dict(zip(message.name, message.position, strict=False)))
        self.publish()

    def take_posture(self, name: str) -> None:
        """Move the joints that a posture names, and publish them."""
        self._sliders.apply(self.postures[name])
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
