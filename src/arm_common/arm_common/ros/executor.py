# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An executor that keeps its wait set, and subscriptions that are polled.

rclpy's SingleThreadedExecutor collects all entities and makes a wait set for each callback, and
waits twice for each message, because every callback triggers the guard condition that ends a
wait. That costs more than most callbacks. rclpy's EventsExecutor costs less, but in no release so
far is it sound: benchmarks/stress_executor.py tells what it does with the one that is installed.
"""

from __future__ import annotations

import inspect
import math
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, suppress
from typing import Any, TypeAlias

from rclpy.callback_groups import CallbackGroup, ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.event_handler import EventHandler, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidHandle
from rclpy.executors import (
    ConditionReachedException,
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
    TimeoutObject,
)
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.task import Task
from rclpy.waitable import NumberOfEntities

# mypy: disable-error-code="no-untyped-call, attr-defined"


KINDS = {  # and what a node calls them, in the order in which they are served
    "timer": "timers",
    "subscription": "subscriptions",
    "guard_condition": "guards",
    "client": "clients",
    "service": "services",
}


class CachedWaitSet:
    """Entities as they were when it was made; their handles are in use until it is closed.

    Args:
        nodes: Whose entities.
        guards: Guard conditions that end a wait and are not yielded.
        context: Of nodes and guards.
    """

    def __init__(
        self, nodes: Iterable[Node], guards: Iterable[GuardCondition], context: Context
    ) -> None:
        assert context.handle is not None, "rclpy is initialised before nodes are made"
        self._guards = [guard.handle for guard in guards]
        self._entities: dict[str, dict[int, tuple[Any, Node]]] = {kind: {} for kind in KINDS}
        self._waitables: list[tuple[Any, Node]] = []
        self._events: list[tuple[Any, Node]] = []
        self._looked_at: list[tuple[Any, Node]] = []
        with ExitStack() as held:  # which lets go of all if the context ends meanwhile
            self._held = held
            for handle in (context.handle, *self._guards):
                held.enter_context(handle)
            for node in nodes:
                self._take_in(node)
            self._set = self._make(context)
            self._held = held.pop_all()
        self._groups = self._by_group()
        self._add = {kind: getattr(self._set, f"add_{kind}") for kind in KINDS}

    def _take_in(self, node: Node) -> None:
        for kind, name in KINDS.items():
            for entity in getattr(node, name):
                if self._holds(entity.handle):
                    self._entities[kind][entity.handle.pointer] = entity, node
        for waitable in node.waitables:
            if self._holds(waitable):
                is_event = isinstance(waitable, EventHandler)
                (self._events if is_event else self._waitables).append((waitable, node))

    def _holds(self, handle: Any) -> bool:
        """Keep a handle from being destroyed; whether it was still there."""
        try:
            self._held.enter_context(handle)
        except InvalidHandle:
            return False
        return True

    def _by_group(self) -> list[tuple[CallbackGroup, str, list[Any]]]:
        """Return entities of one callback group and kind, of which all or none may execute."""
        groups: dict[tuple[CallbackGroup, str], list[Any]] = {}
        for kind, entities in self._entities.items():
            for entity, _ in entities.values():
                groups.setdefault((entity.callback_group, kind), []).append(entity)
        return [(group, kind, entities) for (group, kind), entities in groups.items()]

    def _make(self, context: Context) -> Any:
        """Make the wait set, with room for all."""
        timers, subscriptions, guards, clients, services = map(len, self._entities.values())
        guards += len(self._guards)
        size = NumberOfEntities(subscriptions, guards, timers, clients, services)
        for waitable, _ in (*self._waitables, *self._events):
            size += waitable.get_num_entities()
        counts = (getattr(size, slot) for slot in NumberOfEntities.__slots__)
        return rclpy_implementation.WaitSet(*counts, context.handle)

    def wait(self, timeout: int, has_events: bool) -> None:
        """Wait until an entity is ready or a guard condition was triggered.

        Args:
            timeout: Bound [ns]; less than 0 for none.
            has_events: Whether events of publishers and subscriptions end it, too.
        """
        waited = self._set
        waited.clear_entities()
        for handle in self._guards:
            waited.add_guard_condition(handle)
        for group, kind, entities in self._groups:
            if group.can_execute(entities[0]):
                add = self._add[kind]
                for entity in entities:
                    add(entity.handle)
        waitables = [*self._waitables, *self._events] if has_events else self._waitables
        self._looked_at = [(w, n) for w, n in waitables if w.callback_group.can_execute(w)]
        for waitable, _ in self._looked_at:
            waitable.add_to_wait_set(waited)
        waited.wait(timeout)

    def ready(self) -> Iterator[tuple[str, Any, Node]]:
        """Yield what was ready after the last wait: kind, entity, its node."""
        for waitable, node in self._looked_at:
            if waitable.is_ready(self._set):
                yield "waitable", waitable, node
        for kind, entities in self._entities.items():
            if entities:
                for pointer in self._set.get_ready_entities(kind):
                    if pointer in entities:  # and not one of a waitable or ours
                        yield kind, *entities[pointer]

    def close(self) -> None:
        """Let go of all handles: what was destroyed in the meantime goes now."""
        self._held.close()


Work: TypeAlias = tuple[Task, Any, Node | None]

# Each handler of an event of a subscription costs a little at every look, and would keep an
# executor awake that leaves its messages waiting.
QUIET = SubscriptionEventCallbacks(use_default_callbacks=False)
EVENTS = 0.5  # s after which events (a match, a QoS that does not fit) are looked at again
KNOWN = ["entity", "node", "take_from_wait_list"]  # of rclpy 7, which ROS 2 Jazzy has


class StaticExecutor(SingleThreadedExecutor):
    """Runs callbacks in the thread that spins it, as SingleThreadedExecutor does.

    With an rclpy whose insides it does not know it is one.

    Args:
        nap: Between two looks, for messages to gather [s].
    """

    def __init__(self, nap: float = 0.0, **more: Any) -> None:
        super().__init__(**more)
        self.nap = nap
        self._kept: CachedWaitSet | None = None
        self._is_stale = True
        self._next_events = 0.0
        self._waiting = threading.Lock()
        made_of = list(inspect.signature(self._make_handler).parameters)
        self._plain = made_of != KNOWN or not isinstance(getattr(self, "_tasks", None), list)

    def wake(self) -> None:
        """Look again at the entities: rclpy calls this when one has come or gone."""
        self._is_stale = True
        super().wake()

    def add_node(self, node: Node) -> bool:
        """Add a node; return whether it was new."""
        is_new = super().add_node(node)
        self.wake()
        return is_new

    def remove_node(self, node: Node) -> None:
        """Remove a node."""
        super().remove_node(node)
        self.wake()

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """End the spinning and let go of all entities."""
        is_done = super().shutdown(timeout_sec)
        with self._waiting:
            self._let_go()
        return is_done

    def _let_go(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _wait_for_ready_callbacks(
        self,
        timeout_sec: float | TimeoutObject | None = None,
        nodes: list[Node] | None = None,
        condition: Callable[[], bool] = lambda: False,
    ) -> Generator[Any, None, None]:
        """Yield what is to be done, as rclpy's method of this name."""
        if self.nap:
            time.sleep(self.nap)
        if self._plain or nodes is not None:
            yield from super()._wait_for_ready_callbacks(timeout_sec, nodes, condition)
            return
        seconds = timeout_sec.timeout if isinstance(timeout_sec, TimeoutObject) else timeout_sec
        end = None if seconds is None or seconds < 0 else time.monotonic() + seconds
        has_worked = False
        while not has_worked and not self._is_shutdown and not condition():
            # What a look began may be the end of another wait: without a further look, or nap.
            for works in (self._go_on(), self._look(end), self._go_on()):
                for work in works:
                    has_worked = True
                    yield work
            if not has_worked and end is not None and time.monotonic() >= end:
                raise TimeoutException
        if self._is_shutdown:
            raise ShutdownException
        if condition():
            raise ConditionReachedException

    def _go_on(self) -> Iterator[Work]:
        """Yield tasks that have begun, again while one ends, for which another one may wait."""
        left, has_ended = len(self._tasks) + 1, True
        while has_ended and left:
            left -= 1  # a chain in which each begins the next one leaves room for entities
            with self._tasks_lock:
                self._tasks = [work for work in self._tasks if not _is_over(work)]
                begun = self._tasks[::-1]
            yield from begun
            has_ended = any(map(_is_over, begun))

    def _patience(self, end: float | None) -> tuple[int, bool]:
        """Return how long to wait [ns], less than 0 for ever, and whether events are due."""
        now = time.monotonic()
        has_events = now >= self._next_events
        if has_events:
            self._next_events = now + EVENTS
        left = math.inf if end is None else max(0.0, end - now)
        if not has_events:
            left = min(left, EVENTS)
        return (-1 if left == math.inf else int(left * 1e9)), has_events

    def _look(self, end: float | None) -> Iterator[Work]:
        """Wait until `end` on the steady clock [s] and yield what is ready then."""
        timeout, has_events = self._patience(end)
        with self._waiting:
            if self._is_shutdown:
                return
            if self._kept is None or self._is_stale:
                self._is_stale = False  # before the look: what comes meanwhile is seen next time
                self._let_go()
                guards = (self._guard, self._sigint_gc)
                self._kept = CachedWaitSet(self.get_nodes(), guards, self._context)
            self._kept.wait(timeout, has_events)
            ready = list(self._kept.ready())
        if not self._context.ok():
            raise ExternalShutdownException
        for kind, entity, node in ready:
            if kind == "timer" and not entity.handle.is_timer_ready():
                continue  # canceled
            if entity.callback_group.can_execute(entity):
                yield self._make_task(entity, node, kind), entity, node
            elif kind == "guard_condition":
                entity.trigger()  # the others stay ready, this was reset by the wait

    def _make_task(self, entity: Any, node: Node, kind: str) -> Task:
        """Make a task that takes from an entity and calls back; its end wakes no other task."""
        take = getattr(self, f"_take_{kind}")

        async def handle() -> None:
            group = entity.callback_group
            if group.beginning_execution(entity):
                try:
                    call = None
                    with suppress(InvalidHandle):  # it was destroyed after the wait
                        call = take(entity)
                    if call is not None:
                        await call()
                finally:
                    group.ending_execution(entity)

        task = Task(handle, executor=self)
        with self._tasks_lock:
            self._tasks.append((task, entity, node))
        return task


def _is_over(work: Work) -> bool:
    return bool(work[0].done() or work[0].cancelled())


class PolledSubscriptions(ReentrantCallbackGroup):
    """A callback group for such subscriptions, at which the executor does not look.

    How many messages can wait is the depth of their quality of service.
    """

    def can_execute(self, entity: Any) -> bool:
        """Return whether the executor may look at an entity."""
        return not isinstance(entity, Subscription)

    def subscribe(
        self,
        node: Node,
        kind: type,
        topic: str,
        callback: Callable[[Any], None],
        qos: QoSProfile | int,
        raw: bool = False,
    ) -> None:
        """Subscribe in this group; events of the subscription wake no other task either."""
        node.create_subscription(
            kind, topic, callback, qos, callback_group=self, event_callbacks=QUIET, raw=raw
        )

    def take(self) -> None:
        """Call back with all messages that wait; by the thread that spins the node."""
        for reference in list(self.entities):
            entity = reference()
            if isinstance(entity, Subscription):
                _take_all(entity)


def _take_all(subscription: Any) -> None:
    with subscription.handle:
        kind, raw = subscription.msg_type, subscription.raw
        while (taken := subscription.handle.take_message(kind, raw)) is not None:
            subscription.callback(taken[0])
