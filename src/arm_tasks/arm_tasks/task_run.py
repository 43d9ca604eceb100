# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One plan being run: a timer and the ends of motions tick the engine, and feedback is sent."""

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
SIMULATED_TICK = 0.02  # s on the wall, where simulated time may run fast
FEEDBACK_PERIOD = 0.1  # s on the wall; feedback is sent when a step begins, too


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
        simulated = server.get_parameter("use_sim_time").value
        self._period = SIMULATED_TICK if simulated else TICK
        self._ticks = self._feedback_due = 0
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
        self._timer = self._server.create_timer(self._period, self._tick, clock=steady)
        self._server.port.on_end = self._work

    def _now(self) -> float:
        """The node's time [s], which is simulated where the arm is."""
        return float(self._server.get_clock().now().nanoseconds) * 1e-9

    def _tick(self) -> None:
        """Hear what there is to hear, and work."""
        self._ticks += 1
        self._server.state.hear()
        self._work()

    def _work(self) -> None:
        """Do what is due; end when the engine has an outcome."""
        server, engine = self._server, self.engine
        if lost := server.state.lost():
            engine.give_up(lost)
        if gone := server.companions.lost():
            engine.abort(gone)
        if self._handle.is_cancel_requested or server.controls.stop_wanted:
            engine.cancel()
        if engine.tick().done:
            server.port.on_end = lambda: None
            server.destroy_timer(self._timer)
            self.finished.set_result(engine.outcome)

    def _on_feedback(self, told: Feedback) -> None:
        """Send the feedback of what is new, and now and then."""
        new = (told.state, told.step) != self._told
        if not new and self._ticks < self._feedback_due:
            return
        self._told = (told.state, told.step)
        self._feedback_due = self._ticks + round(FEEDBACK_PERIOD / self._period)
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
