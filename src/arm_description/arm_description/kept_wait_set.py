# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The wait set of all entities of some nodes, made once and waited on again and again."""

# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.context import Context
from rclpy.event_handler import EventHandler
from rclpy.exceptions import InvalidHandle
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.waitable import NumberOfEntities

KINDS = {  # and what a node calls them, in the order in which they are served
    "timer": "timers",
    "subscription": "subscriptions",
    "guard_condition": "guards",
    "client": "clients",
    "service": "services",
}


class KeptWaitSet:
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
