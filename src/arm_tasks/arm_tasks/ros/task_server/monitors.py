# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the nut is, as far as somebody says so: the simulated world, or a camera some day.

Whether kinematics and tf, if they were there when a task began, still are.

The task server plans by itself and reads joint_states. But without tf nobody sees where the arm
is, neither the world of the nut nor a view; and without kinematics nothing that watches the arm
can answer. So a task is stopped when one of them falls silent.

What a task looks at when it branches, from topics: the nut's world and the jaws' width.
"""

from __future__ import annotations

import math
import time

from arm_common.ros.executor import PolledSubscriptions
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.task import Future
from tf2_msgs.msg import TFMessage

from arm_description import RobotModel
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
from arm_tasks.world.reference_run import ReferenceRun, safe_state

SILENCE = 6.0  # s on the wall; kinematics speaks once a second, tf as often as joint_states
KINEMATICS = "kinematics: solver"


class NodeLivenessMonitor:
    """Listens to tf and to the diagnostics of kinematics.

    Args:
        node: The node that listens.
        model: The robot, for the frame that its tf must have.
        waiting: Where tf waits until it is looked at, several times a second.
    """

    def __init__(self, node: Node, model: RobotModel, waiting: PolledSubscriptions) -> None:
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


FRESH = 5.0  # s on the wall; nut_world speaks at least once a second


class WorldObserver:
    """The Senses of an engine.

    Args:
        node: Listens with this one to nut_world/state, which comes every second and on changes.
        state: Knows the width of the jaws.
        waiting: Where messages wait until somebody looks.
    """

    def __init__(self, node: Node, state: ArmState, waiting: PolledSubscriptions) -> None:
        self._waiting = waiting
        self._state = state
        self._nut: NutState | None = None
        self._heard = 0.0
        waiting.subscribe(node, NutState, "nut_world/state", self._on_nut, 1)

    def __call__(self, when: Condition, since: float) -> Observation | None:
        """Return what is known, None while the nut was not heard of since a time [s]."""
        self._waiting.take()
        width = self._state.width if math.isfinite(self._state.width) else None
        if not when.needs_nut:
            return Observation(width=width)
        nut = self._nut
        if nut is None or nut.header.stamp.sec + 1e-9 * nut.header.stamp.nanosec < since:
            return None
        return Observation(nut_report(nut), width)

    @property
    def nut(self) -> NutReport | None:
        """Where the nut is, or None if nobody has said so of late."""
        self._waiting.take()
        is_fresh = self._nut is not None and time.monotonic() - self._heard < FRESH
        return nut_report(self._nut) if is_fresh else None

    def _on_nut(self, message: NutState) -> None:
        self._nut, self._heard = message, time.monotonic()


class NutStateChecker:
    """The latest nut_world/state, held against what a plan needs.

    Args:
        senses: Hears of the nut.
        planning: Works in the background.
        port: The arm.
        chain: Its kinematics.
    """

    def __init__(
        self, senses: WorldObserver, planning: Planning, port: ArmPort, chain: Chain
    ) -> None:
        self._planning, self._port, self._chain = planning, port, chain
        self._senses = senses

    async def check(self, plan: TaskPlan, step: int) -> list[str]:
        """Check that the nut is as a step of a plan needs it; return what cannot be checked.

        Raises:
            PlanError: It is not.
        """
        nut = self._senses.nut
        if plan.request.scene.nut is None:
            return []
        if nut is None:
            return [
                "the position of the nut is unknown; make sure that it is where the task needs it"
            ]
        foreseen = await self._foresee(plan)
        why = foreseen.disagreement(step, self._port.configuration(), nut)
        if why:
            raise PlanError(why)
        return []

    async def safe_state(self, plan: TaskPlan, step: int) -> str:
        """Return what an arm that stopped in a step holds still with, "" without a nut.

        It is told by what is seen; if nobody sees, by what was planned.
        """
        size = plan.request.scene.nut
        if size is None:
            return ""
        here, nut = self._port.configuration(), self._senses.nut
        if nut is None:
            nut = (await self._foresee(plan)).nut(step, here)
        T_tool = self._chain.fk([here.positions[name] for name in plan.joint_names])
        return safe_state(T_tool, nut, size.across_flats).value

    def _foresee(self, plan: TaskPlan) -> Future:
        return self._planning.in_background(lambda: ReferenceRun.of(plan))
