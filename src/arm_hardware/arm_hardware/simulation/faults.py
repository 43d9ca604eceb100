# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Faults that can be injected into the simulated I2C bus.

driver.sim.faults.fail_next(errno.EREMOTEIO)             # a loose wire, once
driver.sim.faults.fail_randomly(0.01, seed=7)            # disturbances, now and then
driver.sim.faults.block()                                # SDA held low: each transfer times out
driver.sim.chip.power_off()                              # see also power_on(): a reset
driver.sim.i2c.move(0x40, 0x41)                          # an address jumper fell off
"""

from __future__ import annotations

import errno
import os
import random
import time
from collections.abc import Callable

ERRORS = (errno.EIO, errno.EREMOTEIO, errno.ETIMEDOUT)
ADAPTER_TIMEOUT = 1.0  # [s] Linux' default for a transfer, see struct i2c_adapter


class Faults:
    """The faults of one bus, initially none; they may be changed from any thread at any time.

    ``sleep`` implements delays, which a simulation may shorten.
    """

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self._sleep = sleep
        self.timeout = ADAPTER_TIMEOUT  # of a blocked transfer [s], which fails with errno 110
        self.failed = 0  # transfers that failed on purpose
        self.clear()

    def clear(self) -> None:
        """End all faults."""
        self._next: list[int] = []  # the last one is next; 0 for no fault
        self._always: int | None = None
        self._probability = 0.0
        self._blocked = False
        self.locked = False  # whether another user holds the bus: ``try_lock`` never succeeds
        self.delay = 0.0  # by which every transfer takes longer [s]

    def fail_next(self, number: int = errno.EREMOTEIO, transfers: int = 1) -> None:
        """Make the next transfers fail with an errno."""
        self._next = [number] * transfers

    def fail_after(self, transfers: int, number: int = errno.EREMOTEIO) -> None:
        """Make one transfer fail with an errno after ``transfers`` successful ones."""
        self._next = [number, *[0] * transfers]

    def fail(self, number: int = errno.EREMOTEIO) -> None:
        """Make every transfer fail with an errno until cleared."""
        self._always = number

    def fail_randomly(self, probability: float, seed: int = 0) -> None:
        """Make transfers fail randomly, but reproducibly for a seed."""
        self._random = random.Random(seed)
        self._probability = probability

    def block(self) -> None:
        """Hold a wire low: every transfer takes ``timeout`` and fails with errno 110."""
        self._blocked = True

    def before_transfer(self) -> None:
        """Delay a transfer or raise its OSError; called by the bus."""
        if self.delay > 0.0:
            self._sleep(self.delay)
        if self._blocked or self.locked:
            self._sleep(self.timeout)
            self._raise(errno.ETIMEDOUT)
        if self._next and (number := self._next.pop()):
            self._raise(number)
        if self._always is not None:
            self._raise(self._always)
        if self._probability > 0.0 and self._random.random() < self._probability:
            self._raise(self._random.choice(ERRORS))

    def _raise(self, number: int) -> None:
        self.failed += 1
        raise OSError(number, os.strerror(number))
