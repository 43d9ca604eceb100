# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/test_driver.py
"""The control thread: ticks on a monotonic clock, with real-time priority where permitted.

Its heartbeats show watchdogs outside the process that it runs: one is systemd, which ends a
service whose loop hangs; the other is a circuit at the pin OE of the servo board, which switches
its outputs off (docs/safety.md).
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import get_native_id
from typing import TYPE_CHECKING

from arm_hardware.clock import SteadyClock

if TYPE_CHECKING:
    from arm_hardware.bus.gpio_line import GpioLine

NORMAL = "normal"
REMEDY = (
    "allow it with 'LimitRTPRIO=99' in the systemd unit, or with a line '<user> - rtprio 99' in "
    "/etc/security/limits.d and a new login, or set realtime_priority to 0"
)


def raise_priority(priority: int) -> str:
    """Give the calling thread real-time priority (Linux: SCHED_FIFO, 1 to 99; 0: no change).

    The other threads of the process get the next lower one: one that waited for a core while
    holding the interpreter's lock would block the calling thread.

    Returns:
        The thread's scheduling now; if the request was refused, also the reason and the remedy.
    """
    if priority <= 0:
        return NORMAL
    try:
        for thread in other_threads():
            with suppress(ProcessLookupError):  # the thread has just ended
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(max(1, priority - 1)))
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (AttributeError, OSError) as error:
        return f"{NORMAL}; priority {priority} was refused ({error}): {REMEDY}"
    return f"SCHED_FIFO {priority}"


def other_threads() -> list[int]:
    """Return the ids of the process' other threads, [] where /proc is missing (proc(5))."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return []
    return [int(task.name) for task in tasks.iterdir() if int(task.name) != get_native_id()]


_LOGGER = logging.getLogger(__name__)
LATENESS_WINDOW = 1000  # ticks over which lateness is evaluated
CLOSE_WITHIN = 5.0  # [s] of wall time
SHORTEST_TICK = 0.0025  # [s] of wall time, a limit on how fast simulated time can run
# A tick later than this many periods shifts the schedule, instead of being followed by ticks in
# quick succession: those would jerk real servos, but are harmless in simulated time.
SLIP, SLIP_SIMULATED = 0.25, 10.0
# [s] without a heartbeat after which the outputs may have been off; less than the circuit's time
OE_TIMEOUT = 0.5


def tick_period(rate_hz: float, speed: float) -> float:
    """Return the length of a tick [s of the driver's clock]."""
    return max(1.0 / rate_hz, speed * SHORTEST_TICK)


@dataclass(frozen=True)
class Lateness:
    """How late the last ticks began [s of the driver's clock]."""

    ticks: int
    slips: int
    stalls: int
    median: float
    p99: float
    worst: float


class ControlLoop:
    """Calls a function once per period from its own thread until closed."""

    def __init__(
        self,
        tick: Callable[[float], None],
        failed: Callable[[Exception], None],
        clock: SteadyClock,
        period: float,
        slip: float = SLIP,
        priority: int = 0,
        stall: float = 0.0,
        stalled: Callable[[float], None] = lambda late: None,
        ticked: Callable[[], None] = lambda: None,
    ) -> None:
        """Create the loop; ``start`` begins it.

        Args:
            tick: Called with its scheduled moment [s of the clock].
            failed: Called from the thread with an exception of ``tick`` or ``ticked``; the loop
                then continues.
            clock: Time base.
            period: [s of the clock].
            slip: A tick later than this many periods shifts the schedule.
            priority: See raise_priority().
            stall: A tick later than this [s of the clock] is a stall; 0: none is.
            stalled: Called from the thread, before such a tick, with its lateness [s of the
                clock].
            ticked: Called after each tick, even if it raised an exception.
        """
        self._tick = tick
        self._failed = failed
        self._clock = clock
        self._period = period
        self._slip = slip
        self._priority = priority
        self._stall = stall
        self._stalled = stalled
        self._stalls = 0
        self._ticked = ticked
        self.scheduling = NORMAL  # result of raise_priority()
        self._late: deque[float] = deque(maxlen=LATENESS_WINDOW)
        self._ticks = 0
        self._slips = 0
        self._last_failure = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arm_control", daemon=True)

    def start(self) -> None:
        """Start ticking."""
        self._thread.start()

    def close(self) -> bool:
        """End the loop; return False if its last tick hangs."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_WITHIN)
        return not self._thread.is_alive()

    def lateness(self) -> Lateness:
        """Return the lateness of the last ticks; thread-safe."""
        late = sorted(self._late.copy()) or [0.0]
        n = len(late)
        return Lateness(
            self._ticks,
            self._slips,
            self._stalls,
            late[n // 2],
            late[min(n - 1, int(0.99 * n))],
            late[-1],
        )

    def _run(self) -> None:
        self.scheduling = raise_priority(self._priority)
        if self._priority:
            _LOGGER.info("The control loop's scheduling is %s.", self.scheduling)
        due = self._clock.now() + self._period
        while not self._closing.is_set():
            self._clock.sleep_until(due, self._closing)
            if self._closing.is_set():
                return
            late = max(0.0, self._clock.now() - due)
            self._late.append(late)
            self._ticks += 1
            if late > self._slip * self._period:
                self._slips += 1
                due += late
            for step in (partial(self._turn, due, late), self._ticked):
                try:
                    step()
                except Exception as error:  # noqa: BLE001 - a tick must not end the thread
                    self._report(error)
            due += self._period

    def _turn(self, due: float, late: float) -> None:
        if 0.0 < self._stall < late:
            self._stalls += 1
            self._stalled(late)
        self._tick(due)

    def _report(self, error: Exception) -> None:
        """Pass on an exception of a tick; log it unless it repeats the last one."""
        if repr(error) != self._last_failure:
            self._last_failure = repr(error)
            _LOGGER.error("The control loop failed: %s", error)
        try:
            self._failed(error)
        except Exception as another:  # noqa: BLE001 - nor may its consequences
            _LOGGER.error("The failure was not handled: %r", another)


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
        time, pid = environment.get("WATCHDOG_USEC", ""), str(os.getpid())
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
