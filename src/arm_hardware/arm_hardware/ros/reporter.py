# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-call, attr-defined"
"""Publishes what the driver does, from a thread of its own: often while moving, rarely at rest."""

from __future__ import annotations

import threading
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from arm_hardware.ros import messages
from arm_hardware.ros.diagnostics import diagnostics
from arm_hardware.states import UNCONFIGURED, State
from arm_interfaces.msg import HardwareStatus

FASTEST = 0.01  # [s] of the wall between two joint_states, however fast simulated time runs
CLOCK_PERIOD = 0.02  # [s] of the wall between two /clock
REST_PERIOD = 0.2  # [s] of the wall between two joint_states at rest
SLOW_PERIOD = 1.0  # [s] of the wall between two diagnostics, and two status without change


class Reporter:
    """joint_states, status, the goal, diagnostics and, in simulated time, /clock."""

    def __init__(self, node: Any) -> None:
        """Make the publishers and begin.

        Args:
            node: The HardwareNode.
        """
        self._node = node
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._states = node.create_publisher(JointState, "joint_states", 10)
        self._status = node.create_publisher(HardwareStatus, "~/status", latched)
        self._goal = node.create_publisher(JointState, "arm_controller/goal", latched)
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._simulated = node.parameters.options.speed != 1.0
        self._clock = node.create_publisher(Clock, "/clock", 10) if self._simulated else None
        options = node.parameters.options
        self._moving_period = max(
            FASTEST, 1.0 / (node.parameters.joint_state_rate_hz * options.speed)
        )
        self._lock = threading.Lock()
        self._due = dict.fromkeys(("states", "status", "diagnostics", "clock"), 0.0)
        self._shown: tuple[State, str] | None = None
        self._bound_for: tuple[float, ...] = ()
        self._wake = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="arm_reporter", daemon=True)

    def start(self) -> None:
        """Begin to publish."""
        self._thread.start()

    def wake(self) -> None:
        """Publish soon, since something changed; cheap, from any thread."""
        self._wake.set()

    def close(self) -> None:
        """Publish a last time and end."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def publish(self, everything: bool = False) -> None:
        """Publish what is due now, or all but diagnostics."""
        with self._lock:
            now = time.monotonic()
            driver = self._node.driver
            snapshot = driver.motion.snapshot() if driver else UNCONFIGURED
            stamp = self._node.time.now()
            if self._clock is not None and (
                everything or self._is_due("clock", now, CLOCK_PERIOD)
            ):
                self._clock.publish(Clock(clock=stamp))
            moving = snapshot.state is State.MOVING
            shown = (snapshot.state, snapshot.message)
            changed = everything or shown != self._shown
            period = self._moving_period if moving else REST_PERIOD
            if self._is_due("states", now, period) or changed:
                state = messages.joint_state(driver.axes, snapshot, stamp) if driver else None
                if state is not None:
                    self._states.publish(state)
            if driver and snapshot.bound_for != self._bound_for:
                self._goal.publish(messages.goal(driver.axes, snapshot, stamp))
                self._bound_for = snapshot.bound_for
            if self._is_due("status", now, SLOW_PERIOD) or changed:
                hardware = self._node.parameters.options.hardware
                self._status.publish(messages.status(hardware, driver, snapshot, stamp))
                self._shown = shown
            if self._is_due("diagnostics", now, SLOW_PERIOD):
                self._diagnostics.publish(diagnostics(self._node, snapshot, stamp))

    def _is_due(self, what: str, now: float, period: float) -> bool:
        """Return whether a publication is due, and plan the next on a steady grid."""
        if now < self._due[what] - 0.001 and self._due[what] - now <= period:
            return False
        behind = now - self._due[what] > period
        self._due[what] = (now if behind else self._due[what]) + period
        return True

    def _run(self) -> None:
        while True:
            left = min(self._due.values() if self._clock else self._due_without_clock())
            self._wake.wait(max(0.0, min(left - time.monotonic(), REST_PERIOD)))
            self._wake.clear()
            self.publish()
            if self._closing:
                return

    def _due_without_clock(self) -> list[float]:
        return [due for what, due in self._due.items() if what != "clock"]
