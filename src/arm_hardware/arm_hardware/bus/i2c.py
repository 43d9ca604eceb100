# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is asked of an I2C bus: the calls of CircuitPython's ``busio.I2C``, with bounded waits."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

PATIENCE = 0.01  # [s] for the bus to come free from whoever else uses it in this process
POLL = 0.0005  # [s]


class I2C(Protocol):
    """The calls of ``busio.I2C`` that a register chip needs; all but two may raise OSError."""

    def try_lock(self) -> bool:
        """Take the bus if it is free."""

    def unlock(self) -> None:
        """Give the bus back."""

    def scan(self) -> list[int]:
        """Return the 7-bit addresses that answer."""

    def writeto(
        self, address: int, buffer: bytes, *, start: int = 0, end: int | None = None
    ) -> None:
        """Send ``buffer[start:end]``."""

    def readfrom_into(
        self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None
    ) -> None:
        """Fill ``buffer[start:end]``."""

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
        """Send, then read, without letting go of the bus."""

    def deinit(self) -> None:
        """Let go of the device."""


class PatientI2C:
    """A bus that is never waited for without end.

    Whoever wants a ``busio.I2C`` polls ``try_lock`` until it gets it, Adafruit's libraries too; on
    a bus that somebody holds for ever that loop never ends. Here ``try_lock`` waits a bounded time
    and then raises what Linux reports of a bus that does not come free: errno 110. All other calls
    are those of the bus.
    """

    def __init__(self, i2c: I2C, patience: float = PATIENCE) -> None:
        """Wrap a bus.

        Args:
            i2c: The bus.
            patience: Longest wait for it [s].
        """
        self._i2c = i2c
        self._patience = patience

    def __getattr__(self, name: str) -> Any:
        return getattr(self._i2c, name)

    def try_lock(self) -> bool:
        """Take the bus.

        Raises:
            TimeoutError: It did not come free.
        """
        deadline = time.monotonic() + self._patience
        while not self._i2c.try_lock():
            if time.monotonic() >= deadline:
                raise TimeoutError(errno.ETIMEDOUT, "the I2C bus is held by somebody else")
            time.sleep(POLL)
        return True


class Registers:
    """The registers of one chip on a bus."""

    def __init__(self, i2c: Any, address: int) -> None:
        """Make the view; nothing is sent.

        Args:
            i2c: A PatientI2C.
            address: 7-bit address of the chip.
        """
        self._i2c = i2c
        self._address = address

    def probe(self) -> None:
        """Raise OSError if the chip does not answer."""
        with self._locked():
            self._i2c.readfrom_into(self._address, bytearray(1))

    def read(self, register: int, length: int = 1) -> bytes:
        """Return bytes from a register on; more than one need the chip's auto-increment."""
        data = bytearray(length)
        with self._locked():
            self._i2c.writeto_then_readfrom(self._address, bytes([register]), data)
        return bytes(data)

    def write(self, register: int, *data: int) -> None:
        """Write bytes from a register on; more than one need the chip's auto-increment."""
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
