# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a task looks at when it branches, from topics: the nut's world and the jaws' width."""

from __future__ import annotations

import math
import time

from arm_description.on_demand import OnDemand
from rclpy.node import Node

from arm_interfaces.msg import NutState
from arm_tasks.condition import Condition, Sensed
from arm_tasks.nut_state import NutReport
from arm_tasks.ros_arm_state import ArmState
from arm_tasks.ros_conversions import nut_report

FRESH = 5.0  # s on the wall; nut_world speaks at least once a second


class RosSenses:
    """The Senses of an engine.

    Args:
        node: Listens with this one to nut_world/state, which comes every second and on changes.
        state: Knows the width of the jaws.
        waiting: Where messages wait until somebody looks.
    """

    def __init__(self, node: Node, state: ArmState, waiting: OnDemand) -> None:
        self._waiting = waiting
        self._state = state
        self._nut: NutState | None = None
        self._heard = 0.0
        waiting.subscribe(node, NutState, "nut_world/state", self._on_nut, 1)

    def __call__(self, when: Condition, since: float) -> Sensed | None:
        """Return what is known, None while the nut was not heard of since a time [s]."""
        self._waiting.take()
        width = self._state.width if math.isfinite(self._state.width) else None
        if not when.needs_nut:
            return Sensed(width=width)
        nut = self._nut
        if nut is None or nut.header.stamp.sec + 1e-9 * nut.header.stamp.nanosec < since:
            return None
        return Sensed(nut_report(nut), width)

    @property
    def nut(self) -> NutReport | None:
        """Where the nut is, or None if nobody has said so of late."""
        self._waiting.take()
        is_fresh = self._nut is not None and time.monotonic() - self._heard < FRESH
        return nut_report(self._nut) if is_fresh else None

    def _on_nut(self, message: NutState) -> None:
        self._nut, self._heard = message, time.monotonic()
