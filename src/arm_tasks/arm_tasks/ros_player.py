# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plays trajectories on the servo driver if there is one, else in a view."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np
import rclpy

from arm_description import RobotModel
from arm_tasks.errors import TasksError
from arm_tasks.geometry import Array
from arm_tasks.interrupts import deferred
from arm_tasks.plan import JointTrajectory
from arm_tasks.playing import approach
from arm_tasks.ports import Move, MoveState
from arm_tasks.ros_arm_port import RosArmPort
from arm_tasks.ros_arm_state import ArmState
from arm_tasks.ros_shown_arm import ShownArm

CANCEL_PATIENCE = 10.0  # s, for a motion to end that was cancelled


class Player:
    """Moves an arm along trajectories, the first time slowly to the beginning.

    Args:
        model: The robot.
    """

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self._node = rclpy.create_node("play_trajectory")
        self._state = ArmState(self._node, model)
        self._driver = RosArmPort(self._node, self._state)
        self._shown = ShownArm(self._node)
        self._port: RosArmPort | ShownArm = self._shown

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

    def play(self, trajectory: JointTrajectory) -> None:
        """Move to the beginning of a trajectory, then along it.

        Raises:
            TasksError: A motion was refused or did not come to its end.
            KeyboardInterrupt: It was interrupted; the arm has stopped.
        """
        way = approach(self._model, self.here(), trajectory.positions[0])
        for motion in (way, trajectory):
            if motion is not None and motion.duration > 0.0:
                self._run(motion)

    def _run(self, motion: JointTrajectory) -> None:
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
