# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One plan being run: a timer ticks the engine and sends the feedback."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rclpy.clock import Clock, ClockType
from rclpy.task import Future

from arm_interfaces.action import RunTask
from arm_tasks.engine import Engine
from arm_tasks.outcome import EngineState, Feedback
from arm_tasks.plan import Plan
from arm_tasks.rest_of_step import Limits
from arm_tasks.ros_task_controls import STATES

if TYPE_CHECKING:
    from arm_tasks.task_server_node import TaskServer

TICK = 0.05  # s on the wall; the end of a motion is dealt with at once
FEEDBACK_TICKS = 2  # feedback is sent when a step begins and every so many ticks


class TaskRun:
    """Runs a feasible plan, once begin() is called.

    Args:
        server: The node.
        handle: The goal.
        plan: What to do.

    Attributes:
        finished: Future of the engine's Outcome.

    Raises:
        PlanError: There is no step to start at as the goal wants it, or the arm stands elsewhere.
    """

    def __init__(self, server: TaskServer, handle: Any, plan: Plan) -> None:
        self._server = server
        self._handle = handle
        self._ticks = 0
        self._told: tuple[EngineState, int] | None = None
        self.finished: Future = Future(executor=server.executor)
        self.engine = Engine(
            plan,
            server.port,
            Limits(server.chain.velocity, server.chain.acceleration),
            int(handle.request.start_step),
            self._now,
            self._on_feedback,
            wall=time.monotonic,
            paused=bool(handle.request.single_step),
            senses=server.senses,
        )

    def begin(self) -> None:
        """Begin to move."""
        self._server.companions.expect()
        self._server.controls.engine = self.engine
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self._server.create_timer(TICK, self._tick, clock=steady)
        self._server.port.on_end = self._work

    def _now(self) -> float:
        """The node's time [s], which is simulated where the arm is."""
        return float(self._server.get_clock().now().nanoseconds) * 1e-9

    def _tick(self) -> None:
        """Look whether all are still there, and work."""
        self._ticks += 1
        server, engine = self._server, self.engine
        server.state.hear()
        if lost := server.state.lost():
            engine.give_up(lost)
        if gone := server.companions.lost():
            engine.abort(gone)
        if self._handle.is_cancel_requested or server.controls.stop_wanted:
            engine.cancel()
        self._work()

    def _work(self) -> None:
        """Do what is due; end when the engine has an outcome."""
        if self.engine.tick().done:
            self._server.port.on_end = lambda: None
            self._server.destroy_timer(self._timer)
            self.finished.set_result(self.engine.outcome)

    def _on_feedback(self, told: Feedback) -> None:
        """Send the feedback of what is new, and now and then."""
        new = (told.state, told.step) != self._told
        if not new and self._ticks % FEEDBACK_TICKS:
            return
        self._told = (told.state, told.step)
        self._server.controls.tell(told)
        message = RunTask.Feedback(
            state=STATES[told.state],
            step=told.step,
            steps_total=told.steps_total,
            name=told.name,
            progress=float(told.progress),
            message=told.message,
        )
        self._handle.publish_feedback(message)
