# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Action servers that keep little of a finished goal.

rclpy keeps a finished goal with its request and result for 900 s, and lists it in each status
message, which every client reads: a goal then costs as much as all goals before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import await_or_execute
from rclpy.node import Node

# mypy: disable-error-code="no-untyped-call"

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
        finally:
            clear(handle.request)

    return _ForgettingServer(
        node, kind, name, execute_and_clear, result_timeout=RESULT_TIMEOUT, **more
    )


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
