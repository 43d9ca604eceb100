# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Faults that can be injected into the simulated I2C bus.

With ``board = driver.emulation``:

board.faults.fail_next(errno.EREMOTEIO)             # a loose wire, once
board.faults.fail_randomly(0.01, seed=7)            # disturbances, now and then
board.faults.block()                                # SDA held low: each transfer times out
board.faults.flip_reads(0.05, seed=7)               # one bit of every 20th read is inverted
board.faults.flip_writes(0.05, seed=7)              # the same on the way to the chip
board.faults.flip_next_write(byte=4, bit=1)         # byte 0 is the register's number
board.faults.write_by_others(bytes([6, 0, 0, 200, 1]), after=3)  # in mid-motion: 3 transfers
board.chip.power_off()                              # see also power_on(): a reset
board.i2c.move(0x40, 0x41)                          # an address jumper fell off
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
        self.flipped = 0  # transfers with a bit inverted on purpose
        self.clear()

    def clear(self) -> None:
        """End all faults."""
        self._next: list[int] = []  # the last one is next; 0 for no fault
        self._always: int | None = None
        self._probability = 0.0
        self._flipped_reads = self._flipped_writes = 0.0
        self._next_flip: tuple[int, int] | None = None
        self._others: list[tuple[int, bytes]] = []
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

    def flip_reads(self, probability: float, seed: int = 0) -> None:
        """Invert one random bit of reads, with a probability for each transfer."""
        self._read_random = random.Random(seed)
        self._flipped_reads = probability

    def flip_writes(self, probability: float, seed: int = 0) -> None:
        """Invert one random bit of writes, with a probability for each transfer."""
        self._write_random = random.Random(seed)
        self._flipped_writes = probability

    def flip_next_write(self, byte: int, bit: int) -> None:
        """Invert a bit of the next write of registers; byte 0 is the number of the first one."""
        self._next_flip = byte, bit

    def write_by_others(self, data: bytes, after: int = 0) -> None:
        """Let another program write to the chip, after ``after`` transfers of the driver."""
        self._others.append((after, data))

    def due_writes(self) -> list[bytes]:
        """Return what other programs write before this transfer; called by the bus."""
        due = [data for after, data in self._others if after <= 0]
        self._others = [(after - 1, data) for after, data in self._others if after > 0]
        return due

    def written(self, data: bytes) -> bytes:
        """Return what arrives at the chip; called by the bus."""
        if self._next_flip is not None and len(data) > max(1, self._next_flip[0]):
            (byte, bit), self._next_flip = self._next_flip, None
            return self._inverted(data, 8 * byte + bit)
        if data and self._flipped_writes > 0.0:
            return self._disturbed(data, self._flipped_writes, self._write_random)
        return data

    def read(self, data: bytes) -> bytes:
        """Return what arrives from the chip; called by the bus."""
        if data and self._flipped_reads > 0.0:
            return self._disturbed(data, self._flipped_reads, self._read_random)
        return data

    def _disturbed(self, data: bytes, probability: float, source: random.Random) -> bytes:
        if source.random() >= probability:
            return data
        return self._inverted(data, source.randrange(8 * len(data)))

    def _inverted(self, data: bytes, place: int) -> bytes:
        self.flipped += 1
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        return bytes(flipped)

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
