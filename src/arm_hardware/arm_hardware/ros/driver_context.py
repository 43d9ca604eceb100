# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the parts of the driver's node share: its parameters, its time, and the driver."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy.clock
from arm_common.errors import InputError, elided, one_line
from arm_description.library import load_robot
from builtin_interfaces.msg import Time

from arm_hardware.clock import SteadyClock
from arm_hardware.control.controller import TrajectoryController
from arm_hardware.driver import Driver
from arm_hardware.errors import ARM, StateError
from arm_hardware.ros.parameters import Constraints, DriverParameters

_LOGGER = logging.getLogger(__name__)
NANO = 1_000_000_000
TRIES, AT_ONCE = 5, 5e-4  # [s]
REPEAT_PERIOD = 5.0  # [s] of wall time between two lines about refusals of one kind
CALLS = 5  # innermost calls to log of an unforeseen exception


class DriverTime:
    """Stamps messages with the node's clock, or with simulated time if the driver's clock is so.

    Simulated time begins with the computer's start: it is the same for all drivers of one speed,
    and does not jump back when a driver is started again.
    """

    def __init__(self, node_clock: rclpy.clock.Clock, clock: SteadyClock) -> None:
        """Use the driver's clock if it differs from wall time."""
        self.simulated = clock.simulated
        self._node_clock = node_clock
        self._clock = clock
        self._epoch = round(clock.origin * NANO)

    def now(self) -> Time:
        """Return the present stamp."""
        return _stamp(self._nanoseconds())

    def at(self, moment: float) -> Time:
        """Return the stamp of a moment of the driver's clock [s]."""
        if self.simulated:
            return _stamp(self._epoch + round(moment * NANO))
        for _ in range(TRIES):
            before, now, after = self._clock.now(), self._nanoseconds(), self._clock.now()
            if after - before < AT_ONCE:
                break  # otherwise the thread was preempted between the two clocks
        return _stamp(now - round((after - moment) * NANO))

    def seconds_until(self, stamp: Time) -> float | None:
        """Return the time until a stamp [s], None for the stamp 0 ("now")."""
        if stamp.sec == 0 and stamp.nanosec == 0:
            return None
        return float(stamp.sec * NANO + stamp.nanosec - self._nanoseconds()) / NANO

    def moment_of(self, stamp: Time) -> float:
        """Return the moment of a stamp on the driver's clock [s]; now for the stamp 0."""
        return self._clock.now() + (self.seconds_until(stamp) or 0.0)

    def _nanoseconds(self) -> int:
        if self.simulated:
            return int(self._epoch + round(self._clock.now() * NANO))
        return int(self._node_clock.now().nanoseconds)


def _stamp(nanoseconds: int) -> Time:
    seconds, rest = divmod(nanoseconds, NANO)
    return Time(sec=seconds, nanosec=rest)


def robot_name(parameters: DriverParameters) -> str:
    """Return the robot's name with the prefix, or that of a file that cannot be read."""
    try:
        name = load_robot(parameters.robot).name
    except InputError:  # reported by configure
        name = Path(parameters.robot).stem
    return f"{parameters.prefix}{name}"


class RefusalLog:
    """Logs refusals: a kind of them once per REPEAT_PERIOD, then how many followed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._since: dict[tuple[Any, ...], float] = {}  # logged last, by kind [s]
        self._repeated = Counter[tuple[Any, ...]]()

    def add(self, what: str, error: Exception, topic: str = "") -> None:
        """Log a refusal, and the topic that tells it; count it if its kind was just logged."""
        kind = what, type(error), getattr(error, "code", None), getattr(error, "joint", None)
        with self._lock:
            now, since = self._clock(), self._since.get(kind)
            if since is not None and now - since < REPEAT_PERIOD:
                self._repeated[kind] += 1
                return
            self._since[kind] = now
        told = f" (also on {topic}, as a rejected goal has no reason)" if topic else ""
        _LOGGER.warning("Refused on %s: %s%s", what, elided(str(error), 500), told)

    def log_repeated(self) -> None:
        """Log the number of refusals that followed a logged one, once its period is over.

        Call it about once a second.
        """
        with self._lock:
            now = self._clock()
            over = [kind for kind, since in self._since.items() if now - since >= REPEAT_PERIOD]
            due = {kind: self._repeated.pop(kind, 0) for kind in over}
            for kind in over:
                del self._since[kind]
        for (what, *_), number in due.items():
            if number:
                _LOGGER.warning(
                    "Refused on %s: %d more within %g s, for a like reason.",
                    what,
                    number,
                    REPEAT_PERIOD,
                )


class DriverContext:
    """A node's parameters and time, and its driver, which exists from configure to cleanup."""

    def __init__(
        self,
        parameters: DriverParameters,
        time: DriverTime,
        constraints: Constraints,
        speed_scaling: float = 1.0,
    ) -> None:
        self.parameters = parameters
        self.robot = robot_name(parameters)  # once: it identifies the hardware in diagnostics
        self.time = time
        self.constraints = constraints
        self.speed_scaling = speed_scaling  # as requested last
        self.driver: Driver | None = None  # None while unconfigured
        self.last_rejection = ""  # why the last command was rejected
        self.refusals = RefusalLog()

    def controller(self) -> TrajectoryController:
        """Return the driver's controller; raise StateError if the node is not configured."""
        driver = self.driver  # read once: another thread may end the driver meanwhile
        if driver is None:
            raise StateError(f"The driver is not configured; run {ARM}.")
        return driver.controller

    def refuse(self, what: str, error: Exception, topic: str = "") -> None:
        """Log why a command was rejected; of a stream's equal ones, the first and their number."""
        self.last_rejection = f"{what}: {error}"
        self.refusals.add(what, error, topic)

    def fail(self, what: str, error: Exception) -> str:
        """Stop the arm after an exception that nobody foresaw, and log where it was raised.

        The arm holds until reset.

        Returns:
            One sentence about it, which the status shows as well.
        """
        cause = one_line(repr(error), 300)
        reason = f"an internal error in {what} ({cause}), please report it"
        calls = reversed(traceback.extract_tb(error.__traceback__)[-CALLS:])
        places = " < ".join(f"{Path(c.filename).name}:{c.lineno} {c.name}" for c in calls)
        _LOGGER.error("Stopped: %s; raised in %s", reason, places)
        self.last_rejection = f"{what}: {cause}"
        driver = self.driver
        if driver is not None:
            driver.controller.stop(reason)
        return f"Stopped: {reason}."
