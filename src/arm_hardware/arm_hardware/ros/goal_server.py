# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An action server whose goals are validated on arrival and executed by the controller.

A goal starts in its accepted callback, so goals start in the order of their acceptance, which
rclpy does not guarantee for execute callbacks. Each running goal blocks one executor thread,
because rclpy's executor would poll a coroutine at full CPU load.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from arm_common.ros.actions.server import CLIENT_LOST, GoalOwner, GoalOwners, action_server
from arm_common.ros.qos import GOAL
from diagnostic_msgs.msg import KeyValue
from rclpy.action import CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from arm_hardware.control.controller import TrajectoryController
from arm_hardware.errors import INVALID_GOAL, CommandError, HardwareError
from arm_hardware.motion.execution import Goal, GoalOutcome
from arm_hardware.ros.driver_context import DriverContext

# mypy: disable-error-code="no-untyped-call, attr-defined"

_LOGGER = logging.getLogger(__name__)
CANCEL_WITHIN = 5.0  # [s] of wall time from the cancel callback to the server's change of state


class Running(NamedTuple):
    """A goal and the controller that executes it."""

    goal: Goal
    controller: TrajectoryController


class Prepared(NamedTuple):
    """The controller of a validated and planned goal, and the function that starts it."""

    controller: TrajectoryController
    begin: Callable[[], Goal]


class GoalServer(ABC):
    """Base class of action servers whose goals are executed by the controller."""

    action: Any  # its type
    name: str

    def __init__(
        self, node: Node, context: DriverContext, publish_now: Callable[[], None]
    ) -> None:
        """Create a server on a node; ``publish_now`` is called before a result goes out."""
        self._context = context
        self._publish_now = publish_now
        self._reasons = node.create_publisher(KeyValue, "~/refusal", GOAL)
        self._prepared: Prepared | None = None
        self._running: dict[bytes, Running] = {}
        timeout = context.parameters.client_timeout
        self._owners = GoalOwners(node, self.action, self.name, timeout)
        self._group = MutuallyExclusiveCallbackGroup()
        self._server = action_server(
            node,
            self.action,
            self.name,
            self._execute,
            callback_group=self._group,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    @abstractmethod
    def _prepare(self, goal: Any) -> Prepared:
        """Validate and plan a goal message, or raise HardwareError."""

    @abstractmethod
    def _feedback(self, running: Running) -> Any:
        """Return a feedback message, or None."""

    @abstractmethod
    def _result(self, running: Running) -> Any:
        """Return the result message of a goal that has ended."""

    @property
    def busy(self) -> bool:
        """Whether any goal has no result yet."""
        return bool(self._running)

    def _on_goal(self, message: Any) -> GoalResponse:
        try:
            self._prepared = self._prepare(message)
        except HardwareError as error:
            self._context.refuse(self.name, error)
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - no goal ends the process
            reason = self._context.fail(self.name, error)
        else:
            return GoalResponse.ACCEPT
        self._reasons.publish(KeyValue(key=self.name, value=reason))
        return GoalResponse.REJECT

    def _on_accepted(self, handle: Any) -> None:
        prepared, self._prepared = self._prepared, None
        assert prepared is not None, "rclpy calls this right after the goal callback"
        try:
            goal = prepared.begin()
        except HardwareError as error:
            self._context.refuse(self.name, error)
            code = error.code if isinstance(error, CommandError) else INVALID_GOAL
            goal = _aborted(code, str(error))
        except Exception as error:  # noqa: BLE001
            goal = _aborted(INVALID_GOAL, self._context.fail(self.name, error))
        self._running[bytes(handle.goal_id.uuid)] = Running(goal, prepared.controller)
        handle.execute()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        running = self._running.get(bytes(handle.goal_id.uuid))
        if running is None:
            return CancelResponse.REJECT
        running.controller.cancel(running.goal)
        return CancelResponse.ACCEPT

    def _execute(self, handle: Any) -> Any:
        key = bytes(handle.goal_id.uuid)
        running = self._running[key]
        with self._owners.watch(handle.goal_id) as owner:
            self._wait(handle, running, owner)
        try:
            self._publish_now()
        except Exception as error:  # noqa: BLE001 - the goal has its result nevertheless
            self._context.fail(self.name, error)
        finally:
            _set_terminal_state(handle, running.goal)
            del self._running[key]
        return self._result(running)

    def _wait(self, handle: Any, running: Running, owner: GoalOwner) -> None:
        """Report a goal until it ends."""
        period = 1.0 / self._context.parameters.action_monitor_rate  # [s] of wall time
        while not running.goal.wait(period):
            try:
                self._report(handle, running, owner)
            except Exception as error:  # noqa: BLE001 - it ends the goal, not the process
                running.goal.finish(
                    GoalOutcome.ABORTED, INVALID_GOAL, self._context.fail(self.name, error)
                )

    def _report(self, handle: Any, running: Running, owner: GoalOwner) -> None:
        """Publish feedback; end the motion if the client is lost."""
        message = self._feedback(running)
        if message is None:
            return
        owner.publish_feedback(handle, message)
        if owner.is_lost():
            running.controller.give_up(running.goal, f"{CLIENT_LOST[0].upper()}{CLIENT_LOST[1:]}.")


def _aborted(code: int, why: str) -> Goal:
    """Return a goal that has ended before it began."""
    goal = Goal()
    goal.finish(GoalOutcome.ABORTED, code, why)
    return goal


def _set_terminal_state(handle: Any, goal: Goal) -> None:
    """Set the terminal state of an action goal to the outcome of the driver's goal."""
    try:
        if goal.outcome is GoalOutcome.SUCCEEDED:
            handle.succeed()
        elif goal.outcome is GoalOutcome.CANCELED and _cancel_requested(handle):
            handle.canceled()
        else:
            handle.abort()
    except rclpy_implementation.RCLError as error:
        _LOGGER.debug("A goal has already ended: %s", error)


def _cancel_requested(handle: Any) -> bool:
    """Wait for the action server to register the cancel request; return whether it did.

    An arm at rest ends the goal even before that.
    """
    deadline = time.monotonic() + CANCEL_WITHIN
    while not handle.is_cancel_requested:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True
