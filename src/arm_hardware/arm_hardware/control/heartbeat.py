# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Heartbeats of the control loop for watchdogs outside the process.

One is systemd, which ends a service whose loop hangs; the other is a circuit at the pin OE of the
servo board, which switches its outputs off (docs/safety.md).
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from os import getpid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arm_hardware.bus.gpio_line import GpioLine

# [s] without a heartbeat after which the outputs may have been off; less than the circuit's time
OE_TIMEOUT = 0.5


class SystemdNotifier:
    """Sends notifications to systemd (sd_notify(3)), none where NOTIFY_SOCKET is not set.

    The watchdog (``WatchdogSec=`` of the unit) is on between watch() and unwatch(). A manager that
    does not read its socket cannot block the sender.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Read the socket and the watchdog's time from the environment of the process."""
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._microseconds = 0
        time, pid = environment.get("WATCHDOG_USEC", ""), str(getpid())
        if time.isdigit() and environment.get("WATCHDOG_PID", pid) == pid:
            self._microseconds = int(time)
        self._next = 0.0

    def ready(self) -> None:
        """Report that the start is complete."""
        self._send("READY=1")

    def watch(self) -> None:
        """Turn the watchdog on."""
        self._next = 0.0
        self._send_watchdog(f"WATCHDOG_USEC={self._microseconds}")

    def unwatch(self) -> None:
        """Turn the watchdog off, because no control loop is meant to run."""
        self._send_watchdog("WATCHDOG_USEC=0")

    def beat(self, now: float) -> None:
        """Report that the loop ran at a moment [s]; sent twice in the watchdog's time."""
        if now >= self._next:
            self._next = now + self._microseconds * 0.5e-6
            self._send_watchdog("WATCHDOG=1")

    def _send_watchdog(self, message: str) -> None:
        if self._microseconds:
            self._send(message)

    def _send(self, message: str) -> None:
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(message.encode(), self._address)


class OeHeartbeat:
    """Toggles a line; a circuit keeps the board's outputs on while it does."""

    def __init__(self, line: GpioLine, now: float) -> None:
        """Create a heartbeat that begins at a moment [s]."""
        self._line = line
        self._last = now
        self._level = False

    def interrupted(self, now: float) -> bool:
        """Return whether the outputs may have been off since the last beat."""
        return now - self._last > OE_TIMEOUT

    def beat(self, now: float) -> None:
        """Toggle the line, or raise BusError."""
        self._level = not self._level
        self._line.set(self._level)
        self._last = now

    def close(self) -> None:
        """End the heartbeat."""
        self._line.close()
