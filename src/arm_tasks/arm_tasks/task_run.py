# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One plan being run: a timer ticks the engine and sends the feedback."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.task import Future

from arm_interfaces.action import RunTask
from arm_tasks.engine import Engine
from arm_tasks.errors import PlanError
from arm_tasks.outcome import EngineState, Feedback
from arm_tasks.plan import Plan

if TYPE_CHECKING:
    from arm_tasks.task_server_node import TaskServer

TICK = 0.02  # s on the wall
FEEDBACK_TICKS = 5  # feedback is sent when a step begins and every so many ticks
AT_START = 0.03  # rad or m; how far the arm may be from where a step begins


class TaskRun:
    """Runs a feasible plan.

    Args:
        server: The node.
        handle: The goal.
        plan: What to do.
        first: Index of the step to start at.

    Attributes:
        finished: Future of the engine's Outcome.
    """

    def __init__(self, server: TaskServer, handle: Any, plan: Plan, first: int) -> None:
        self._server = server
        self._handle = handle
        self._ticks = 0
        self._step = -1
        self.finished: Future = Future(executor=server.executor)
        self._engine = Engine(
            plan, server.port, first, self._now, self._on_feedback, wall=time.monotonic
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = server.create_timer(TICK, self._tick, clock=steady)

    def _now(self) -> float:
        """The node's time [s], which is simulated where the arm is."""
        return float(self._server.get_clock().now().nanoseconds) * 1e-9

    def _tick(self) -> None:
        """Do what is due; end when the engine has an outcome."""
        self._ticks += 1
        lost = self._server.state.lost()
        if lost:
            self._engine.give_up(lost)
        if self._handle.is_cancel_requested:
            self._engine.cancel()
        if self._engine.tick() is not EngineState.RUNNING:
            self._server.destroy_timer(self._timer)
            self.finished.set_result(self._engine.outcome)

    def _on_feedback(self, told: Feedback) -> None:
        """Send the feedback of a step that begins, and now and then."""
        begins = told.step != self._step
        if begins:
            self._step = told.step
            self._server.say(f"{told.step + 1} of {told.steps_total}: {told.message}")
        if begins or self._ticks % FEEDBACK_TICKS == 0:
            message = RunTask.Feedback(
                step=told.step,
                steps_total=told.steps_total,
                name=told.name,
                progress=float(told.progress),
                message=told.message,
            )
            self._handle.publish_feedback(message)


def check_start(plan: Plan, first: int, positions: Any) -> None:
    """Check that there is such a step, and that the arm stands where it begins.

    Raises:
        PlanError: It does not; the text names the joint and by how much.
    """
    if not first:
        return  # the plan begins where the arm stands
    if first >= len(plan.steps):
        raise PlanError(f"there is no step {first}; the last one is {len(plan.steps) - 1}")
    wanted, _ = plan.start_of(first)
    off = {name: abs(positions.get(name, np.inf) - value) for name, value in wanted.items()}
    worst = max(off, key=lambda name: off[name])
    if off[worst] > AT_START:
        raise PlanError(
            f"step {first} begins elsewhere: {worst} is off by {off[worst]:.3f}; move there first"
        )
