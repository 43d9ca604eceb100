# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs the program of a node whose callbacks raise once each before they do anything.

python3 -m arm_testing.ros.raising MODULE [arguments]: prints "CREATED kind name" for each
callback, "ARMED nodes all" once all nodes exist, and "RAISED kind name" when a callback has
raised. It changes what nodes pass to rclpy and to `action_server`, so that whatever guards a
callback is that of the product.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from arm_common.ros import node_runner
from arm_common.ros.actions import server as actions
from rclpy.node import Node

_NUMBERS = itertools.count()
_armed: list[bool] = []  # true once the nodes have started: a failing start ends a process


class Fault(Exception):  # noqa: N818
    """Raised by each callback once."""


def _say(what: str, kind: str, name: str) -> None:
    sys.stdout.write(f"{what} {kind} {name}\n")
    sys.stdout.flush()


def raises_once(callback: Callable[..., Any], kind: str, name: str = "") -> Callable[..., Any]:
    """Return a callback that raises at its first call."""
    if getattr(callback, "__module__", "").startswith("rclpy.time_source"):
        return callback
    name = name or f"{getattr(callback, '__qualname__', repr(callback))}#{next(_NUMBERS)}"
    faults = [Fault(f"in {kind} {name}")]
    _say("CREATED", kind, name)

    def check() -> None:
        if faults and _armed:
            _say("RAISED", kind, name)
            raise faults.pop()

    @wraps(callback)
    def raising(*arguments: Any) -> Any:
        check()
        return callback(*arguments)

    @wraps(callback)
    async def raising_later(*arguments: Any) -> Any:
        check()
        return await callback(*arguments)

    return raising_later if inspect.iscoroutinefunction(callback) else raising


def _resolved(node: Node, kind: str, name: str) -> str:
    """Return the full name of a topic or service."""
    resolve = node.resolve_service_name if kind == "service" else node.resolve_topic_name
    return str(resolve(name))


def _patch(owner: Any, method: str, kind: str, index: int, named_by: int | None = None) -> None:
    """Make a method of a class pass on callbacks that raise once."""
    original = getattr(owner, method)
    names = list(inspect.signature(original).parameters)

    @wraps(original)
    def patched(*arguments: Any, **more: Any) -> Any:
        given = list(arguments)
        name = "" if named_by is None else _resolved(given[0], kind, given[named_by])
        if len(given) > index:
            given[index] = raises_once(given[index], kind, name)
        elif more.get(names[index]) is not None:
            more[names[index]] = raises_once(more[names[index]], kind, name)
        return original(*given, **more)

    setattr(owner, method, patched)


def main() -> int:
    """Run the `main` of a module."""
    _patch(Node, "create_subscription", "subscription", 3, 2)
    _patch(Node, "create_service", "service", 3, 2)
    _patch(Node, "create_timer", "timer", 2)
    _patch(Node, "create_guard_condition", "guard", 1)
    _patch(Node, "add_on_set_parameters_callback", "parameters", 1)
    _patch(Node, "add_post_set_parameters_callback", "parameters", 1)
    action_server = actions.action_server

    def patched(node: Node, kind: Any, name: str, execute: Any, **more: Any) -> Any:
        keys = [key for key in more if key.endswith("_callback")]
        changed = {key: raises_once(more[key], "action", f"{name}/{key}") for key in keys}
        execute = raises_once(execute, "action", f"{name}/execute")
        return action_server(node, kind, name, execute, **{**more, **changed})

    guard = node_runner.guard

    def guard_and_arm(nodes: Any) -> None:
        guard(nodes)
        _armed.append(True)
        _say("ARMED", "nodes", "all")

    actions.action_server, node_runner.guard = patched, guard_and_arm
    module = sys.argv.pop(1)
    return int(importlib.import_module(module).main())


if __name__ == "__main__":
    sys.exit(main())
