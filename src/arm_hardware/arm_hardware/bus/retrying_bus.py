# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A bus that retries failed transfers and can be halted immediately."""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from arm_hardware.bus.interface import Bus
from arm_hardware.errors import BusError

T = TypeVar("T")
_LOGGER = logging.getLogger(__name__)
TRIES = 3  # attempts at one transfer before the bus counts as lost
GIVE_UP_AFTER = 0.1  # [s] of wall time after which a failed transfer is not retried

# Causes of bus errors (Linux, Documentation/i2c/fault-codes.rst).
_NO_CHIP = "no chip acknowledges; check its power and the wires SDA and SCL"
HINTS = {
    errno.EREMOTEIO: _NO_CHIP,
    errno.ENXIO: _NO_CHIP,
    errno.EIO: "transfers are disturbed; check the wires, keep them short and off the motors'",
    errno.ETIMEDOUT: "the bus is stuck, a wire or a chip holds SDA or SCL; check wires and power",
}


class RetryingBus:
    """A bus that retries failed transfers; error messages end with ``remedy``."""

    def __init__(self, bus: Bus, remedy: str = "deactivate and activate") -> None:
        self.bus = bus
        self._remedy = remedy
        self.faults = 0  # transfers that failed
        # While true, no channel is written, not even by a retry; set from any thread, without a
        # lock.
        self.halted = False

    def open(self) -> None:
        """See Bus.open()."""
        self._repeat(self.bus.open, "configure again")

    def start(self) -> None:
        """See Bus.start()."""
        self._repeat(self.bus.start)

    def running(self) -> bool:
        """See Bus.running()."""
        return self._repeat(self.bus.running)

    def read(self, channels: Iterable[int]) -> dict[int, int | None]:
        """See Bus.read_counts()."""
        numbers = list(channels)
        return self._repeat(lambda: self.bus.read_counts(numbers))

    def write(self, channel: int, count: int) -> bool:
        """Set the count of one channel, unless halted; return whether it was set."""

        def transfer() -> bool:
            if self.halted:
                return False
            self.bus.write_counts({channel: count})
            return True

        return self._repeat(transfer)

    def release(self, channels: Iterable[int]) -> None:
        """See Bus.release(); works while halted, too."""
        numbers = list(channels)
        self._repeat(lambda: self.bus.release(numbers))

    def _repeat(self, transfer: Callable[[], T], then: str = "") -> T:
        """Run a transfer and retry it if it fails; raise BusError if it keeps failing.

        ``then`` replaces the usual remedy in the error.
        """
        begin = time.monotonic()
        for left in reversed(range(TRIES)):
            try:
                return transfer()
            except OSError as error:
                self.faults += 1
                if left == 0 or time.monotonic() - begin > GIVE_UP_AFTER:
                    hint = HINTS.get(error.errno or 0, "check power and wires")
                    raise BusError(
                        f"{self.bus.name} does not answer ({error}): {hint}; then "
                        f"{then or self._remedy}."
                    ) from error
                _LOGGER.debug("A transfer failed and is repeated: %s", error)
        raise AssertionError("unreachable")
