# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Executor with a cached wait set, and polled subscriptions.

rclpy's SingleThreadedExecutor collects all entities and builds a wait set for each callback, and
waits twice per message, because every callback triggers the guard condition that ends a wait.
That costs more than most callbacks. rclpy's EventsExecutor is cheaper, but no release so far is
sound: benchmarks/stress_executor.py tests the installed one.
"""

from __future__ import annotations

import inspect
import math
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, suppress
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

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
from rclpy.timer import Timer
from rclpy.waitable import NumberOfEntities

# mypy: disable-error-code="no-untyped-call, attr-defined"


KINDS = {  # kind of entity -> attribute of Node, in the order of execution
    "timer": "timers",
    "subscription": "subscriptions",
    "guard_condition": "guards",
    "client": "clients",
    "service": "services",
}


class CachedWaitSet:
    """Wait set over a snapshot of the nodes' entities; their handles are held until it is closed.

    Args:
        nodes: Nodes whose entities it waits for.
        guards: Guard conditions that end a wait and are not yielded.
        context: Context of the nodes and guards.
    """

    def __init__(
        self, nodes: Iterable[Node], guards: Iterable[GuardCondition], context: Context
    ) -> None:
        assert context.handle is not None, "rclpy must be initialised before nodes are created"
        self._guards = [guard.handle for guard in guards]
        self._entities: dict[str, dict[int, tuple[Any, Node]]] = {kind: {} for kind in KINDS}
        self._waitables: list[tuple[Any, Node]] = []
        self._events: list[tuple[Any, Node]] = []
        self._awaited: list[tuple[Any, Node]] = []
        with ExitStack() as held:  # releases all if the context is shut down meanwhile
            self._held = held
            for handle in (context.handle, *self._guards):
                held.enter_context(handle)
            for node in nodes:
                self._add_entities(node)
            self._set = self._make(context)
            self._held = held.pop_all()
        self._groups = self._by_group()
        self._add = {kind: getattr(self._set, f"add_{kind}") for kind in KINDS}

    def _add_entities(self, node: Node) -> None:
        for kind, name in KINDS.items():
            for entity in getattr(node, name):
                if self._holds(entity.handle):
                    self._entities[kind][entity.handle.pointer] = entity, node
        for waitable in node.waitables:
            if self._holds(waitable):
                is_event = isinstance(waitable, EventHandler)
                (self._events if is_event else self._waitables).append((waitable, node))

    def _holds(self, handle: Any) -> bool:
        """Keep a handle from being destroyed; return whether it still existed."""
        try:
            self._held.enter_context(handle)
        except InvalidHandle:
            return False
        return True

    def _by_group(self) -> list[tuple[CallbackGroup, str, list[Any]]]:
        """Return one entity and all handles by group and kind: all or none may execute."""
        groups: dict[tuple[CallbackGroup, str], list[Any]] = {}
        for kind, entities in self._entities.items():
            for entity, _ in entities.values():
                groups.setdefault((entity.callback_group, kind), [entity]).append(entity.handle)
        return [(group, kind, entities) for (group, kind), entities in groups.items()]

    def _make(self, context: Context) -> Any:
        """Create the rcl wait set, large enough for all entities."""
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
            timeout: Maximum time [ns]; negative to wait forever.
            has_events: Whether events of publishers and subscriptions end the wait, too.
        """
        wait_set = self._set
        wait_set.clear_entities()
        for handle in self._guards:
            wait_set.add_guard_condition(handle)
        for group, kind, entities in self._groups:
            if group.can_execute(entities[0]):
                add = self._add[kind]
                for handle in entities[1:]:
                    add(handle)
        waitables = [*self._waitables, *self._events] if has_events else self._waitables
        self._awaited = [(w, n) for w, n in waitables if w.callback_group.can_execute(w)]
        for waitable, _ in self._awaited:
            waitable.add_to_wait_set(wait_set)
        wait_set.wait(timeout)

    def ready(self) -> Iterator[tuple[str, Any, Node]]:
        """Yield kind, entity and node of everything that was ready after the last wait."""
        for waitable, node in self._awaited:
            if waitable.is_ready(self._set):
                yield "waitable", waitable, node
        for kind, entities in self._entities.items():
            if entities:
                for pointer in self._set.get_ready_entities(kind):
                    if pointer in entities:  # not a waitable's, nor one of our guards
                        yield kind, *entities[pointer]

    def close(self) -> None:
        """Release all handles, which lets destroyed entities go."""
        self._held.close()


Work: TypeAlias = tuple[Task, Any, Node | None]

# An event handler of a subscription costs a little in every wait, and would wake the executor for
# a polled subscription.
QUIET = SubscriptionEventCallbacks(use_default_callbacks=False)
_EVENT_PERIOD = 0.5  # [s] between checks for events (match, incompatible QoS)
# Parameters of rclpy's _make_handler in rclpy 7 (ROS 2 Jazzy)
KNOWN_SIGNATURE = ["entity", "node", "take_from_wait_list"]


class StaticExecutor(SingleThreadedExecutor):
    """Single-threaded executor that keeps its wait set until an entity is created or destroyed.

    With an rclpy other than the known one it behaves as SingleThreadedExecutor.

    Args:
        batch_delay: Sleep before a wait, so that messages are handled in batches [s].

    Attributes:
        current_node: Node whose callback is executed or was executed last, None if unknown. A task
            belongs to the node whose callback created it.
    """

    def __init__(self, batch_delay: float = 0.0, **more: Any) -> None:
        self.current_node: Node | None = None
        self._creators: WeakKeyDictionary[Task, Node] = WeakKeyDictionary()
        super().__init__(**more)
        self._batch_delay = batch_delay
        self._in_batch = False  # a wait takes one message of each subscription: more may be left
        self._cached: CachedWaitSet | None = None
        self._is_stale = True
        self._next_events = 0.0
        self._waiting = threading.Lock()
        signature = list(inspect.signature(self._make_handler).parameters)
        has_tasks = isinstance(getattr(self, "_tasks", None), list)
        self._is_plain = signature != KNOWN_SIGNATURE or not has_tasks

    def wake(self) -> None:
        """Collect the entities anew: rclpy calls this when one was created or destroyed."""
        self._is_stale = True
        super().wake()

    def create_task(self, callback: Any, *args: Any, **more: Any) -> Task:
        """Create a task as rclpy does, and record the node whose callback creates it."""
        task = super().create_task(callback, *args, **more)
        if self.current_node is not None:
            self._creators[task] = self.current_node
        return task

    def wait_for_ready_callbacks(self, *args: Any, **more: Any) -> Any:
        """Return the next ready callback as rclpy does, and record its node."""
        self.current_node = None
        work: Any = super().wait_for_ready_callbacks(*args, **more)
        self.current_node = work[2] or self._creators.get(work[0])
        return work

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
        """Stop spinning and release all entities."""
        is_done = super().shutdown(timeout_sec)
        with self._waiting:
            self._release()
        return is_done

    def _release(self) -> None:
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def _wait_for_ready_callbacks(
        self,
        timeout_sec: float | TimeoutObject | None = None,
        nodes: list[Node] | None = None,
        condition: Callable[[], bool] = lambda: False,
    ) -> Generator[Any, None, None]:
        """Yield tasks that are ready; overrides rclpy's method."""
        if self._is_plain or nodes is not None:
            yield from super()._wait_for_ready_callbacks(timeout_sec, nodes, condition)
            return
        seconds = timeout_sec.timeout if isinstance(timeout_sec, TimeoutObject) else timeout_sec
        end = None if seconds is None or seconds < 0 else time.monotonic() + seconds
        has_worked = False
        while not has_worked and not self._is_shutdown and not condition():
            if self._batch_delay and not self._in_batch:
                time.sleep(self._batch_delay)
            until = time.monotonic() if self._in_batch else end
            self._in_batch = False
            # A new task may complete a future that another task awaits: resume it at once.
            for works in (self._resumed(), self._wait(until), self._resumed()):
                for work in works:
                    has_worked = True
                    yield work
            if not has_worked and end is not None and time.monotonic() >= end:
                raise TimeoutException
        if self._is_shutdown:
            raise ShutdownException
        if condition():
            raise ConditionReachedException

    def _resumed(self) -> Iterator[Work]:
        """Yield begun tasks, repeatedly while one ends that another one may await."""
        left, has_ended = len(self._tasks) + 1, True
        while has_ended and left:
            left -= 1  # bounded: tasks that each start another one must not starve the entities
            with self._tasks_lock:
                self._tasks = [work for work in self._tasks if not _is_over(work)]
                begun = self._tasks[::-1]
            yield from begun
            has_ended = any(map(_is_over, begun))

    def _timeout(self, end: float | None) -> tuple[int, bool]:
        """Return the timeout of the next wait [ns] (negative: none) and whether events are due."""
        now = time.monotonic()
        has_events = now >= self._next_events
        if has_events:
            self._next_events = now + _EVENT_PERIOD
        left = math.inf if end is None else max(0.0, end - now)
        if not has_events:
            left = min(left, _EVENT_PERIOD)
        return (-1 if left == math.inf else int(left * 1e9)), has_events

    def _wait(self, end: float | None) -> Iterator[Work]:
        """Wait, at most until `end` on the steady clock [s], and yield tasks of ready entities."""
        timeout, has_events = self._timeout(end)
        with self._waiting:
            if self._is_shutdown:
                return
            if self._cached is None or self._is_stale:
                self._is_stale = False  # first: an entity created meanwhile is collected next time
                self._release()
                guards = (self._guard, self._sigint_gc)
                self._cached = CachedWaitSet(self.get_nodes(), guards, self._context)
            self._cached.wait(timeout, has_events)
            ready = list(self._cached.ready())
            self._in_batch = self._batch_delay > 0.0 and bool(ready)
        if not self._context.ok():
            raise ExternalShutdownException
        for kind, entity, node in ready:
            if kind == "timer" and not entity.handle.is_timer_ready():
                continue  # canceled
            if entity.callback_group.can_execute(entity):
                yield self._make_task(entity, node, kind), entity, node
            elif kind == "guard_condition":
                entity.trigger()  # the wait has reset it, unlike other entities, which stay ready

    def _make_task(self, entity: Any, node: Node, kind: str) -> Task:
        """Return a task that takes from an entity and executes its callback.

        Unlike rclpy's, it does not trigger the guard condition at its end.
        """
        take = getattr(self, f"_take_{kind}")

        async def handle() -> None:
            group = entity.callback_group
            if group.beginning_execution(entity):
                try:
                    call = None
                    with suppress(InvalidHandle):  # destroyed since the wait
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
    """Callback group of subscriptions that the executor ignores and the node polls.

    The depth of their QoS is the number of messages that can wait.
    """

    def can_execute(self, entity: Any) -> bool:
        """Return whether the executor may wait for an entity."""
        return not isinstance(entity, Subscription)

    def subscribe(
        self,
        node: Node,
        kind: type,
        topic: str,
        callback: Callable[[Any], None],
        qos: QoSProfile | int,
        raw: bool = False,
    ) -> Subscription:
        """Subscribe in this group, without the default event handlers."""
        return node.create_subscription(
            kind, topic, callback, qos, callback_group=self, event_callbacks=QUIET, raw=raw
        )

    def take(self) -> None:
        """Execute the callbacks of all waiting messages, in the thread that spins the node."""
        for reference in list(self.entities):
            entity = reference()
            if isinstance(entity, Subscription):
                _take_all(entity)


def destroy_timer(node: Node, timer: Timer) -> None:
    """Destroy a timer; unlike `Node.destroy_timer`, leave nothing in its callback group."""
    timer.callback_group.entities.discard(weakref.ref(timer))
    node.destroy_timer(timer)


def _take_all(subscription: Any) -> None:
    """Handle what waits, but not for ever what arrives faster than it can be handled."""
    with subscription.handle:
        kind, raw = subscription.msg_type, subscription.raw
        for _ in range(subscription.qos_profile.depth):
            if (taken := subscription.handle.take_message(kind, raw)) is None:
                return
            subscription.callback(taken[0])
