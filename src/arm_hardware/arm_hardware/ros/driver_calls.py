# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/ros/test_driver_calls.py
"""Calls the services of running drivers from a tool: arm, disarm, stop, reset, release."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from arm_common.ros.node_runner import checked_namespace, session
from arm_common.ros.qos import LATCHED, service_qos
from arm_common.suggestions import program
from rclpy.node import Node
from std_srvs.srv import Trigger

from arm_hardware.errors import StateError
from arm_interfaces.msg import HardwareStatus
from arm_interfaces.srv import Rehearse

# mypy: disable-error-code="no-untyped-call"

_NAME = "arm_hardware"  # of every driver's node
_DISCOVERY = 5.0  # [s] until a driver that is not in the graph does not exist
_LOOK_PERIOD = 0.05  # [s] between looks at the graph
_LONGEST = 30.0  # [s] to look, however often nodes come and go
_TIMEOUT = 30.0  # [s] for the answer of a service; configuring reads every servo
_ARMED = (HardwareStatus.ARMED, HardwareStatus.MOVING)
_STATES = {
    getattr(HardwareStatus, name): name
    for name in ("UNKNOWN", "DISARMED", "ARMED", "MOVING", "STOPPED", "FAULT")
}


class DriverCalls:
    """The services of one driver, and its status.

    All methods raise StateError with one sentence if the driver refuses or does not answer.
    """

    def __init__(self, node: Node, name: str) -> None:
        """Subscribe to the status of the driver of a full name, such as ``/left/arm_hardware``."""
        self.name = name
        self._node = node
        self._status: HardwareStatus | None = None
        node.create_subscription(HardwareStatus, f"{name}/status", self._on_status, LATCHED)

    def trigger(self, service: str) -> str:
        """Call disarm, stop, reset or release; return the driver's sentence."""
        return self._call(Trigger, service, Trigger.Request())

    def rehearse(self, event: str, servo: str, value: float) -> str:
        """Let simulated servos fail; return the driver's sentence."""
        request = Rehearse.Request(event=event, servo=servo, value=value)
        return self._call(Rehearse, "rehearse", request)

    def watch(self, seconds: float, notify: Callable[[str], None]) -> None:
        """Report what the driver's status says, and each change within a time [s]."""
        told, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            if self._status is not None and self._status.message != told:
                told = str(self._status.message)
                notify(f"{_STATES[self._status.state]}: {told}")
            rclpy.spin_once(self._node, timeout_sec=0.05)

    def arm(self, notify: Callable[[str], None]) -> str:
        """Arm the driver, anew if it had failed, and wait until it accepts motions.

        Args:
            notify: takes each sentence of the driver until then.

        Returns:
            The driver's sentence.
        """
        self.trigger("arm")
        self._status = None  # that of the state before
        told, end = "it publishes no status.", time.monotonic() + _TIMEOUT
        while time.monotonic() < end:
            status = self._status
            if status is not None and status.state in _ARMED:
                return str(status.message)
            if status is not None and status.message != told:
                told, end = str(status.message), time.monotonic() + _TIMEOUT
                if status.state in (HardwareStatus.FAULT, HardwareStatus.STOPPED):
                    raise StateError(told)
                notify(told)
            rclpy.spin_once(self._node, timeout_sec=0.05)
        raise StateError(f"{self.name} is not ready within {_TIMEOUT:g} s: {told}")

    def _on_status(self, message: HardwareStatus) -> None:
        self._status = message

    def _call(self, kind: Any, service: str, request: Any) -> str:
        name = f"{self.name}/{service}"
        client = self._node.create_client(kind, name, qos_profile=service_qos(service))
        if not client.wait_for_service(_DISCOVERY):
            raise StateError(f"{self.name} has no service {service}.")
        future = client.call_async(request)
        rclpy.spin_until_future_complete(self._node, future, timeout_sec=_TIMEOUT)
        if not future.done():
            raise StateError(f"{self.name} did not answer within {_TIMEOUT:g} s.")
        response = future.result()
        if not response.success:
            raise StateError(response.message)
        return str(response.message)


@contextmanager
def drivers(namespace: str = "", settled: float = 1.0) -> Iterator[Iterator[DriverCalls]]:
    """Yield an iterator over the running drivers, each as soon as it is discovered.

    Args:
        namespace: that of the one driver of interest; "" for all.
        settled: time without a new node after which there are no other drivers [s].

    Raises:
        InputError: The namespace is invalid.
    """
    place = checked_namespace(namespace)
    with session():
        node = rclpy.create_node(f"driver_calls_{os.getpid()}")
        try:
            yield (DriverCalls(node, name) for name in _discovered(node, place, settled))
        finally:
            node.destroy_node()


def _discovered(node: Node, namespace: str, settled: float) -> Iterator[str]:
    """Yield the full names of the drivers, until no other appears."""
    wait, begin, looks = _DISCOVERY, time.monotonic(), 0
    limit = begin + _LONGEST
    nodes, seen = set[tuple[str, str]](), set[str]()
    # Looks count as well as time: a process without processor time has discovered nothing.
    while (now := time.monotonic()) < limit and (
        now < begin + wait or looks * _LOOK_PERIOD < wait
    ):
        former, nodes = nodes, set(node.get_node_names_and_namespaces())
        if seen and nodes != former:  # others are still being discovered
            begin, looks = time.monotonic(), 0
        for name, space in nodes:
            full = f"{space.rstrip('/')}/{name}"
            if name != _NAME or full in seen or namespace not in ("", space):
                continue
            seen.add(full)
            yield full
            if namespace:
                return
            wait, begin, looks = settled, time.monotonic(), 0
        rclpy.spin_once(node, timeout_sec=_LOOK_PERIOD)
        looks += 1


def only_driver(found: Iterator[DriverCalls]) -> DriverCalls:
    """Return the one driver that runs; raise StateError without one, and for several."""
    running = list(found)
    if not running:
        start = program("arm_hardware", "driver")
        raise StateError(f"No driver is running in this ROS_DOMAIN_ID; start one: {start} ROBOT")
    if len(running) > 1:
        names = ", ".join(sorted(driver.name.rpartition("/")[0] or "/" for driver in running))
        raise StateError(f"{len(running)} drivers are running: choose one by --namespace: {names}")
    return running[0]
