# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Action servers that answer if a callback raises, and watch the client that sent a goal.

rclpy keeps a finished goal with its request and result for 900 s, and lists it in each status
message, which every client reads: a goal then costs as much as all goals before it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import (
    ServerGoalHandle,
    default_cancel_callback,
    default_goal_callback,
    default_handle_accepted_callback,
)
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.executors import await_or_execute
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import Empty
from unique_identifier_msgs.msg import UUID

from arm_common.ros.actions.client import PROBE, QUEUES, TOKEN_SIZE, client_topics
from arm_common.ros.failures import fill_error, report_failure
from arm_common.ros.qos import CALLS

# mypy: disable-error-code="no-untyped-call, attr-defined"

RESULT_TIMEOUT = 10.0  # [s] for which a client can ask for the result of a finished goal


def action_server(
    node: Node, kind: Any, name: str, execute: Callable[[ServerGoalHandle], Any], **more: Any
) -> ActionServer:
    """Return an action server that keeps a result for `RESULT_TIMEOUT`, and no finished request.

    Args:
        node: The node.
        kind: Type of the action.
        name: Name of the action.
        execute: Function or coroutine function that executes a goal and returns its result.
        more: Other arguments of rclpy's ActionServer.
    """

    async def execute_and_clear(handle: ServerGoalHandle) -> Any:
        try:
            return await await_or_execute(execute, handle)
        except Exception as error:  # noqa: BLE001 - no goal ends the node
            return _failed_result(kind, report_failure(node, name, error))
        finally:
            clear(handle.request)

    def accept(handle: ServerGoalHandle) -> None:
        try:
            on_accepted(handle)
        except Exception as error:  # noqa: BLE001
            reason = report_failure(node, name, error)
            handle.execute(lambda _: _failed_result(kind, reason))

    def checked(decide: Callable[[Any], Any], refusal: Any) -> Callable[[Any], Any]:
        async def callback(argument: Any) -> Any:
            try:
                return await await_or_execute(decide, argument)
            except Exception as error:  # noqa: BLE001
                report_failure(node, name, error)
                return refusal

        return callback

    on_accepted = more.pop("handle_accepted_callback", default_handle_accepted_callback)
    goal = more.pop("goal_callback", default_goal_callback)
    cancel = more.pop("cancel_callback", default_cancel_callback)
    return _ForgettingServer(
        node,
        kind,
        name,
        execute_and_clear,
        result_timeout=RESULT_TIMEOUT,
        goal_service_qos_profile=CALLS,
        **QUEUES,
        goal_callback=checked(goal, GoalResponse.REJECT),
        handle_accepted_callback=accept,
        cancel_callback=checked(cancel, CancelResponse.REJECT),
        **more,
    )


def _failed_result(kind: Any, reason: str) -> Any:
    """Return the result of a goal whose callback raised; rclpy aborts it."""
    result = kind.Result()
    fill_error(result, reason)
    return result


class _ForgettingServer(ActionServer):  # type: ignore[misc]
    """Forgets expired goals before it accepts new ones.

    rclpy accepts a goal first, even with the identifier of one that has just expired, and then
    forgets the new goal, too: an exception when that expires.
    """

    async def execute(self, taken_data: dict[str, Any]) -> None:
        """Handle what was taken; expired goals first."""
        if "expired" in taken_data:
            await super().execute({"expired": taken_data.pop("expired")})
        await super().execute(taken_data)


def clear(message: Any) -> None:
    """Set all fields of a message to their defaults."""
    empty = type(message)()
    for name in empty.get_fields_and_field_types():
        setattr(message, name, getattr(empty, name))


CLIENT_LOST = (
    "the client of the goal has gone or is unreachable, or, if it is not of this project, another "
    "client of the same action is (parameter client_timeout)"
)
_AT_ONCE = Duration()
PROBE_PERIOD = 0.2  # [s] of wall time between two probes
RETRY_PERIOD = 0.5  # [s] of wall time after which an unacknowledged probe counts as lost


class ClientLivenessMonitor:
    """Detects a lost client: one that acknowledges no probe within a timeout [s].

    A probe is any message whose arrival the middleware acknowledges. This detects an unplugged
    cable, a sleeping computer or a killed program long before the middleware does. A client that
    was never known cannot be lost; the timeout 0 disables detection.
    """

    def __init__(self, timeout: float, now: float, known: bool) -> None:
        self._timeout = timeout
        self._last_acknowledged = now if known else None
        self._last_probe = -float("inf")

    def poll(self, now: float, known: bool, acknowledged: bool) -> bool:
        """Return whether to send a probe now.

        Args:
            now: Present time [s].
            known: Whether the middleware knows of a client.
            acknowledged: Whether no probe is awaiting its acknowledgement.
        """
        self.update(now, known, acknowledged)
        if now - self._last_probe < (PROBE_PERIOD if acknowledged else RETRY_PERIOD):
            return False
        self._last_probe = now
        return True

    def update(self, now: float, known: bool, acknowledged: bool) -> None:
        """Note whether a probe is awaiting its acknowledgement; without one, nothing is lost."""
        if known and acknowledged:
            self._last_acknowledged = now

    def timed_out(self, now: float) -> bool:
        """Return whether a known client has acknowledged nothing for the timeout."""
        last = self._last_acknowledged
        return last is not None and 0.0 < self._timeout < now - last


class _Probe:
    """Probes all subscribers of a publisher."""

    def __init__(self, publisher: Publisher, timeout: float) -> None:
        self.publisher = publisher
        self._monitor = ClientLivenessMonitor(timeout, time.monotonic(), self.is_known)

    def is_due(self) -> bool:
        """Return True if a probe is to be sent now."""
        return self._monitor.poll(time.monotonic(), self.is_known, self._is_acknowledged())

    def update(self) -> None:
        """Note acknowledgements without a probe: perhaps none has been sent for a while."""
        self._monitor.update(time.monotonic(), self.is_known, self._is_acknowledged())

    @property
    def lost(self) -> bool:
        """True if a subscriber has acknowledged nothing for the timeout."""
        return self._monitor.timed_out(time.monotonic())

    @property
    def is_known(self) -> bool:
        """True while the middleware has subscribers; a killed one for 20 s."""
        return bool(self.publisher.get_subscription_count() > 0)

    def _is_acknowledged(self) -> bool:
        try:
            return bool(self.publisher.wait_for_all_acked(_AT_ONCE))
        except rclpy_implementation.RCLError:  # not supported by the middleware
            return True


class GoalOwner:
    """The client that sent a goal, which is probed until the goal has ended.

    A `GoalClient` is probed on its topic. Another client is known only by the feedback, to which
    all clients subscribe: it counts as lost if feedback is not acknowledged and no `GoalClient`
    is to blame.
    """

    def __init__(
        self, find: Callable[[], _Probe | None], others: Collection[_Probe], feedback: _Probe
    ) -> None:
        self._find, self._named = find, find()
        self._others, self._feedback = others, feedback

    def publish_feedback(self, handle: ServerGoalHandle, feedback: Any) -> None:
        """Publish feedback, as a probe if one is due."""
        if self._named or not self._feedback.is_due():
            handle.publish_feedback(feedback)
        else:
            kind: Any = self._feedback.publisher.msg_type
            self._feedback.publisher.publish(kind(goal_id=handle.goal_id, feedback=feedback))

    def is_lost(self) -> bool:
        """Probe the client; return True if it is lost. To be called several times a second."""
        self._named = self._named or self._find()
        probes = [self._named] if self._named else self._others
        for probe in probes:
            if probe.is_due():
                probe.publisher.publish(Empty())
        if self._named:
            return self._named.lost
        self._feedback.update()
        return self._feedback.lost and not any(p.lost and p.is_known for p in self._others)


class GoalOwners:
    """Watches the clients of an action's running goals; all methods are thread-safe.

    Args:
        node: The node of the action server.
        kind: Type of the action.
        name: Name of the action.
        timeout: Time without an acknowledgement after which a client is lost [s]; 0 for never.
    """

    def __init__(self, node: Node, kind: Any, name: str, timeout: float) -> None:
        self._node, self._timeout = node, timeout
        self._topics = client_topics(node, name)
        feedback = f"{node.resolve_topic_name(name)}/_action/feedback"
        self._feedback = self._publisher(kind.Impl.FeedbackMessage, feedback)
        self._publishers: dict[str, Publisher] = {}  # by the topic of a client
        self._lock = threading.Lock()
        self._running = 0  # goals

    @contextmanager
    def watch(self, goal_id: UUID) -> Iterator[GoalOwner]:
        """Watch the client of a goal inside this context."""
        topic = self._topics + bytes(goal_id.uuid[:TOKEN_SIZE]).hex()
        present = {t for t, _ in self._node.get_topic_names_and_types()}
        others = {t for t in present if t.startswith(self._topics)} - {topic}
        with self._lock:
            if not self._running:
                self._forget_all_but({topic, *others})
            self._running += 1
        try:
            probes = [probe for t in others if (probe := self._find(t))]
            feedback = _Probe(self._feedback, self._timeout)
            yield GoalOwner(partial(self._find, topic), probes, feedback)
        finally:
            with self._lock:
                self._running -= 1

    def _find(self, topic: str) -> _Probe | None:
        """Return a new probe of the client that subscribes to a topic, None if none does."""
        if not self._node.count_subscribers(topic):
            return None
        with self._lock:
            if topic not in self._publishers:
                self._publishers[topic] = self._publisher(Empty, topic)
            return _Probe(self._publishers[topic], self._timeout)

    def _publisher(self, kind: Any, topic: str) -> Publisher:
        """Return a publisher without events, for which an executor would wait."""
        events = PublisherEventCallbacks(use_default_callbacks=False)
        return self._node.create_publisher(kind, topic, PROBE, event_callbacks=events)

    def _forget_all_but(self, present: Collection[str]) -> None:
        """Destroy the publishers to clients that have gone."""
        for topic in self._publishers.keys() - present:
            self._node.destroy_publisher(self._publishers.pop(topic))
