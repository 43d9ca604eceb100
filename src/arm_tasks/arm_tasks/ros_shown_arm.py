# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm that is only looked at: motions become the positions of the view's sliders."""

from __future__ import annotations

import time

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_tasks.plan import JointTrajectory
from arm_tasks.ports import Move, MoveState, MoveStatus

PERIOD = 1.0 / 30.0  # s


class ShownArm:
    """Publishes joint_targets, to which the sliders of a view go.

    Args:
        node: The node that publishes.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(JointState, "joint_targets", 10)

    def is_watched(self) -> bool:
        """Whether a view listens."""
        return bool(self._publisher.get_subscription_count())

    def move(self, trajectory: JointTrajectory) -> Move:
        """Start to show a joint motion."""
        return ShownMove(self._node, self, trajectory)

    def show(self, trajectory: JointTrajectory, seconds: float) -> None:
        """Show where the trajectory is at a time [s]."""
        positions = trajectory.at(seconds).tolist()
        message = JointState(name=list(trajectory.joint_names), position=positions)
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


class ShownMove:
    """One motion that is shown, on the clock of the wall."""

    def __init__(self, node: Node, arm: ShownArm, trajectory: JointTrajectory) -> None:
        self._node, self._arm, self._trajectory = node, arm, trajectory
        self._state = MoveState.RUNNING
        self._begin = time.monotonic()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD, self._show, clock=steady)

    def poll(self) -> MoveStatus:
        """Return how far it is; a view that was closed is a failure."""
        if self._state is MoveState.RUNNING and not self._arm.is_watched():
            self._end(MoveState.FAILED)
        gone = self._state is MoveState.FAILED
        return MoveStatus(self._state, "the view was closed" if gone else "")

    def cancel(self) -> None:
        """Stay where it is."""
        if self._state is MoveState.RUNNING:
            self._end(MoveState.CANCELED)

    def _show(self) -> None:
        if self._state is not MoveState.RUNNING:
            return
        seconds = time.monotonic() - self._begin
        self._arm.show(self._trajectory, seconds)
        if seconds >= self._trajectory.duration:
            self._end(MoveState.SUCCEEDED)

    def _end(self, state: MoveState) -> None:
        self._state = state
        self._node.destroy_timer(self._timer)
