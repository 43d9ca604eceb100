# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Monitors of a running task: other nodes, the nut, the width of the jaws, and any topic."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from arm_common.ros.executor import QUIET, PolledSubscriptions
from arm_common.ros.messages import stamp_seconds
from arm_common.ros.qos import TF_TOPIC
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.validate_topic_name import validate_topic_name
from tf2_msgs.msg import TFMessage

from arm_interfaces.msg import NutState
from arm_kinematics import Chain
from arm_tasks.errors import PlanError
from arm_tasks.execution.engine import TaskOutcome
from arm_tasks.execution.ports import ArmPort
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.ros.driver_client import ArmState
from arm_tasks.ros.messages import nut_report
from arm_tasks.ros.task_server.planning import Planning
from arm_tasks.scene.nut_state import NutReport, NutStatus
from arm_tasks.task.condition import (
    Condition,
    MessageType,
    Observation,
    TopicCondition,
    TopicReading,
)
from arm_tasks.world.reference_run import safe_state

# mypy: disable-error-code="no-untyped-call"

SILENCE = 6.0  # [s] of wall time; kinematics publishes once a second, tf with joint_states
_NUT_MAX_AGE = 5.0  # [s] of wall time; nut_world publishes at least once a second
# Longest time without a newer state of the nut, both in wall time and on the arm's clock [s]
_UNSEEN = 2.0
_UNSEEN_MOVING = 0.5  # in wall time while the arm moves
_LATE_TICKS = 3


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
    """Observes the nut and the width of the jaws, for the branches of a task.

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
        width = self._state.width if math.isfinite(self._state.width) else None
        if not when.needs_nut:
            return Observation(width=width)
        nut = self._nut
        if nut is None or stamp_seconds(nut.header.stamp) < since:
            return None
        return Observation(nut_report(nut), width)

    @property
    def nut(self) -> NutReport | None:
        """Current state of the nut, or None if it was not seen recently."""
        self._polled.take()
        is_fresh = time.monotonic() - self.advanced < _NUT_MAX_AGE
        return nut_report(self._nut) if self._nut is not None and is_fresh else None

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
        self._advanced, self._since = observer.advanced, (clock(), wall())
        self._was_moving, self._late_ticks = False, 0

    def update(self, moving: bool) -> float:
        """Return for how long the world has not seen the arm, in wall time [s]; 0 if it does.

        Call it at each tick. An arm at rest is rarely published. Once the world is blind, only a
        new state of it changes that, not the arm, which then stops.
        """
        observer, now = self._observer, (self._clock(), self._wall())
        observer.poll()
        self._expected = self._expected or observer.received > self._since[1]
        sees = observer.advanced != self._advanced
        blind = self._late_ticks >= _LATE_TICKS and not sees
        if sees or (moving is not self._was_moving and not blind):
            self._since = now
        self._advanced, self._was_moving = observer.advanced, moving
        arm, wall = now[0] - self._since[0], now[1] - self._since[1]
        late = blind or (wall > (_UNSEEN_MOVING if moving else _UNSEEN) and arm > _UNSEEN)
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
        if why := expected.disagreement(step, self._port.configuration(), nut):
            raise PlanError(why)
        return []

    def outcome(self, plan: TaskPlan, outcome: TaskOutcome) -> TaskOutcome:
        """Return the outcome of a run, which cannot be resumed if the nut has fallen."""
        nut = None if plan.request.scene.nut is None else self._observer.nut
        if outcome.resume_step is None or nut is None or nut.status is not NutStatus.FALLEN:
            return outcome
        why = f"{outcome.message.removesuffix('.')}; it cannot be resumed: the nut has fallen"
        return replace(outcome, message=why, resume_step=None)

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


class TopicSubscriber:
    """Checks the conditions of a plan, and watches the topic of one."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def check(self, plan: TaskPlan) -> None:
        """Check all conditions, as far as the types of their topics are known already.

        Raises:
            PlanError: A topic has an invalid name or another type, or lacks the field.
        """
        for step in plan.steps:
            if step.until is None:
                continue
            try:
                type_name = self._type(step.until) or step.until.type
                if type_name:
                    step.until.resolved(type_name, message_type)
            except PlanError as error:
                raise PlanError(f"step {step.index + 1}, {step.name}: {error.what}") from None

    def __call__(self, until: TopicCondition) -> WatchedTopic:
        """Start to watch the topic of a condition."""
        return WatchedTopic(self._node, until)

    def _type(self, until: TopicCondition) -> str:
        return published_type(publishers(self._node, until.topic), until.topic)


class WatchedTopic:
    """A topic that is subscribed to once someone publishes it."""

    def __init__(self, node: Node, until: TopicCondition) -> None:
        self._node, self._until = node, until
        self._subscription: Any = None
        self._message: Any = None

    def read(self) -> TopicReading:
        """Return whether the condition holds for the newest message since the start."""
        if self._subscription is None:
            try:
                if not self._subscribe():
                    return TopicReading(False, f"nothing publishes {self._until.topic}")
            except PlanError as error:
                return TopicReading(False, error.what, failed=True)
        if self._message is None:
            return TopicReading(False, f"no message was received on {self._until.topic}")
        return self._until.read(self._message)

    def close(self) -> None:
        """Unsubscribe."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _subscribe(self) -> bool:
        """Subscribe if the topic is published; return whether it is."""
        topic, found = self._until.topic, publishers(self._node, self._until.topic)
        type_name = published_type(found, topic)
        if not type_name:
            return False
        self._until = self._until.resolved(type_name, message_type)
        self._subscription = self._node.create_subscription(
            message_class(type_name), topic, self._on_message, _qos(found), event_callbacks=QUIET
        )
        return True

    def _on_message(self, message: Any) -> None:
        self._message = message


def publishers(node: Node, topic: str) -> list[TopicEndpointInfo]:
    """Return the publishers of a topic; raise PlanError if its name is invalid."""
    try:
        validate_topic_name(topic)
        return list(node.get_publishers_info_by_topic(node.resolve_topic_name(topic)))
    except InvalidTopicNameException as error:
        why = str(error).splitlines()[0].partition(": ")[2]
        raise PlanError(f"'{topic}' is not the name of a topic: {why}") from None


def published_type(found: list[TopicEndpointInfo], topic: str) -> str:
    """Return the type of some publishers, "" without any; raise PlanError if they differ."""
    types = sorted({info.topic_type for info in found})
    if len(types) > 1:
        raise PlanError(f"{topic} is published with different types: {', '.join(types)}")
    return types[0] if types else ""


def message_class(name: str) -> Any:
    """Return the class of a message type such as `std_msgs/msg/Bool`, None if not installed."""
    package, _, kind = name.split("/")
    try:
        return getattr(import_module(f"{package}.msg"), kind, None)
    except ImportError:
        return None


def message_type(name: str) -> MessageType | None:
    """Return the fields and constants of a message type, None if it is not installed."""
    cls = message_class(name)
    if cls is None:
        return None
    names = [n for n in dir(type(cls)) if n.isupper() and not n.startswith("_")]
    found = {n: getattr(cls, n) for n in names}
    constants = {
        n: float(v) if isinstance(v, int) and not isinstance(v, bool) else v
        for n, v in found.items()
        if isinstance(v, bool | int | float | str)
    }
    return MessageType(cls.get_fields_and_field_types(), constants)


def _qos(found: list[TopicEndpointInfo]) -> QoSProfile:
    """Return the strictest QoS that all publishers offer: of a latched topic its last message."""
    profiles = [info.qos_profile for info in found]
    latched = all(p.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in profiles)
    reliable = all(p.reliability == ReliabilityPolicy.RELIABLE for p in profiles)
    return QoSProfile(
        depth=1,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
    )
