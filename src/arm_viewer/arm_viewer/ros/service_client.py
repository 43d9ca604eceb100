# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A service that is called without blocking; responses arrive in the node's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_services_default

# mypy: disable-error-code="no-untyped-call"


class ServiceClient:
    """A client of one service.

    Args:
        node: The node that calls.
        kind: The service's type.
        name: The service's name.
        unavailable: Takes one sentence if the service is called while no node provides it.
        qos: Quality of service of requests and responses.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        unavailable: Callable[[str], None] | None = None,
        qos: QoSProfile = qos_profile_services_default,
    ) -> None:
        self._client = node.create_client(kind, name, qos_profile=qos)
        self._name, self._unavailable = name, unavailable

    @property
    def ready(self) -> bool:
        """Whether a node provides the service."""
        return bool(self._client.service_is_ready())

    def call(self, request: Any, on_response: Callable[[Any], None] | None = None) -> bool:
        """Send a request; return False if no node provides the service."""
        if not self.ready:
            if self._unavailable is not None:
                self._unavailable(f"The service {self._name} is not available.")
            return False
        future = self._client.call_async(request)
        if on_response is not None:
            future.add_done_callback(lambda done: on_response(done.result()))
        return True
