# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Action servers that keep little of a finished goal and answer if a callback raises.

rclpy keeps a finished goal with its request and result for 900 s, and lists it in each status
message, which every client reads: a goal then costs as much as all goals before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import (
    ServerGoalHandle,
    default_cancel_callback,
    default_goal_callback,
    default_handle_accepted_callback,
)
from rclpy.executors import await_or_execute
from rclpy.node import Node

from arm_common.ros.failures import fill_error, report_failure

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
