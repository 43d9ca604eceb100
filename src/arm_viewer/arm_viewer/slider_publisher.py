# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publishes joint_states from the panel's sliders: on a change, and ten times a second at rest."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Mapping

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from .joint_sliders import JointSliders
from .robot_picture import RobotPicture

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

    def set_robot(self, robot: RobotPicture) -> None:
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
