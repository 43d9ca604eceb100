# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""I2C buses with the interface of CircuitPython's ``busio.I2C``, and register access to a chip."""

from __future__ import annotations

import errno
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T", bound=Hashable)
_LOCK_TIMEOUT = 0.01  # [s] for other users of the bus in this process to release it
_POLL_PERIOD = 0.0005  # [s]
EQUAL_READS = 4  # that show the same before it is believed
MOST_READS = 24  # after which nothing that is read can be believed


def confirmed(read: Callable[[], T], *expected: T) -> T:
    """Return what a read shows: the expected value as soon as one read shows it.

    Anything else may have been corrupted on the way and is believed only if EQUAL_READS reads
    agree. Where a twentieth of all reads have one bit of 200 flipped, the expected value is missed
    once in 1e12 reads.

    Raises:
        OSError: errno EBADMSG, if the reads do not agree; or an error of ``read``.
    """
    seen: Counter[T] = Counter()
    for _ in range(MOST_READS):
        value = read()
        seen[value] += 1
        if value in expected or seen[value] == EQUAL_READS:
            return value
    raise OSError(errno.EBADMSG, f"{MOST_READS} reads of the same registers differ")


class I2C(ABC):
    """An I2C bus; transfers raise OSError if they fail."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @abstractmethod
    def transfer(self, address: int, data: bytes, length: int) -> bytes:
        """Write ``data``, then read and return ``length`` bytes after a repeated start."""

    @abstractmethod
    def scan(self) -> list[int]:
        """Return the 7-bit addresses that answer."""

    def try_lock(self) -> bool:
        """Lock the bus within this process; the kernel arbitrates between processes."""
        return self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        """Release the bus."""
        self._lock.release()

    def writeto(
        self, address: int, buffer: bytes, *, start: int = 0, end: int | None = None
    ) -> None:
        """Send ``buffer[start:end]``."""
        self.transfer(address, bytes(buffer[start:end]), 0)

    def readfrom_into(
        self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None
    ) -> None:
        """Fill ``buffer[start:end]``."""
        self.writeto_then_readfrom(address, b"", buffer, in_start=start, in_end=end)

    def writeto_then_readfrom(
        self,
        address: int,
        buffer_out: bytes,
        buffer_in: bytearray,
        *,
        out_start: int = 0,
        out_end: int | None = None,
        in_start: int = 0,
        in_end: int | None = None,
    ) -> None:
        """Send ``buffer_out[out_start:out_end]``, then fill ``buffer_in[in_start:in_end]``."""
        length = len(buffer_in[in_start:in_end])
        data = self.transfer(address, bytes(buffer_out[out_start:out_end]), length)
        buffer_in[in_start : in_start + length] = data

    @abstractmethod
    def deinit(self) -> None:
        """Close the bus."""


class LockTimeoutI2C:
    """An I2C or ``busio.I2C`` whose ``try_lock`` waits for a limited time.

    Users of a ``busio.I2C``, including Adafruit's libraries, poll ``try_lock`` until it succeeds,
    and hang if the bus is never released. This class raises errno 110 instead, as Linux does for
    a stuck bus.
    """

    def __init__(self, i2c: Any) -> None:
        self._i2c = i2c

    def __getattr__(self, name: str) -> Any:
        return getattr(self._i2c, name)

    def try_lock(self) -> bool:
        """Lock the bus, or raise TimeoutError."""
        deadline = time.monotonic() + _LOCK_TIMEOUT
        while not self._i2c.try_lock():
            if time.monotonic() >= deadline:
                raise TimeoutError(errno.ETIMEDOUT, "the I2C bus is held by another user")
            time.sleep(_POLL_PERIOD)
        return True


class Registers:
    """The registers of one chip on a LockTimeoutI2C."""

    def __init__(self, i2c: LockTimeoutI2C, address: int) -> None:
        self._i2c = i2c
        self._address = address

    def probe(self) -> None:
        """Raise OSError if the chip does not answer."""
        with self._locked():
            self._i2c.readfrom_into(self._address, bytearray(1))

    def read(self, register: int, length: int = 1) -> bytes:
        """Return bytes starting at a register; several require the chip's auto-increment."""
        data = bytearray(length)
        with self._locked():
            self._i2c.writeto_then_readfrom(self._address, bytes([register]), data)
        return bytes(data)

    def write(self, register: int, *data: int) -> None:
        """Write bytes starting at a register; several require the chip's auto-increment."""
        with self._locked():
            self._i2c.writeto(self._address, bytes([register, *data]))

    def scan(self) -> list[int]:
        """Return the addresses that answer on the chip's bus."""
        with self._locked():
            return list(self._i2c.scan())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._i2c.try_lock()
        try:
            yield
        finally:
            self._i2c.unlock()
