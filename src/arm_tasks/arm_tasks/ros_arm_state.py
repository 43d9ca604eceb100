# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the servo driver says, kept for those who ask: joint positions, gripper width, status."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

from arm_description.on_demand import OnDemand
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_description import RobotModel
from arm_interfaces.msg import HardwareStatus
from arm_tasks.ros_conversions import LATCHED

SILENCE = 5.0  # s on the wall without joint_states after which the driver is taken for lost
DEPTH = 50  # of joint_states, of which a recording wants each
READY_STATES = (HardwareStatus.ARMED, HardwareStatus.MOVING)


class ArmState:
    """The latest joint_states and arm_hardware/status.

    Args:
        node: The node that listens.
        model: The robot, for the names of its joints and fingers.
        waiting: Where joint_states are to wait until hear() is called; None: they do not wait.

    Attributes:
        on_joints: Is given each joint_states too, or None.
    """

    def __init__(self, node: Node, model: RobotModel, waiting: OnDemand | None = None) -> None:
        self._model = model
        self._waiting = waiting
        self._positions: Mapping[str, float] = {}
        self._heard = 0.0
        self._status: HardwareStatus | None = None
        self.on_joints: Callable[[JointState], None] | None = None
        listen = partial(waiting.subscribe, node) if waiting else node.create_subscription
        listen(JointState, "joint_states", self._on_joints, DEPTH)
        node.create_subscription(HardwareStatus, "arm_hardware/status", self._on_status, LATCHED)

    def hear(self) -> None:
        """Take in what waits; by the thread that spins the node."""
        if self._waiting is not None:
            self._waiting.take()

    def _on_joints(self, message: JointState) -> None:
        if len(message.name) == len(message.position):
            self._positions = dict(zip(message.name, message.position, strict=True))
            self._heard = time.monotonic()
        if self.on_joints is not None:
            self.on_joints(message)

    def _on_status(self, message: HardwareStatus) -> None:
        self._status = message

    @property
    def positions(self) -> Mapping[str, float]:
        """Joint positions by name [rad or m]; empty before the first message."""
        return self._positions

    @property
    def complete(self) -> bool:
        """Whether both joint_states and arm_hardware/status were ever heard."""
        return bool(self._heard) and self._status is not None

    @property
    def width(self) -> float:
        """Width of the gripper [m]; 0 if the robot has none."""
        fingers = self._model.gripper.joints if self._model.gripper else ()
        return sum(self._positions.get(finger, 0.0) for finger in fingers)

    @property
    def moving(self) -> bool:
        """Whether the driver says that it moves."""
        return self._status is not None and self._status.state == HardwareStatus.MOVING

    @property
    def driver_says(self) -> str:
        """The driver's own sentence about its state."""
        return str(self._status.message) if self._status else ""

    @property
    def silence(self) -> float:
        """Seconds on the wall since the last joint_states."""
        return time.monotonic() - self._heard

    def lost(self) -> str:
        """Return why the driver must be taken for lost, or "" while it is heard."""
        silent = self.silence
        if silent < SILENCE:
            return ""
        return f"the servo driver is gone: no joint_states for {silent:.1f} s"

    def not_ready(self) -> str:
        """Return why no motion can begin, or "" if it can."""
        missing = [name for name in self._model.joint_names if name not in self._positions]
        if not self._heard:
            return "no joint_states yet; is the servo driver running?"
        if self.lost():
            return self.lost()
        if missing:
            return f"joint_states has no {', '.join(missing)}; is it the same robot?"
        if self._status is None:
            return "no arm_hardware/status yet; is the servo driver running?"
        if self._status.state not in READY_STATES:
            return f"the servo driver is not armed: {self._status.message}"
        return ""
