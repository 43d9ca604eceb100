# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Monitors of a task: whether it can start, the nodes that it needs, the nut, the arm."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable
from dataclasses import replace

from arm_common.ros.executor import PolledSubscriptions, destroy_timer
from arm_common.ros.message_conversions import stamp_seconds
from arm_common.ros.qos import STEADY_CLOCK, TF_TOPIC
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.task import Future
from tf2_msgs.msg import TFMessage

from arm_interfaces.msg import NutState
from arm_kinematics import Chain
from arm_tasks.errors import PlanError
from arm_tasks.execution.engine import TaskOutcome
from arm_tasks.execution.ports import ArmPort
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.ros.driver_client import ArmState, DriverClient
from arm_tasks.ros.task_messages import is_judged, nut_report
from arm_tasks.ros.task_server.planning import Planning
from arm_tasks.scene.nut_state import NutReport, NutStatus, safe_state, start_disagreement
from arm_tasks.task.condition import Condition, Observation
from arm_tasks.task.steps import If, Until, all_steps

# mypy: disable-error-code="no-untyped-call"

SILENCE = 6.0  # [s] of wall time; kinematics publishes once a second, tf with joint_states
_NUT_MAX_AGE = 5.0  # [s] of wall time; nut_world publishes at least once a second
# Longest time without a newer state of the nut, both in wall time and on the arm's clock [s]
_UNSEEN = 2.0
_UNSEEN_MOVING = 0.5  # in wall time while the arm moves
_LATE_TICKS = 3
_NO_REFERENCE = (
    "no reference run was made, so the nut is not compared with the plan; make sure that it is"
    " where the step needs it, or install the package arm_simulation"
)
_STARTUP_TIMEOUT = 30.0  # [s], for a driver that has not published everything yet
_READY_TIMEOUT = 5.0  # [s], for a known driver that is not ready or has become silent
_NOTIFY_DELAY = 2.0  # [s] of waiting after which the reason is reported
_POLL_PERIOD = 0.05  # [s]


class Readiness:
    """Waits until a motion can start and /clock runs, which a simulated driver publishes."""

    def __init__(self, node: Node, driver: DriverClient) -> None:
        self._node, self._driver = node, driver

    async def wait(
        self, dry_run: bool, canceled: Callable[[], bool], notify: Callable[[str], None]
    ) -> str:
        """Wait until a task can start or is canceled; return why it cannot start, or "".

        A dry run needs only joint positions. If the wait is long, notify gets the reason once.
        """
        return await self._until(lambda: self._missing(dry_run), canceled, notify)

    async def wait_for_limits(self) -> str:
        """Wait for the limits of a driver that is there; return why they are unknown, or ""."""
        return await self._until(self._driver.limits_unknown, lambda: False, lambda _: None)

    async def _until(
        self,
        missing: Callable[[], str],
        canceled: Callable[[], bool],
        notify: Callable[[str], None],
    ) -> str:
        """Wait until nothing is missing; return what is after a time-out or a cancellation."""
        began, notified = time.monotonic(), False
        result: Future = Future(executor=self._node.executor)

        def poll() -> None:
            nonlocal notified
            if result.done():
                return
            reason, waited = missing(), time.monotonic() - began
            limit = _READY_TIMEOUT if self._is_known() else _STARTUP_TIMEOUT
            if not reason or canceled() or waited > limit:
                result.set_result(reason)
            elif waited > _NOTIFY_DELAY and not notified:
                notify(reason)
                notified = True

        poll()
        if not result.done():
            timer = self._node.create_timer(_POLL_PERIOD, poll, clock=STEADY_CLOCK)
            await result
            destroy_timer(self._node, timer)
        return str(result.result())

    def _missing(self, dry_run: bool) -> str:
        if dry_run and self._driver.positions:
            return self._driver.limits_unknown()
        return self._driver.not_ready() or self._not_connected()

    def _is_known(self) -> bool:
        """Return True if the driver was complete before, even if it is lost now."""
        return self._driver.complete and (bool(self._driver.lost()) or not self._not_connected())

    def _not_connected(self) -> str:
        """Return which part of the driver is missing, or ""."""
        if not self._node.get_clock().now().nanoseconds:  # type: ignore[no-untyped-call]
            return "no /clock yet; is the servo driver running?"
        return self._driver.actions_missing()


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
        return f"{lost} has been silent for {SILENCE:.0f} s" if lost else ""

    def _is_silent(self, name: str) -> bool:
        return time.monotonic() - self._received[name] > SILENCE

    def _on_tf(self, message: bytes) -> None:
        if self._link in message:
            self._received["tf of the robot"] = time.monotonic()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        if any(status.name == self._kinematics for status in message.status):
            self._received["the node kinematics"] = time.monotonic()


class WorldObserver:
    """Observes the nut, the jaws and the joints, for the conditions of a task.

    Attributes:
        received: When the last state of the nut was received, in wall time [s].
        advanced: When the last one was that was newer than the one before: nut_world stamps it
            with the time of the tf that it has seen.
    """

    def __init__(self, node: Node, state: ArmState, polled: PolledSubscriptions) -> None:
        self._polled = polled
        self._state = state
        self._nut: NutState | None = None
        self.received = self.advanced = 0.0
        polled.subscribe(node, NutState, "nut_world/state", self._on_nut, 1)

    def __call__(self, when: Condition, since: float) -> Observation | None:
        """Return an observation, or None while no state of the nut is newer than a time [s]."""
        self._polled.take()
        state = self._state
        width = state.width if math.isfinite(state.width) else None
        arm = width, state.positions, state.measured
        if not when.needs_nut:
            return Observation(None, *arm)
        nut = self._nut
        if nut is None or not is_judged(nut) or stamp_seconds(nut.header.stamp) < since:
            return None
        return Observation(nut_report(nut), *arm)

    @property
    def nut(self) -> NutReport | None:
        """Current state of the nut, or None if it was not seen recently."""
        self._polled.take()
        is_fresh = time.monotonic() - self.advanced < _NUT_MAX_AGE
        nut = self._nut
        return nut_report(nut) if nut is not None and is_judged(nut) and is_fresh else None

    def poll(self) -> None:
        """Process queued messages."""
        self._polled.take()

    def _on_nut(self, message: NutState) -> None:
        self.received = time.monotonic()
        if self._nut is None or message.header.stamp != self._nut.header.stamp:
            self.advanced = self.received
        self._nut = message


class BlindWorldDetector:
    """Detects that the simulated world does not see the arm while a task runs.

    A world that publishes nothing at all does not exist, as with real hardware.

    Args:
        observer: Receives the states of the nut.
        clock: Clock of the arm [s], simulated if the arm is.
        wall: Steady wall clock [s].
    """

    def __init__(
        self,
        observer: WorldObserver,
        clock: Callable[[], float],
        wall: Callable[[], float] = time.monotonic,
    ) -> None:
        self._observer, self._clock, self._wall = observer, clock, wall
        self._expected = wall() - observer.received < _NUT_MAX_AGE
        self._advanced, self._late_ticks = observer.advanced, 0
        self._since = self._last = clock(), wall()  # of the newest state, and of the last tick
        self._moved = 0.0, 0.0  # for how long the arm has moved since that state, by both clocks

    def update(self, moving: bool) -> float:
        """Return for how long the world has not seen the arm, in wall time [s]; 0 if it does.

        Call it at each tick. An arm at rest is rarely published, so motions that the world misses
        count together, and rests for longer. Once it is blind, only a new state changes that.
        """
        observer, now = self._observer, (self._clock(), self._wall())
        observer.poll()
        self._expected = self._expected or observer.received > self._since[1]
        sees = observer.advanced != self._advanced
        blind = self._late_ticks >= _LATE_TICKS and not sees
        self._moved = (
            self._moved[0] + moving * (now[0] - self._last[0]),
            self._moved[1] + moving * (now[1] - self._last[1]),
        )
        if sees:
            self._since, self._moved = now, (0.0, 0.0)
        self._advanced, self._last = observer.advanced, now
        arm, wall = now[0] - self._since[0], now[1] - self._since[1]
        moves_unseen = self._moved[0] > _UNSEEN and self._moved[1] > _UNSEEN_MOVING
        late = blind or moves_unseen or (arm > _UNSEEN and wall > _UNSEEN)
        # after a pause of this process, what was queued meanwhile is processed first
        self._late_ticks = self._late_ticks + 1 if late and self._expected else 0
        return wall if self._late_ticks >= _LATE_TICKS else 0.0


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
        if expected is None:
            return [_NO_REFERENCE]
        if reason := expected.disagreement(step, self._port.configuration(), nut):
            raise PlanError(reason)
        return []

    def start_problem(self, plan: TaskPlan) -> str:
        """Return why the observed nut is not where a task that turns it begins, else ""."""
        nut, scene = self._observer.nut, plan.request.scene
        turning = any(step.report.turns for step in plan.steps)
        decides = any(isinstance(s, (If, Until)) for s in all_steps(plan.request.task.steps))
        if nut is None or scene.nut is None or not turning or decides:
            return ""
        return start_disagreement(scene, nut)

    def outcome(self, plan: TaskPlan, outcome: TaskOutcome) -> TaskOutcome:
        """Return the outcome of a run, which cannot be resumed if the nut has fallen."""
        nut = None if plan.request.scene.nut is None else self._observer.nut
        if outcome.resume_step is None or nut is None or nut.status is not NutStatus.FALLEN:
            return outcome
        reason = f"{outcome.message.removesuffix('.')}; it cannot be resumed: the nut has fallen"
        return replace(outcome, message=reason, resume_step=None)

    async def safe_state(self, plan: TaskPlan, step: int) -> str:
        """Return the SafeState of an arm that stopped in a step, "" without a nut.

        It follows from the observed nut, or from the planned one if none is observed; "" if
        neither is known.
        """
        scene_nut = plan.request.scene.nut
        if scene_nut is None:
            return ""
        current, nut = self._port.configuration(), self._observer.nut
        if nut is None:
            expected = await self._planning.reference_run(plan)
            if expected is None:
                return ""
            nut = expected.nut(step, current)
        T_tool = self._chain.fk([current.positions[name] for name in plan.joint_names])
        return safe_state(T_tool, nut, scene_nut.across_flats).value
