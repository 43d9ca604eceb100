# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Monitors of a running task: other nodes, the nut, and the width of the jaws."""

from __future__ import annotations

import math
import struct
import time

from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.qos import TF_TOPIC
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from arm_interfaces.msg import NutState
from arm_kinematics import Chain
from arm_tasks.errors import PlanError
from arm_tasks.execution.ports import ArmPort
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.ros.driver_client import ArmState
from arm_tasks.ros.messages import nut_report
from arm_tasks.ros.task_server.planning import Planning
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.task.condition import Condition, Observation
from arm_tasks.world.reference_run import safe_state

_SILENCE = 6.0  # [s] of wall time; kinematics publishes once a second, tf with joint_states
_NUT_MAX_AGE = 5.0  # [s] of wall time; nut_world publishes at least once a second


class NodeLivenessMonitor:
    """Detects that tf of the robot or the kinematics node has disappeared during a task.

    The task server itself plans without them, but the simulated world and every view need tf.
    Both topics may carry those of other arms, too.

    Args:
        node: The node of the subscriptions; the kinematics node is in its namespace.
        link: A frame of the robot that moves.
        polled: Queues tf.
    """

    def __init__(self, node: Node, link: str, polled: PolledSubscriptions) -> None:
        # a string in CDR: its length with the terminating 0, then its characters
        self._link = struct.pack("<I", len(link) + 1) + link.encode() + b"\0"
        self._kinematics = f"{node.get_namespace().rstrip('/')}/kinematics: solver"
        self._received: dict[str, float] = {}
        # tf arrives at high rate: keep it serialized and poll instead of triggering a callback
        polled.subscribe(node, TFMessage, TF_TOPIC, self._on_tf, 10, raw=True)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)

    def begin(self) -> None:
        """Start monitoring what is alive now or appears later."""
        alive = [name for name in self._received if not self._is_silent(name)]
        self._received = {name: self._received[name] for name in alive}

    def lost(self) -> str:
        """Return which one has disappeared since begin(), or ""."""
        lost = next((name for name in self._received if self._is_silent(name)), "")
        return f"{lost} has been silent for {_SILENCE:.0f} s" if lost else ""

    def _is_silent(self, name: str) -> bool:
        return time.monotonic() - self._received[name] > _SILENCE

    def _on_tf(self, message: bytes) -> None:
        if self._link in message:
            self._received["tf of the robot"] = time.monotonic()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        if any(status.name == self._kinematics for status in message.status):
            self._received["the node kinematics"] = time.monotonic()


class WorldObserver:
    """Observes the nut and the width of the jaws, for the branches of a task."""

    def __init__(self, node: Node, state: ArmState, polled: PolledSubscriptions) -> None:
        self._polled = polled
        self._state = state
        self._nut: NutState | None = None
        self._received = 0.0
        polled.subscribe(node, NutState, "nut_world/state", self._on_nut, 1)

    def __call__(self, when: Condition, since: float) -> Observation | None:
        """Return an observation, or None while no state of the nut is newer than a time [s]."""
        self._polled.take()
        width = self._state.width if math.isfinite(self._state.width) else None
        if not when.needs_nut:
            return Observation(width=width)
        nut = self._nut
        if nut is None or nut.header.stamp.sec + 1e-9 * nut.header.stamp.nanosec < since:
            return None
        return Observation(nut_report(nut), width)

    @property
    def nut(self) -> NutReport | None:
        """Current state of the nut, or None if it was not published recently."""
        self._polled.take()
        is_fresh = time.monotonic() - self._received < _NUT_MAX_AGE
        return nut_report(self._nut) if self._nut is not None and is_fresh else None

    def _on_nut(self, message: NutState) -> None:
        self._nut, self._received = message, time.monotonic()


class NutStateChecker:
    """Compares the observed nut with the plan."""

    def __init__(
        self, observer: WorldObserver, planning: Planning, port: ArmPort, chain: Chain
    ) -> None:
        self._observer, self._planning = observer, planning
        self._port, self._chain = port, chain

    async def check(self, plan: TaskPlan, step: int) -> list[str]:
        """Return warnings; raise PlanError if the nut is not where a step expects it."""
        nut = self._observer.nut
        if plan.request.scene.nut is None:
            return []
        if nut is None:
            unknown = "the position of the nut is unknown"
            return [f"{unknown}; make sure that the nut is where the task needs it"]
        expected = await self._planning.reference_run(plan)
        if why := expected.disagreement(step, self._port.configuration(), nut):
            raise PlanError(why)
        return []

    async def safe_state(self, plan: TaskPlan, step: int) -> str:
        """Return the SafeState of an arm that stopped in a step, "" without a nut.

        It follows from the observed nut, or from the planned one if none is observed.
        """
        scene_nut = plan.request.scene.nut
        if scene_nut is None:
            return ""
        current, nut = self._port.configuration(), self._observer.nut
        if nut is None:
            nut = (await self._planning.reference_run(plan)).nut(step, current)
        T_tool = self._chain.fk([current.positions[name] for name in plan.joint_names])
        return safe_state(T_tool, nut, scene_nut.across_flats).value
