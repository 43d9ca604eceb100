# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plays trajectories on the servo driver, or in a view if there is no driver."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence

import numpy as np
import rclpy
from arm_common.ros.executor import destroy_timer
from arm_common.ros.graph import Sliders
from arm_common.ros.qos import STEADY_CLOCK
from arm_common.signals import deferred
from arm_common.suggestions import program
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_description.trajectories.trajectory import JointTrajectory as FileTrajectory
from arm_kinematics.paths.timing import TimedPath, keep_pace, time_path
from rclpy.node import Node

from arm_tasks.errors import TasksError
from arm_tasks.execution.ports import Move, MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.ros.driver_client import DriverClient

_PERIOD = 1.0 / 30.0  # [s]
APPROACH_SPEED = 0.25  # fraction of the joints' speed limits on the way to the first point
_AT_START = 1e-3  # [rad or m] from the first point; no approach is needed
_CANCEL_TIMEOUT = 10.0  # [s], for a cancelled motion to end


class ViewMove:
    """One motion, in wall time, of an arm without a driver: it moves the sliders of a view."""

    def __init__(
        self, node: Node, sliders: Sliders, names: Sequence[str], trajectory: PlannedTrajectory
    ) -> None:
        self._node, self._sliders = node, sliders
        self._names, self._trajectory = names, trajectory
        self._state = MoveState.RUNNING
        self._begin = time.monotonic()
        self._timer = node.create_timer(_PERIOD, self._on_timer, clock=STEADY_CLOCK)

    def poll(self) -> MoveStatus:
        """Return the status; a closed view is a failure."""
        if self._state is MoveState.RUNNING and not self._sliders.available:
            self._end(MoveState.FAILED)
        failed = self._state is MoveState.FAILED
        return MoveStatus(self._state, "the view was closed" if failed else "")

    def cancel(self) -> None:
        """Stop at the current position."""
        if self._state is MoveState.RUNNING:
            self._end(MoveState.CANCELED)

    def _on_timer(self) -> None:
        if self._state is not MoveState.RUNNING:
            return
        seconds = time.monotonic() - self._begin
        self._sliders.move(dict(zip(self._names, self._trajectory.at(seconds), strict=True)))
        if seconds >= self._trajectory.duration:
            self._end(MoveState.SUCCEEDED)

    def _end(self, state: MoveState) -> None:
        self._state = state
        destroy_timer(self._node, self._timer)


def approach(model: RobotModel, current: Array, start: Array) -> PlannedTrajectory | None:
    """Return a slow motion between positions (n,) [rad or m], or None if they are equal.

    The current ones may exceed the limits by servo rounding.
    """
    path = np.array([np.clip(current, model.lower, model.upper), start])
    if np.abs(path[1] - path[0]).max() < _AT_START:
        return None
    return _motion(model, time_path(path, model.velocity, model.acceleration, APPROACH_SPEED))


def paced(model: RobotModel, trajectory: FileTrajectory, pace: float) -> PlannedTrajectory:
    """Return a trajectory from rest to rest at a multiple of its speed, within the limits."""
    limits = model.velocity, model.acceleration
    return _motion(model, keep_pace(trajectory.times, trajectory.positions, *limits, pace))


def _motion(model: RobotModel, timed: TimedPath) -> PlannedTrajectory:
    return PlannedTrajectory(model.joint_names, timed.times, timed.positions, timed.velocities)


class TrajectoryPlayer:
    """Moves an arm along trajectories, after a slow approach to their start."""

    def __init__(self, model: RobotModel, prefix: str | None = None) -> None:
        self._node = rclpy.create_node("play_trajectory")
        self._driver = DriverClient(self._node, model, prefix=prefix)
        self._sliders = Sliders(self._node)
        self._move: Callable[[PlannedTrajectory], Move] = self._move_view

    @property
    def model(self) -> RobotModel:
        """The robot, with the limits of the driver once wait_ready() has returned "arm"."""
        return self._driver.model

    def close(self) -> None:
        """Destroy the node."""
        self._node.destroy_node()

    def wait_ready(self, timeout: float) -> str:
        """Wait for an armed driver or a view, at most a time [s]; return "arm" or "view"."""
        end = time.monotonic() + timeout
        while not (found := self._available()):
            if time.monotonic() > end or self._has_another_robot():
                raise TasksError(self._missing())
            self._spin()
        self._move = self._driver.move if found == "arm" else self._move_view
        return found

    def _move_view(self, motion: PlannedTrajectory) -> Move:
        names = self._driver.names.add_all(motion.joint_names)
        return ViewMove(self._node, self._sliders, names, motion)

    def play(self, trajectory: PlannedTrajectory) -> None:
        """Move to the start of a trajectory, then along it.

        Raises:
            TasksError: A motion was rejected or failed.
            KeyboardInterrupt: It was interrupted; the arm has stopped.
        """
        current = np.array([self._driver.positions[name] for name in self.model.joint_names])
        for motion in (approach(self.model, current, trajectory.positions[0]), trajectory):
            if motion is not None and motion.duration > 0.0:
                self._run(motion)

    def _run(self, motion: PlannedTrajectory) -> None:
        move = self._move(motion)
        try:
            self._spin_until(lambda: move.poll().done)
        except KeyboardInterrupt:
            self._stop(move)
            raise
        status = move.poll()
        if status.state is not MoveState.SUCCEEDED:
            ended = "failed" if status.state is MoveState.FAILED else f"was {status.state.value}"
            reason = f": {status.message}" if status.message else ""
            raise TasksError(f"the motion {ended}{reason}")

    def _stop(self, move: Move) -> None:
        move.cancel()
        end = time.monotonic() + _CANCEL_TIMEOUT
        with contextlib.suppress(KeyboardInterrupt):  # a second Ctrl-C ends the wait
            self._spin_until(lambda: move.poll().done or time.monotonic() > end)

    def _available(self) -> str:
        """Return "arm" or "view", whichever can play, or "" for neither."""
        if self._driver.several_arms:
            raise TasksError(self._driver.several_arms)
        if not self._driver.actions_missing() and not self._driver.not_ready():
            return "arm"
        has_positions = self._driver.positions.keys() >= set(self.model.joint_names)
        return "view" if self._sliders.available and has_positions else ""

    def _has_another_robot(self) -> bool:
        """Return True if the driver lacks a joint, as it always publishes all of its joints."""
        names = self._driver.positions.keys()
        return bool(self._driver.driver_message and names and {*self.model.joint_names} - names)

    def _missing(self) -> str:
        name = self.model.name
        if self._driver.driver_message:
            return self._driver.not_ready() or self._driver.actions_missing()
        if self._driver.positions:
            return f"{self._driver.not_ready()}; is {name} the robot that is running?"
        view = f"{program('arm_tasks', 'view')} {name}"
        return f"neither an arm nor a view is running; add --view, or first run {view}"

    def _spin(self) -> None:
        with deferred():
            rclpy.spin_once(self._node, timeout_sec=0.05)

    def _spin_until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._spin()
