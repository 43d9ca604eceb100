# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a task looks at when it branches, from topics: the nut's world and the jaws' width."""

from __future__ import annotations

import math

from rclpy.node import Node

from arm_interfaces.msg import NutState
from arm_tasks.condition import Condition, Sensed
from arm_tasks.nut_state import NutReport, NutStatus
from arm_tasks.ros_arm_state import ArmState
from arm_tasks.ros_conversions import pose_matrix


class RosSenses:
    """The Senses of an engine.

    Args:
        node: Listens with this one to nut_world/state, which comes every second and on changes.
        state: Knows the width of the jaws.
    """

    def __init__(self, node: Node, state: ArmState) -> None:
        self._state = state
        self._nut: NutState | None = None
        node.create_subscription(NutState, "nut_world/state", self._on_nut, 10)

    def __call__(self, when: Condition, since: float) -> Sensed | None:
        """Return what is known, None while the nut was not heard of since a time [s]."""
        width = self._state.width if math.isfinite(self._state.width) else None
        if not when.needs_nut:
            return Sensed(width=width)
        nut = self._nut
        if nut is None or nut.header.stamp.sec + 1e-9 * nut.header.stamp.nanosec < since:
            return None
        report = NutReport(
            status=NutStatus(nut.state),
            bolt=nut.bolt,
            turns_engaged=nut.turns_engaged,
            grasped=nut.grasped,
            pose=pose_matrix(nut.pose.pose),
            message=nut.message,
        )
        return Sensed(report, width)

    def _on_nut(self, message: NutState) -> None:
        self._nut = message
