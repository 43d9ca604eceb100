# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Presence of other nodes in the ROS graph.

The number of subscriptions of a topic says nothing about who is there: a recorder, and
`ros2 topic echo`, subscribe to any topic.
"""

from __future__ import annotations

from collections.abc import Mapping

from rclpy.node import Node
from sensor_msgs.msg import JointState

_DRIVER = "arm_controller/follow_joint_trajectory/_action/send_goal"


def has_driver(node: Node) -> bool:
    """Return True if an arm's driver offers the action of trajectories."""
    return bool(node.count_services(node.resolve_service_name(_DRIVER)))


def driver_namespaces(node: Node) -> list[str]:
    """Return the namespaces of all drivers in this ROS domain, such as / and /left, sorted."""
    names = (name for name, _ in node.get_service_names_and_types())
    return sorted(
        name.removesuffix(_DRIVER).rstrip("/") or "/"
        for name in names
        if name.endswith(f"/{_DRIVER}")
    )


class Sliders:
    """Moves the sliders of a view to where an arm without a driver would be."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(JointState, "joint_targets", 10)

    @property
    def available(self) -> bool:
        """True if a view without a driver moves its joints to joint_targets."""
        subscribers, publishers = (
            {(info.node_namespace, info.node_name) for info in infos}
            for infos in (
                self._node.get_subscriptions_info_by_topic("joint_targets"),
                self._node.get_publishers_info_by_topic("joint_states"),
            )
        )
        return not subscribers.isdisjoint(publishers)

    def move(self, positions: Mapping[str, float]) -> None:
        """Move to positions by the names in messages [rad or m]."""
        message = JointState(name=list(positions), position=list(map(float, positions.values())))
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
