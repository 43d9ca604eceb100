# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/ros/test_failing_callbacks.py
"""What happens when a callback raises: its node lives on, and whoever asked gets an answer.

The exception is logged with its traceback once, counted on /diagnostics, and answered to the
caller as an error. A node that must react (stop an arm, end a task, withdraw a verdict) has the
method of `FailureListener`.
"""

from __future__ import annotations

import inspect
import threading
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.service import Service

from arm_common.errors import InputError, elided, one_line
from arm_common.ros.qos import STEADY_CLOCK

# mypy: disable-error-code="no-untyped-call, attr-defined"

ANSWER_WITHOUT_ERROR = {
    "arm_interfaces/ListTasks": "no names",
    "lifecycle_msgs/GetAvailableStates": "no states",
    "lifecycle_msgs/GetAvailableTransitions": "no transitions",
    "lifecycle_msgs/GetState": "the state 0 (unknown), without a label",
    "rcl_interfaces/DescribeParameters": "no descriptors",
    "rcl_interfaces/GetParameterTypes": "no types",
    "rcl_interfaces/GetParameters": "no values",
    "rcl_interfaces/ListParameters": "no names",
    "visualization_msgs/GetInteractiveMarkers": "no markers",
}
"""Type of a service whose response has no field for an error -> what it answers after one."""

_REASONS = ("message", "reason", "failure_reason", "error_string")
_FLAGS = ("success", "successful", "feasible")
_CODES = ("status", "error_code", "val")
_CODE_NAMES = ("FAILURE", "INVALID_GOAL", "ERROR_REJECTED")  # the first that a type has
_PERIOD = 1.0  # [s] between two messages on /diagnostics
_MAX_LOGGED = 100  # places whose tracebacks are logged
_MAX_TRACEBACK = 6000  # characters
_MAX_REASON = 300  # characters


@runtime_checkable
class FailureListener(Protocol):
    """A node that reacts to a failed callback of its own."""

    def on_failed_callback(self, reason: str, error: Exception) -> None:
        """React; `reason` is a sentence for a person."""


class CallbackFailures:
    """Logs and counts the failures of one node's callbacks.

    Args:
        publisher: Publisher of /diagnostics, None for a tool; one serves all nodes of a process.
    """

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self._lock = threading.Lock()
        self._count = 0
        self._last = ""
        self._logged: set[tuple[type, str, int]] = set()

    def report(self, node: Node, what: str, error: Exception) -> str:
        """Log and count a failure, and let the node react; return a sentence for the caller."""
        reason = _sentence(node, what, error)
        where = _place(error)
        with self._lock:
            self._count, self._last = self._count + 1, reason
            is_first = self._count == 1
            is_new = where not in self._logged and len(self._logged) < _MAX_LOGGED
            self._logged |= {where} if is_new else set()
        if is_new:
            _log(node, reason, error)
        if self._publisher is not None:
            with suppress(Exception):  # the node is being destroyed
                if is_first:
                    node.create_timer(_PERIOD, partial(self._publish, node), clock=STEADY_CLOCK)
                self._publish(node)
        if isinstance(node, FailureListener):
            try:
                node.on_failed_callback(reason, error)
            except Exception as another:  # noqa: BLE001 - nor may its consequences end the node
                _log(node, _sentence(node, "on_failed_callback", another), another)
        return reason

    def _publish(self, node: Node) -> None:
        status = DiagnosticStatus(
            name=f"{node.get_fully_qualified_name()}: callbacks",
            level=DiagnosticStatus.ERROR,
            message=self._last,
            values=[KeyValue(key="failed callbacks", value=str(self._count))],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = node.get_clock().now().to_msg()
        self._publisher.publish(message)


_FAILURES: WeakKeyDictionary[Node, CallbackFailures] = WeakKeyDictionary()


def guard(nodes: Iterable[Node]) -> None:
    """Let every service of some nodes answer when its callback raises; prepare their reports."""
    publisher = None
    for node in nodes:
        if publisher is None:
            publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        _FAILURES[node] = CallbackFailures(publisher)
        for service in node.services:
            service.callback = _answering(node, service)


def report_failure(node: Node, what: str, error: Exception) -> str:
    """Log and count the failure of a node's callback; return a sentence for the caller."""
    if node not in _FAILURES:  # of a tool, which nobody guards
        _FAILURES[node] = CallbackFailures(None)
    return _FAILURES[node].report(node, what, error)


def _answering(node: Node, service: Service) -> Callable[[Any, Any], Any]:
    """Return the callback of a service; if that raises, it fills a new response."""
    callback: Callable[[Any, Any], Any] = service.callback
    name = service.service_name

    def failed(request: Any, error: Exception) -> Any:
        response = service.srv_type.Response()
        fill_error(response, report_failure(node, name, error), request)
        return response

    async def answer_later(request: Any, response: Any) -> Any:
        try:
            return await callback(request, response)
        except Exception as error:  # noqa: BLE001 - no request ends a node
            return failed(request, error)

    def answer(request: Any, response: Any) -> Any:
        try:
            return callback(request, response)
        except Exception as error:  # noqa: BLE001 - no request ends a node
            return failed(request, error)

    return answer_later if inspect.iscoroutinefunction(callback) else answer


def fill_error(response: Any, reason: str, request: Any = None) -> bool:
    """Write a failure to a new response or result; return False if it has no field for one."""
    code = next((getattr(response, name) for name in _CODE_NAMES if hasattr(response, name)), None)
    has_field = False
    for name in response.get_fields_and_field_types():
        value = getattr(response, name)
        if name in _REASONS and isinstance(value, str):
            setattr(response, name, reason)
        elif name in _CODES and isinstance(value, int) and code is not None:
            setattr(response, name, code)
        elif name == "results" and hasattr(request, "parameters"):
            response.results = [SetParametersResult(reason=reason) for _ in request.parameters]
        elif name in ("result", "error_code") and hasattr(value, "get_fields_and_field_types"):
            has_field |= fill_error(value, reason)
            continue
        elif name not in _FLAGS:  # a flag of a new message is False
            continue
        has_field = True
    return has_field


def _sentence(node: Node, what: str, error: Exception) -> str:
    text = one_line(str(error), _MAX_REASON)
    if isinstance(error, InputError):
        return text
    name = node.get_name()
    return f"an internal error in {what} of {name} ({type(error).__name__}: {text}); see its log"


def _place(error: Exception) -> tuple[type, str, int]:
    """Return the type of an exception and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)
    return type(error), *where


def _log(node: Node, reason: str, error: Exception) -> None:
    text = "" if isinstance(error, InputError) else "".join(traceback.format_exception(error))
    node.get_logger().error(f"{reason}\n{elided(text, _MAX_TRACEBACK)}".rstrip())
