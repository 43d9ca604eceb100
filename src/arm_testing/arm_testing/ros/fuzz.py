# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Sends random messages to all services, actions and topics of a node, as the graph lists them."""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import rclpy
from builtin_interfaces.msg import Duration, Time
from rcl_interfaces.srv import ListParameters
from rclpy.context import Context
from rclpy.executors import (
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
)
from rclpy.node import NodeNameNonExistentError
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rosidl_parser.definition import (
    AbstractGenericString,
    AbstractSequence,
    Array,
    BasicType,
    NamespacedType,
)
from unique_identifier_msgs.msg import UUID

from arm_testing.waiting import BOUND, wait_for

NAN, INF = math.nan, math.inf
FLOATS = (NAN, INF, -INF, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e-9, 2.0**31, 0.3, -0.3, 0.02)
SECONDS = (-(2**31), -1, 0, 0, 0, 1, 2, 10, 2**31 - 1, 2_000_000_000)
NANOSECONDS = (0, 1, 500_000_000, 999_999_999, 2**32 - 1)
WORDS = ("", "use_sim_time", "no such", "\u2603" * 9, "x" * 3000, "/etc/shadow", "a: [b", "..")
LENGTHS = (0, 1, 1, 2, 5)
WINDOW = 5  # requests under way at once; a service keeps the last 10
QUEUE = QoSProfile(depth=WINDOW, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LATE = 3  # requests at once that need not be answered, because a goal is running
FIRST_ANSWER = 5.0  # [s]
_DISCOVERY = 1.0  # [s] without a new name


class Messages:
    """Random messages of any type: mostly wrong, some valid.

    Args:
        seed: Of the random numbers.
        words: Strings that mean something to the node under test.
        makers: Type -> function that returns a message of it, for types that are made otherwise.
    """

    def __init__(
        self, seed: int, words: Sequence[str] = (), makers: Mapping[type, Callable] | None = None
    ) -> None:
        self.random = random.Random(seed)
        self.pick = self.random.choice
        self.words = (*words, *WORDS)
        self.makers = {Time: self.time, Duration: self.time, UUID: self.goal_id} | dict(
            makers or {}
        )

    def make(self, kind: type) -> Any:
        """Return a message of a type."""
        if maker := self.makers.get(kind):
            return maker(kind)
        made: Any = kind()
        for field, slot in zip(made.get_fields_and_field_types(), made.SLOT_TYPES, strict=True):
            setattr(made, field, self._value(slot))
        return made

    def time(self, kind: type) -> Any:
        return kind(sec=self._second(kind), nanosec=self.pick(NANOSECONDS))

    def _second(self, kind: type) -> int:
        return self.pick(SECONDS)

    def goal_id(self, kind: type) -> Any:
        """Return an identifier; every other is zero, the only one of an accepted goal."""
        return kind(
            uuid=list(self.random.randbytes(16)) if self.random.random() < 0.5 else [0] * 16
        )

    def _value(self, slot: Any) -> Any:
        if isinstance(slot, Array):
            return [self._value(slot.value_type) for _ in range(slot.size)]
        if isinstance(slot, AbstractSequence):
            number = min(self.pick(LENGTHS), getattr(slot, "maximum_size", math.inf))
            return [self._value(slot.value_type) for _ in range(number)]
        if isinstance(slot, AbstractGenericString):
            return self.pick(self.words)
        if isinstance(slot, NamespacedType):
            return self.make(_type_of(*slot.namespaces, slot.name))
        return self._number(slot)

    def _number(self, slot: BasicType) -> Any:
        name = slot.typename
        if name == "boolean":
            return self.random.random() < 0.5
        if name == "octet":
            return self.random.randbytes(1)
        if name in ("float", "double"):
            if self.random.random() < 0.5:
                return self.random.uniform(-0.5, 0.5)
            value = self.pick(FLOATS)
            return value if name == "double" or abs(value) != 1e308 else math.copysign(3e38, value)
        signed, bits = not name.startswith("u"), int(name.lstrip("uint") or 8)
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        return self.pick((0, 1, low, high, self.random.randint(0, min(high, 255))))

    def garbage(self, kind: type) -> bytes:
        """Return a serialised message with some bytes changed or cut off."""
        data = bytearray(serialize_message(self.make(kind)))
        for _ in range(self.pick((1, 3, 30))):
            data[self.random.randrange(min(4, len(data) - 1), len(data))] = self.random.randrange(
                256
            )
        return bytes(data[: self.random.randrange(min(4, len(data) - 1), len(data) + 1)])


def _type_of(package: str, kind: str, name: str) -> Any:
    """Return the type of an interface, also of the parts of an action such as RunTask_Goal."""
    module = importlib.import_module(f"{package}.{kind}")
    if kind != "action":
        return getattr(module, name)
    action, _, part = name.partition("_")
    inner = {"SendGoal": "SendGoalService", "GetResult": "GetResultService"}
    if part in inner or part == "FeedbackMessage":
        return getattr(getattr(module, action).Impl, inner.get(part, part))
    return getattr(getattr(module, action), part)


class Attacker:
    """A node, spun in a thread, that sends random messages to the interfaces of another.

    Args:
        target: Name of the other node.
        messages: What it sends.
        move: Called before each round, such as to let an arm move.
        check: Called after each round with the name of the interface.
        answer: Called with the name of a service and each of its responses.
    """

    def __init__(
        self,
        target: str,
        messages: Messages,
        move: Callable[[], object] = lambda: None,
        check: Callable[[str], object] = lambda name: None,
        answer: Callable[[str, Any], object] = lambda name, response: None,
    ) -> None:
        self._answer = answer
        self._target, self._messages, self._move, self._check = target, messages, move, check
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("attacker", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        self._alive = self._node.create_client(ListParameters, f"{target}/list_parameters")
        self.slowest: dict[str, float] = {}  # interface -> longest time of a round [s per message]

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, ShutdownException):
            self._executor.spin()

    def close(self) -> None:
        rclpy.shutdown(context=self._context)
        self._thread.join(BOUND)

    def attack(self, number: int, at_once: int = 500) -> None:
        """Send so many messages to each interface, in rounds; every request must be answered."""
        self._connect(self._alive, ListParameters, "list_parameters")  # it has been constructed
        for name, kind in self._listed("service"):
            client = self._node.create_client(kind, name)
            self._connect(client, kind, name)
            self._rounds(name, number, at_once, functools.partial(self._ask, client, kind, name))
            # In the thread that spins, as the executor may be waiting on the client.
            self._executor.create_task(self._node.destroy_client, client)
        for name, kind in self._listed("subscriber"):
            publisher = self._node.create_publisher(kind, name, QUEUE)
            wait_for(publisher.get_subscription_count, f"subscription of {name}")
            self._rounds(name, number, at_once, functools.partial(self._publish, publisher, kind))
            self._executor.create_task(self._node.destroy_publisher, publisher)

    def _listed(self, what: str) -> Iterator[tuple[str, Any]]:
        listed = getattr(self._node, f"get_{what}_names_and_types_by_node")

        def names() -> list[tuple[str, list[str]]] | None:
            with contextlib.suppress(NodeNameNonExistentError):
                return listed(self._target, "/")
            return None

        def complete() -> tuple[list[tuple[str, list[str]]], ...]:
            """Return the names, in a tuple, once they stay the same: they come one by one."""
            first = names()
            time.sleep(_DISCOVERY)
            if first is None or first != names() or (not first and what == "service"):
                return ()
            return (first,)

        (found,) = wait_for(complete, f"node {self._target}")
        for name, (kind, *_) in found:
            yield name, _type_of(*kind.split("/"))

    def _rounds(self, name: str, number: int, at_once: int, send: Callable[[int], object]) -> None:
        for done in range(0, number, at_once):
            self._move()
            count, start = min(at_once, number - done), time.monotonic()
            send(count)
            took = (time.monotonic() - start) / count
            self.slowest[name] = max(took, self.slowest.get(name, 0.0))
            self._check(name)

    def _connect(self, client: Any, kind: Any, name: str) -> None:
        """Repeat a request until it is answered; an answer can be lost during discovery."""
        answered = threading.Event()
        assert client.wait_for_service(BOUND), name
        deadline = time.monotonic() + BOUND
        while not answered.is_set():
            assert time.monotonic() < deadline, f"no answer of {name}"
            client.call_async(self._messages.make(kind.Request)).add_done_callback(
                lambda _: answered.set()
            )
            answered.wait(FIRST_ANSWER)

    def _ask(self, client: Any, kind: Any, name: str, number: int) -> None:
        """Send so many requests, at most `WINDOW` at once; wait until all are answered."""
        free, late = threading.Semaphore(WINDOW), 0
        for _ in range(number):
            request = self._messages.make(kind.Request)
            if name.endswith("get_result") and not any(request.goal_id.uuid):
                client.call_async(request)  # answered when that goal has ended
                late += 1
                if late < LATE:
                    continue
                request = kind.Request(
                    goal_id=UUID(uuid=list(self._messages.random.randbytes(16)))
                )
            assert free.acquire(timeout=BOUND), f"no answer of {name}"
            client.call_async(request).add_done_callback(
                lambda future: (self._answer(name, future.result()), free.release())
            )
            if late >= LATE:
                self._drain(free, name)
                late = 0
        self._drain(free, name)

    @staticmethod
    def _drain(free: threading.Semaphore, name: str) -> None:
        """Wait for all answers."""
        for _ in range(WINDOW):
            assert free.acquire(timeout=BOUND), f"no answer of {name}"
        free.release(WINDOW)

    def _publish(self, publisher: Any, kind: Any, number: int) -> None:
        for k in range(number):
            make = self._messages.garbage if k % 2 else self._messages.make
            publisher.publish(make(kind))
            if k % WINDOW == 0:
                self._wait_idle()

    def _wait_idle(self) -> None:
        """Wait until the node has taken what was sent before, by a request that is answered."""
        self._ask(self._alive, ListParameters, "list_parameters", 1)
