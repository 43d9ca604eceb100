# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An executor that keeps its wait set while no entity comes or goes, and may let messages gather.

rclpy's SingleThreadedExecutor collects all entities and makes a wait set at each look, and looks
twice for each message, because every callback triggers the guard condition it waits for itself.
That costs more than most callbacks. rclpy's EventsExecutor is experimental and, in releases that
are installed, touches freed memory (rclpy pull request 1563).
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import inspect
import math
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeAlias

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import (
    ConditionReachedException,
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
    TimeoutObject,
)
from rclpy.node import Node
from rclpy.task import Task

from .kept_wait_set import KeptWaitSet

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
        self._kept: KeptWaitSet | None = None
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
                self._kept = KeptWaitSet(self.get_nodes(), guards, self._context)
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
        """Make a task that takes from an entity and calls back; it wakes nobody at its end."""
        take = getattr(self, f"_take_{kind}")

        async def handle() -> None:
            group = entity.callback_group
            if group.beginning_execution(entity):
                try:
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
