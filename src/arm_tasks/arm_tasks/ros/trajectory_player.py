# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plays trajectories on the servo driver if there is one, else in a view.

An arm that is only looked at: motions become the positions of the view's sliders.

From the trajectory of a file to motions that an arm can make: the way to it, and it itself.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np
import rclpy
from arm_common.signals import deferred
from arm_common.transforms import Array
from arm_description.trajectories.trajectory import JointTrajectory as FileTrajectory
from arm_kinematics.paths.timing import TimedPath, keep_pace, time_path
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_description import RobotModel
from arm_tasks.errors import TasksError
from arm_tasks.execution.ports import Move, MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.ros.driver_client import ArmState, DriverClient

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

    def move(self, trajectory: PlannedTrajectory) -> Move:
        """Start to show a joint motion."""
        return ShownMove(self._node, self, trajectory)

    def show(self, trajectory: PlannedTrajectory, seconds: float) -> None:
        """Show where the trajectory is at a time [s]."""
        positions = trajectory.at(seconds).tolist()
        message = JointState(name=list(trajectory.joint_names), position=positions)
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


class ShownMove:
    """One motion that is shown, on the clock of the wall."""

    def __init__(self, node: Node, arm: ShownArm, trajectory: PlannedTrajectory) -> None:
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


APPROACH_SPEED = 0.25  # share of the joints' speed limits on the way to the first point
THERE = 1e-3  # rad or m from the first point: no way to go


def approach(model: RobotModel, here: Array, start: Array) -> PlannedTrajectory | None:
    """Return the slow way from where the arm is to a start, None if it is there.

    Args:
        model: The robot.
        here: (n,) where it is [rad or m]; beyond a limit only by the rounding of its servos.
        start: (n,) where it shall be [rad or m].
    """
    way = np.array([np.clip(here, model.lower, model.upper), start])
    if np.abs(way[1] - way[0]).max() < THERE:
        return None
    return _motion(model, time_path(way, model.velocity, model.acceleration, APPROACH_SPEED))


def paced(model: RobotModel, trajectory: FileTrajectory, pace: float) -> PlannedTrajectory:
    """Return a file's trajectory as a motion from rest to rest within the limits.

    Args:
        model: The robot.
        trajectory: From the file.
        pace: How many times as fast as the file says, as far as the limits allow it.
    """
    timed = keep_pace(
        trajectory.times, trajectory.positions, model.velocity, model.acceleration, pace
    )
    return _motion(model, timed)


def _motion(model: RobotModel, timed: TimedPath) -> PlannedTrajectory:
    return PlannedTrajectory(model.joint_names, timed.times, timed.positions, timed.velocities)


CANCEL_PATIENCE = 10.0  # s, for a motion to end that was cancelled


class TrajectoryPlayer:
    """Moves an arm along trajectories, the first time slowly to the beginning.

    Args:
        model: The robot.
    """

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self._node = rclpy.create_node("play_trajectory")
        self._state = ArmState(self._node, model)
        self._driver = DriverClient(self._node, self._state)
        self._shown = ShownArm(self._node)
        self._port: DriverClient | ShownArm = self._shown

    def close(self) -> None:
        """End the node."""
        self._node.destroy_node()

    def wait_ready(self, patience: float) -> str:
        """Wait for an armed driver or a view; return which of them it is.

        Args:
            patience: The longest time to wait [s].

        Raises:
            TasksError: Neither came.
        """
        end = time.monotonic() + patience
        while not (found := self._found()):
            if time.monotonic() > end or self._drives_another_robot():
                raise TasksError(self._missing())
            self._spin()
        self._port = self._driver if found == "arm" else self._shown
        return found

    def here(self) -> Array:
        """Where the joints are, (n,) [rad or m]."""
        return np.array([self._state.positions[name] for name in self._model.joint_names])

    def play(self, trajectory: PlannedTrajectory) -> None:
        """Move to the beginning of a trajectory, then along it.

        Raises:
            TasksError: A motion was refused or did not come to its end.
            KeyboardInterrupt: It was interrupted; the arm has stopped.
        """
        way = approach(self._model, self.here(), trajectory.positions[0])
        for motion in (way, trajectory):
            if motion is not None and motion.duration > 0.0:
                self._run(motion)

    def _run(self, motion: PlannedTrajectory) -> None:
        move = self._port.move(motion)
        try:
            self._until(lambda: move.poll().done)
        except KeyboardInterrupt:
            self._stop(move)
            raise
        status = move.poll()
        if status.state is not MoveState.SUCCEEDED:
            why = f": {status.message}" if status.message else ""
            raise TasksError(f"the motion was {status.state.value}{why}")

    def _stop(self, move: Move) -> None:
        move.cancel()
        end = time.monotonic() + CANCEL_PATIENCE
        with contextlib.suppress(KeyboardInterrupt):  # a second Ctrl-C: wait no longer
            self._until(lambda: move.poll().done or time.monotonic() > end)

    def _found(self) -> str:
        """What can play: "arm", "view", or "" if neither can yet."""
        if not self._driver.not_ready() and not self._state.not_ready():
            return "arm"
        known = self._state.positions.keys() >= set(self._model.joint_names)
        return "view" if self._shown.is_watched() and known else ""

    def _drives_another_robot(self) -> bool:
        """Whether the driver that is heard lacks a joint; it always publishes all that it has."""
        heard = self._state.positions.keys()
        return bool(self._state.driver_says and heard and {*self._model.joint_names} - heard)

    def _missing(self) -> str:
        """Why there is nothing to play on."""
        name = self._model.name
        if self._state.driver_says:
            return self._state.not_ready() or self._driver.not_ready()
        if self._state.positions:
            return f"{self._state.not_ready()}; is {name} the robot that is running?"
        return f"neither an arm nor a view is running; add --view, or first ./arm view {name}"

    def _spin(self) -> None:
        with deferred():
            rclpy.spin_once(self._node, timeout_sec=0.05)

    def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._spin()
