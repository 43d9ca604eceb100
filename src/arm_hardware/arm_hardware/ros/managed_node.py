# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A lifecycle node that answers every request for a transition.

rclpy hands a transition that the present state does not allow to rcl, whose error would leave the
service's callback. It turns an exception of a transition into ``on_error``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rclpy.lifecycle import LifecycleNode
from rclpy.service import Service

from arm_hardware.errors import HardwareError, StateError

# mypy: disable-error-code="no-untyped-call, attr-defined"

_Callback: TypeAlias = Callable[[ChangeState.Request, ChangeState.Response], ChangeState.Response]


class ManagedNode(LifecycleNode, ABC):  # type: ignore[misc]
    """Lifecycle node whose transitions come one at a time and only where they are possible."""

    def __init__(self, name: str) -> None:
        """Create a node of a name with its lifecycle services."""
        super().__init__(name)
        self._transitions = threading.RLock()  # held during a transition
        change = self._lifecycle_service("change_state")
        self._change: _Callback = change.callback
        change.callback = self._on_change_state

    @abstractmethod
    def refuse(self, what: str, error: Exception) -> None:
        """Log and report why a request was refused."""

    @abstractmethod
    def fail(self, what: str, error: Exception) -> str:
        """Hold after an unforeseen exception; return one sentence about it."""

    def reach(self, *labels: str) -> bool:
        """Make transitions in turn, skipping impossible ones; return whether none failed."""
        with self._transitions:
            for label in labels:
                request = ChangeState.Request()
                request.transition.label = label
                if label in self._possible().values() and not self._make(request):
                    return False
        return True

    def _on_change_state(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        response.success = False
        with self._transitions:
            try:
                self._require_possible(request)
                response.success = self._make(request)
            except HardwareError as error:
                self.refuse("change_state", error)
            except Exception as error:  # noqa: BLE001 - no request ends the process
                self.fail("change_state", error)
        return response

    def _make(self, request: ChangeState.Request) -> bool:
        return bool(self._change(request, ChangeState.Response()).success)

    def _require_possible(self, request: ChangeState.Request) -> None:
        """Raise StateError for a transition that the present state does not allow."""
        possible, wanted = self._possible(), request.transition
        if wanted.label in possible.values() if wanted.label else wanted.id in possible:
            return
        names = ", ".join(possible.values()) or "none"
        raise StateError(
            f"Transition {wanted.label or wanted.id} is not possible in state {self._label()}; "
            f"possible: {names}."
        )

    def _possible(self) -> dict[int, str]:
        """Return ids and labels of the transitions that the present state allows."""
        answer = self._lifecycle_service("get_available_transitions").callback(
            GetAvailableTransitions.Request(), GetAvailableTransitions.Response()
        )
        return {t.transition.id: t.transition.label for t in answer.available_transitions}

    def _label(self) -> str:
        service = self._lifecycle_service("get_state")
        return str(service.callback(GetState.Request(), GetState.Response()).current_state.label)

    def _lifecycle_service(self, name: str) -> Service:
        full = f"{self.get_fully_qualified_name()}/{name}"
        return next(service for service in self.services if service.service_name == full)
