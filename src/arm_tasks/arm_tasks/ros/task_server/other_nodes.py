# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions on other nodes and commands to them: topics, services, tf, and Python functions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from arm_common.errors import one_line
from arm_common.ros.executor import QUIET
from arm_common.ros.tf import TfListener, TransformError
from rclpy.exceptions import NameValidationException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node, NodeNameNonExistentError
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.validate_full_topic_name import validate_full_topic_name
from rclpy.validate_topic_name import validate_topic_name

from arm_tasks.errors import PlanError
from arm_tasks.execution.ports import (
    EndedMove,
    FrameSearch,
    Move,
    MoveState,
    MoveStatus,
    SignalWatch,
)
from arm_tasks.planning.plan import PlannedStep, TaskPlan
from arm_tasks.ros.task_server.frame_search import Extend, TfFrameSearch
from arm_tasks.ros.task_server.message_fields import (
    check_signal,
    check_types,
    filled,
    message_class,
    message_of,
    required_class,
    resolved,
)
from arm_tasks.task.condition import Reading, Signal, full_type
from arm_tasks.task.functions import load_function
from arm_tasks.task.policy import arm_commands, refuse_arm_command
from arm_tasks.task.steps import Command

# mypy: disable-error-code="no-untyped-call"

_CALL_PERIOD = 0.2  # [s] of wall time between the calls of a service until it answers as needed
_ANSWER_TIMEOUT = 5.0  # [s] of wall time, after which it is called again
_DEPTH, _STATUS = 10, "arm_interfaces/msg/HardwareStatus"  # of publish; only drivers publish it
_RUNNING = MoveStatus(MoveState.RUNNING, progress=0.0)
_DONE = MoveStatus(MoveState.SUCCEEDED, progress=1.0)
_CANCELED = MoveStatus(MoveState.CANCELED)


class NodeConnections:
    """Watches the signals of a plan and carries out its commands; implements OtherNodes.

    Args:
        node: The node of the connections.
        base: Returns the name of base_link in tf.
        extend: Plans the rest of the running task once a frame is found.
    """

    def __init__(self, node: Node, base: Callable[[], str], extend: Extend) -> None:
        self._node, self._base, self._extend = node, base, extend
        self._publishers: dict[tuple[str, str], Any] = {}  # kept, so that no message is lost
        self._arm_commands = {
            self._full_name(name[1:], is_service): name
            for name in arm_commands()
            for is_service in (False, True)
        }  # of this arm, as they are remapped
        self._frames: TfListener | None = None

    def check(self, plan: TaskPlan) -> None:
        """Check all conditions and commands, as far as the types are known already.

        Raises:
            PlanError: A name is invalid, a type is another one or lacks a field, or a step
                commands an arm.
        """
        for step in plan.steps:
            try:
                if step.when is not None and step.when.signal is not None:
                    signal = step.when.signal
                    if signal.frames:
                        self._listen()  # so that static frames are known in time
                    check_signal(signal, self._type(signal.topic, signal.service) or signal.type)
                    if signal.service:
                        self._refuse_arm_command(signal.service, signal.request, True)
                if step.find is not None:
                    self._listen()
                if step.command is not None and step.command.type:
                    self._check_command(step.command)
            except PlanError as error:
                raise PlanError(f"{step.label}: {error.message}") from None
        check_types(plan)

    def _check_command(self, command: Command) -> None:
        is_service = command.kind == "call_service"
        names = ("", command.to) if is_service else (command.to, "")
        found, given = self._type(*names), full_type(command.type, "srv" if is_service else "msg")
        if found and found != given:
            raise PlanError(f"the type of {command.to} is {found}, not {command.type}")
        self._refuse_arm_command(command.to, command.content, is_service)

    def _refuse_arm_command(self, name: str, content: Mapping[str, Any], is_service: bool) -> None:
        """Raise PlanError if a valid name, as this node remaps it, commands an arm."""
        full = self._full_name(name, is_service)
        kind = "service" if is_service else "topic"
        received_as = kind if self._is_received_by_a_driver(full, is_service) else ""
        refuse_arm_command(self._arm_commands.get(full, full), content, received_as)

    def _is_received_by_a_driver(self, full: str, is_service: bool) -> bool:
        """Return True if a driver has this topic or service; its names can be remapped, too."""
        drivers = {
            (driver.node_name, driver.node_namespace)
            for topic, types in self._node.get_topic_names_and_types()
            if _STATUS in types
            for driver in self._node.get_publishers_info_by_topic(topic)
        }
        if not is_service:
            readers = self._node.get_subscriptions_info_by_topic(full)
            return any((r.node_name, r.node_namespace) in drivers for r in readers)
        for driver in drivers:
            with suppress(NodeNameNonExistentError):  # it has ended meanwhile
                if full in dict(self._node.get_service_names_and_types_by_node(*driver)):
                    return True
        return False

    def _full_name(self, name: str, is_service: bool) -> str:
        resolve = self._node.resolve_service_name if is_service else self._node.resolve_topic_name
        return str(resolve(name))

    def watch(self, signal: Signal) -> SignalWatch:
        """Start to watch a topic, a service, or the distance of two frames."""
        if signal.frames:
            return WatchedDistance(signal, self._listen())
        return (WatchedService if signal.service else WatchedTopic)(self._node, signal)

    def send(self, command: Command) -> Move:
        """Start to call a service, to publish a message, or to run a function."""
        try:
            if command.kind == "run_function":
                return FunctionCall(command)
            now = self._node.get_clock().now().to_msg()
            message = message_of(command, now)
            self._check_command(command)
            if command.kind == "call_service":
                return ServiceCall(self._node, command.to, command.type, message)
            return Publication(command.to, self._publisher(command), message)
        except PlanError as error:
            return EndedMove(MoveStatus(MoveState.FAILED, error.message))

    def find(self, step: PlannedStep) -> FrameSearch:
        """Start to look for the frame of a step, and then to plan what follows."""
        clock = self._node.get_clock()

        def now() -> float:
            return float(clock.now().nanoseconds) * 1e-9

        return TfFrameSearch(step, self._listen(), self._base(), now, self._extend, self.check)

    def _listen(self) -> TfListener:
        self._frames = self._frames or TfListener(self._node, events=QUIET)
        return self._frames

    def _publisher(self, command: Command) -> Any:
        key = command.to, command.type
        if key not in self._publishers:
            cls = required_class(command.type, "msg")
            self._publishers[key] = self._node.create_publisher(cls, command.to, _DEPTH)
        return self._publishers[key]

    def _type(self, topic: str, service: str) -> str:
        """Return the type of a topic or service that exists, or ""."""
        if topic:
            return published_type(publishers(self._node, topic), topic)
        return service_type(self._node, service) if service else ""


class ServiceCall:
    """One call of a service, made once it exists."""

    def __init__(self, node: Node, name: str, type_name: str, request: Any) -> None:
        self._node, self._name, self._request = node, name, request
        cls = required_class(type_name, "srv")
        self._client: Any = node.create_client(cls, name)
        self._future: Any = None
        self._canceled = False

    def poll(self) -> MoveStatus:
        """Return the status; an answer with `success: false` is a failure."""
        if self._canceled:
            return _CANCELED
        if self._future is None:
            if not self._client.service_is_ready():
                return MoveStatus(MoveState.RUNNING, f"nothing offers {self._name}", 0.0)
            self._future = self._client.call_async(self._request)
        if not self._future.done():
            return MoveStatus(MoveState.RUNNING, f"{self._name} does not answer", 0.0)
        answer = self._future.result()
        self._close()
        if getattr(answer, "success", True):
            return _DONE
        reason = one_line(str(getattr(answer, "message", ""))) or "it failed"
        return MoveStatus(MoveState.FAILED, f"{self._name}: {reason}")

    def cancel(self) -> None:
        """Ignore the answer; the service may do its work all the same."""
        self._canceled = True
        self._close()

    def _close(self) -> None:
        if self._client is not None:
            self._node.destroy_client(self._client)
            self._client = None


class Publication:
    """One message, published once someone subscribes."""

    def __init__(self, topic: str, publisher: Any, message: Any) -> None:
        self._topic, self._publisher, self._message = topic, publisher, message
        self._status: MoveStatus | None = None

    def poll(self) -> MoveStatus:
        """Return the status."""
        if self._status is None and self._publisher.get_subscription_count():
            self._publisher.publish(self._message)
            self._status = _DONE
        nobody = MoveStatus(MoveState.RUNNING, f"nothing subscribes to {self._topic}", 0.0)
        return self._status or nobody

    def cancel(self) -> None:
        """Do not publish it any more."""
        self._status = self._status or _CANCELED


class FunctionCall:
    """A Python function in a thread of its own."""

    def __init__(self, command: Command) -> None:
        self._call = load_function(command.to, command.content)
        self._name = command.to
        self._status, self._canceled = _RUNNING, threading.Event()
        threading.Thread(target=self._run, name=command.to, daemon=True).start()

    def poll(self) -> MoveStatus:
        """Return the status; after cancel() the function may go on until it notices."""
        return _CANCELED if self._canceled.is_set() else self._status

    def cancel(self) -> None:
        """Tell the function, if it has the argument `canceled`."""
        self._canceled.set()

    def _run(self) -> None:
        try:
            result = self._call(self._canceled.is_set)
        except Exception as error:  # noqa: BLE001  # whatever the user's function raises
            reason = one_line(str(error)) or type(error).__name__
            self._status = MoveStatus(MoveState.FAILED, f"{self._name}: {reason}")
            return
        failed = MoveStatus(MoveState.FAILED, f"{self._name} returned false")
        self._status = failed if result is False else _DONE


class WatchedDistance:
    """The distance of two frames of tf."""

    def __init__(self, signal: Signal, listener: TfListener) -> None:
        self._signal, self._tree = signal, listener.tree

    def read(self) -> Reading:
        """Return whether the condition holds for the last transforms."""
        try:
            target, source = self._signal.frames
            x, y, z = self._tree.lookup(target, source)[:3, 3]
        except TransformError as error:
            return Reading(False, one_line(str(error)), known=False)
        return self._signal.compare(float((x * x + y * y + z * z) ** 0.5))

    def close(self) -> None:
        """Do nothing; the listener is kept."""


class WatchedService:
    """A service that is called again and again."""

    def __init__(self, node: Node, signal: Signal) -> None:
        self._node, self._signal = node, signal
        self._client: Any = None  # once the type of the service is known
        self._request: Any = None
        self._answer: Any = None  # future of the call that is under way
        self._sent = self._due = 0.0
        self._last = self._unknown("nothing offers")

    def read(self) -> Reading:
        """Return whether the condition holds for the last answer."""
        try:
            self._advance()
        except PlanError as error:
            return Reading(False, error.message, failed=True)
        return self._last

    def _advance(self) -> None:
        now = time.monotonic()
        if self._client is None and not self._connect():
            return
        if self._answer is None:
            if not self._client.service_is_ready():
                self._last = self._unknown("nothing offers")
            elif now >= self._due:
                self._answer, self._sent = self._client.call_async(self._request), now
        elif self._answer.done():
            self._last = self._signal.read(self._answer.result())
            self._answer, self._due = None, now + _CALL_PERIOD
        elif now - self._sent > _ANSWER_TIMEOUT:
            self._client.remove_pending_request(self._answer)
            self._answer, self._last = None, self._unknown("no answer from")

    def _connect(self) -> bool:
        """Create the client if the service is offered; return whether it is."""
        type_name = service_type(self._node, self._signal.service)
        if not type_name:
            return False
        self._signal = resolved(self._signal, type_name)
        cls = required_class(type_name, "srv")
        self._request = filled(cls.Request, self._signal.request)
        self._client = self._node.create_client(cls, self._signal.service)
        return True

    def _unknown(self, reason: str) -> Reading:
        return Reading(False, f"{reason} {self._signal.service}", known=False)

    def close(self) -> None:
        """Stop calling it."""
        if self._client is not None:
            self._node.destroy_client(self._client)
            self._client = self._answer = None


class WatchedTopic:
    """A topic that is subscribed to once someone publishes it."""

    def __init__(self, node: Node, signal: Signal) -> None:
        self._node, self._signal = node, signal
        self._subscription: Any = None
        self._message: Any = None

    def read(self) -> Reading:
        """Return whether the condition holds for the newest message since the start."""
        if self._subscription is None:
            try:
                if not self._subscribe():
                    return Reading(False, f"nothing publishes {self._signal.topic}", known=False)
            except PlanError as error:
                return Reading(False, error.message, failed=True)
        if self._message is None:
            none = f"no message was received on {self._signal.topic}"
            return Reading(False, none, known=False)
        return self._signal.read(self._message)

    def close(self) -> None:
        """Unsubscribe."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _subscribe(self) -> bool:
        """Subscribe if the topic is published; return whether it is."""
        topic, found = self._signal.topic, publishers(self._node, self._signal.topic)
        type_name = published_type(found, topic)
        if not type_name:
            return False
        self._signal = resolved(self._signal, type_name)
        self._subscription = self._node.create_subscription(
            message_class(type_name),
            topic,
            self._on_message,
            strictest_qos(found),
            event_callbacks=QUIET,
        )
        return True

    def _on_message(self, message: Any) -> None:
        self._message = message


def publishers(node: Node, topic: str) -> list[TopicEndpointInfo]:
    """Return the publishers of a topic; raise PlanError if its name is invalid."""
    _require_name(node, topic)
    return list(node.get_publishers_info_by_topic(node.resolve_topic_name(topic)))


def _require_name(node: Node, name: str, is_service: bool = False) -> None:
    """Raise PlanError if a name cannot be that of a topic or service."""
    try:
        validate_topic_name(name, is_service=is_service)
        full = expand_topic_name(name, node.get_name(), node.get_namespace())
        validate_full_topic_name(full, is_service=is_service)
    except NameValidationException as error:
        raise PlanError(why_invalid(error)) from None
    except ValueError:  # of expand_topic_name
        what = f"'{name}' is not the name of a {'service' if is_service else 'topic'}"
        raise PlanError(f"{what}: only {{node}} and {{ns}} are known in braces") from None


def why_invalid(error: NameValidationException) -> str:
    """Return in one sentence why rclpy refuses the name of a topic, service or node."""
    first, name = str(error).splitlines()[:2]
    kind, _, reason = first.removeprefix("Invalid ").partition(" name: ")
    return f"{name.strip()} is not the name of a {kind}: {reason.rstrip(':')}"


def published_type(found: list[TopicEndpointInfo], topic: str) -> str:
    """Return the type of some publishers, "" without any; raise PlanError if they differ."""
    types = sorted({info.topic_type for info in found})
    if len(types) > 1:
        raise PlanError(f"{topic} is published with different types: {', '.join(types)}")
    return types[0] if types else ""


def service_type(node: Node, service: str) -> str:
    """Return the type of a service, "" if nothing offers it; raise PlanError for a bad name."""
    _require_name(node, service, is_service=True)
    name = node.resolve_service_name(service)
    types = dict(node.get_service_names_and_types()).get(name, [])
    return types[0] if types else ""


def strictest_qos(found: list[TopicEndpointInfo], depth: int = 1) -> QoSProfile:
    """Return the strictest QoS that all publishers offer: of a latched topic its last message."""
    profiles = [info.qos_profile for info in found]
    latched = all(p.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in profiles)
    reliable = all(p.reliability == ReliabilityPolicy.RELIABLE for p in profiles)
    return QoSProfile(
        depth=depth,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
    )
