# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whether kinematics and tf, if they were there when a task began, still are.

The task server plans by itself and reads joint_states. But without tf nobody sees where the arm
is, neither the world of the nut nor a view; and without kinematics nothing that watches the arm
can answer. So a task is stopped when one of them falls silent.
"""

from __future__ import annotations

import time

from arm_description.on_demand import OnDemand
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from arm_description import RobotModel

SILENCE = 6.0  # s on the wall; kinematics speaks once a second, tf as often as joint_states
KINEMATICS = "kinematics: solver"


class Companions:
    """Listens to tf and to the diagnostics of kinematics.

    Args:
        node: The node that listens.
        model: The robot, for the frame that its tf must have.
        waiting: Where tf waits until it is looked at, several times a second.
    """

    def __init__(self, node: Node, model: RobotModel, waiting: OnDemand) -> None:
        self._link = f"{model.joint_names[0]}_link".encode()
        self._heard: dict[str, float] = {}
        # raw, and now and then: so many messages are not worth being taken apart, or woken for
        waiting.subscribe(node, TFMessage, "tf", self._on_tf, 10, raw=True)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)

    def expect(self) -> None:
        """From now on miss those that are there now, or come."""
        there = [name for name in self._heard if not self._silent(name)]
        self._heard = {name: self._heard[name] for name in there}

    def lost(self) -> str:
        """Return what fell silent since expect(), or ""."""
        gone = next((name for name in self._heard if self._silent(name)), "")
        if not gone:
            return ""
        what = "tf of the robot" if gone == "tf" else "the node kinematics"
        return f"{what} fell silent, for {SILENCE:.0f} s"

    def _silent(self, name: str) -> bool:
        return time.monotonic() - self._heard[name] > SILENCE

    def _on_tf(self, message: bytes) -> None:
        if self._link in message:
            self._heard["tf"] = time.monotonic()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        if any(status.name == KINEMATICS for status in message.status):
            self._heard["kinematics"] = time.monotonic()
