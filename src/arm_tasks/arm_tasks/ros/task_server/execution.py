# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Execution of a plan: a timer and finished motions tick the engine; feedback is published."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from arm_common.ros.actions.server import CLIENT_LOST, GoalOwner
from arm_common.ros.executor import destroy_timer
from arm_common.ros.qos import STEADY_CLOCK
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from arm_interfaces.action import RunTask
from arm_tasks.execution.engine import Engine, EngineState, Feedback
from arm_tasks.execution.ports import OtherNodes
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.ros.driver_client import ArmState, DriverClient
from arm_tasks.ros.task_server.monitors import (
    SILENCE,
    BlindWorldDetector,
    NodeLivenessMonitor,
    WorldObserver,
)
from arm_tasks.ros.task_server.task_controls import STATES, TaskControls

TICK = 0.05  # [s] of wall time; finished motions are handled at once
SIMULATED_TICK = 0.02  # [s] of wall time, as simulated time may run fast
FEEDBACK_PERIOD = 0.1  # [s] of wall time; feedback is also published when a step starts


@dataclass(frozen=True)
class ExecutionContext:
    """The parts of the task server that a run needs."""

    node: Node
    state: ArmState
    driver: DriverClient
    observer: WorldObserver
    nodes: Callable[[TaskPlan], OtherNodes | None]  # checked, as a plan needs them
    liveness: NodeLivenessMonitor
    controls: TaskControls


class TaskExecution:
    """Runs a feasible plan after begin(); raises PlanError if it cannot start there.

    Attributes:
        finished: Future of the engine's TaskOutcome.
    """

    def __init__(
        self,
        context: ExecutionContext,
        handle: ServerGoalHandle,
        plan: TaskPlan,
        owner: GoalOwner,
    ) -> None:
        node = context.node
        self._context = context
        self._handle, self._owner = handle, owner
        self._period = SIMULATED_TICK if node.get_parameter("use_sim_time").value else TICK
        self._ticks = self._feedback_due = self._failures = 0
        self._published: tuple[EngineState, int] | None = None
        self.finished: Future = Future(executor=node.executor)
        self._has_nut = plan.request.scene.nut is not None

        def clock() -> float:
            return float(node.get_clock().now().nanoseconds) * 1e-9

        self._blind = BlindWorldDetector(context.observer, clock)
        self._engine = Engine(
            plan,
            context.driver,
            plan.index_of(handle.request.start_step),
            clock,
            self._on_feedback,
            wall=time.monotonic,
            paused=bool(handle.request.single_step),
            observe=context.observer,
            nodes=context.nodes(plan),
        )

    @property
    def plan(self) -> TaskPlan:
        """The plan; it grows when a frame is found."""
        return self._engine.plan

    def begin(self) -> None:
        """Start the run."""
        self._context.liveness.begin()
        self._context.controls.attach(self._engine)
        self._timer = self._context.node.create_timer(self._period, self._tick, clock=STEADY_CLOCK)
        self._context.driver.on_end = self._update

    def _tick(self) -> None:
        self._ticks += 1
        self._context.state.poll()
        self._update()

    def _update(self) -> None:
        """Tick the engine; finish when it is done."""
        context, engine = self._context, self._engine
        if lost := context.state.lost():
            engine.give_up(lost)
        if lost := context.liveness.lost():
            engine.abort(lost)
        if self._owner.is_lost():
            engine.abort(CLIENT_LOST)
        self._check_world()
        if self._handle.is_cancel_requested or context.controls.stop_requested:
            engine.cancel()
        if engine.tick().done:
            self._end()

    def _end(self) -> None:
        self._context.driver.on_end = lambda: None
        destroy_timer(self._context.node, self._timer)
        self.finished.set_result(self._engine.outcome)

    def fail(self, reason: str) -> None:
        """Stop the arm and end, because a callback raised; end at once if one raises again."""
        self._failures += 1
        if self._failures == 1:
            self._engine.abort(reason)
        elif not self.finished.done():
            self._engine.give_up(reason)
            self._end()

    def _check_world(self) -> None:
        """Hold the arm while the simulated world does not see it; abort if that lasts."""
        unseen = self._blind.update(self._context.state.moving) if self._has_nut else 0.0
        if unseen > SILENCE:
            self._engine.abort(f"nut_world has not seen the arm for {unseen:.0f} s")
        elif unseen:
            self._engine.hold("nut_world does not see the arm")
        else:
            self._engine.release()

    def _on_feedback(self, feedback: Feedback) -> None:
        """Publish feedback on changes and periodically."""
        is_new = (feedback.state, feedback.step) != self._published
        if not is_new and self._ticks < self._feedback_due:
            return
        self._published = (feedback.state, feedback.step)
        self._feedback_due = self._ticks + round(FEEDBACK_PERIOD / self._period)
        self._context.controls.publish(feedback)
        fields = vars(feedback) | {"state": STATES[feedback.state]}
        self._owner.publish_feedback(self._handle, RunTask.Feedback(**fields))
