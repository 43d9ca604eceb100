# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An I2C bus with simulated chips, looking to Adafruit's libraries like ``busio.I2C``."""

from __future__ import annotations

import errno
import threading
from collections.abc import Mapping
from typing import Protocol

GENERAL_CALL, SOFTWARE_RESET = 0x00, b"\x06"


class Chip(Protocol):
    """A device on the bus."""

    def write(self, data: bytes) -> None:
        """Take the bytes of a write transfer."""

    def read(self, length: int) -> bytes:
        """Return the bytes of a read transfer."""

    def power_on(self) -> None:
        """Set everything to power-on values."""


class SimI2C:
    """The calls that ``adafruit_bus_device`` makes, with chips by address behind them.

    An address without a chip is not acknowledged: OSError 121, as Linux reports it.
    """

    def __init__(self, chips: Mapping[int, Chip]) -> None:
        self._chips = dict(chips)
        self._lock = threading.Lock()

    def try_lock(self) -> bool:
        """Take the bus if it is free."""
        return self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        """Give the bus back."""
        self._lock.release()

    def scan(self) -> list[int]:
        """Return the addresses that answer."""
        return sorted(self._chips)

    def writeto(
        self,
        address: int,
        buffer: bytes,
        *,
        start: int = 0,
        end: int | None = None,
        stop: bool = True,
    ) -> None:
        """Send ``buffer[start:end]`` to a chip."""
        data = bytes(buffer[start:end])
        if address == GENERAL_CALL and data == SOFTWARE_RESET:
            for chip in self._chips.values():
                chip.power_on()
            return
        self._chip(address).write(data)

    def readfrom_into(
        self,
        address: int,
        buffer: bytearray,
        *,
        start: int = 0,
        end: int | None = None,
        stop: bool = True,
    ) -> None:
        """Fill ``buffer[start:end]`` from a chip."""
        length = len(buffer[start:end])
        buffer[start : start + length] = self._chip(address).read(length)

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
        stop: bool = False,
    ) -> None:
        """Send, then read, without letting go of the bus."""
        self.writeto(address, buffer_out, start=out_start, end=out_end)
        self.readfrom_into(address, buffer_in, start=in_start, end=in_end)

    def deinit(self) -> None:
        """Do nothing."""

    def _chip(self, address: int) -> Chip:
        chip = self._chips.get(address)
        if chip is None:
            raise OSError(errno.EREMOTEIO, "Remote I/O error")
        return chip
