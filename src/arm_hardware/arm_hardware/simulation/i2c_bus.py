# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An I2C bus with simulated chips, looking to Adafruit's libraries like ``busio.I2C``.

The kernel's side of an I2C device node, over a simulated bus.
"""

from __future__ import annotations

import ctypes
import errno
import struct
import threading
from collections.abc import Mapping
from typing import Any, Protocol

from arm_hardware.simulation.faults import Faults

GENERAL_CALL, SOFTWARE_RESET = 0x00, b"\x06"


class Chip(Protocol):
    """A device on the bus."""

    def write(self, data: bytes) -> None:
        """Take the bytes of a write transfer."""

    def read(self, length: int) -> bytes:
        """Return the bytes of a read transfer."""

    def reset(self) -> None:
        """Set everything to power-on values."""

    @property
    def powered(self) -> bool:
        """Whether it has power; without, it does not answer."""


class SimI2C:
    """The calls that ``adafruit_bus_device`` makes, with chips by address behind them.

    An address without a chip is not acknowledged: OSError 121, as Linux reports it.

    Attributes:
        faults: What goes wrong.
    """

    def __init__(self, chips: Mapping[int, Chip], faults: Faults | None = None) -> None:
        """Wire chips to a bus.

        Args:
            chips: By 7-bit address.
            faults: What goes wrong; nothing if None.
        """
        self.faults = faults or Faults()
        self._chips = dict(chips)
        self._lock = threading.Lock()

    def try_lock(self) -> bool:
        """Take the bus if it is free."""
        return not self.faults.locked and self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        """Give the bus back."""
        self._lock.release()

    def scan(self) -> list[int]:
        """Return the addresses that answer."""
        self.faults.before_transfer()
        return sorted(address for address, chip in self._chips.items() if chip.powered)

    def move(self, old: int, new: int) -> None:
        """Give a chip another address."""
        self._chips[new] = self._chips.pop(old)

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
        self.faults.before_transfer()
        self._send(address, bytes(buffer[start:end]))

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
        self.faults.before_transfer()
        self._receive(address, buffer, start, end)

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
        self.faults.before_transfer()
        self._send(address, bytes(buffer_out[out_start:out_end]))
        self._receive(address, buffer_in, in_start, in_end)

    def deinit(self) -> None:
        """Do nothing."""

    def _send(self, address: int, data: bytes) -> None:
        if address == GENERAL_CALL and data == SOFTWARE_RESET:
            for chip in self._chips.values():
                chip.reset()
            return
        self._chip(address).write(data)

    def _receive(self, address: int, buffer: bytearray, start: int, end: int | None) -> None:
        length = len(buffer[start:end])
        buffer[start : start + length] = self._chip(address).read(length)

    def _chip(self, address: int) -> Chip:
        chip = self._chips.get(address)
        if chip is None or not chip.powered:
            raise OSError(errno.EREMOTEIO, "Remote I/O error")
        return chip


I2C_TIMEOUT, I2C_RDWR, I2C_M_RD = 0x0702, 0x0707, 0x0001
TRANSFER = struct.Struct("@PI")  # struct i2c_rdwr_ioctl_data {struct i2c_msg *; __u32;}
MESSAGE = struct.Struct("@HHHP")  # struct i2c_msg {__u16 addr, flags, len; __u8 *buf;}


class SimI2cDev:
    """Takes the requests of a device node from memory, as the kernel does.

    Attributes:
        timeout: Last value of I2C_TIMEOUT [10 ms], None if never set.
    """

    def __init__(self, i2c: SimI2C) -> None:
        self._i2c = i2c
        self.timeout: int | None = None

    def ioctl(self, fd: int, request: int, argument: Any) -> int:
        """Do what ``ioctl`` of the device node does; the file descriptor does not matter."""
        if request == I2C_TIMEOUT:
            self.timeout = int(argument)
            self._i2c.faults.timeout = 0.01 * self.timeout
        elif request == I2C_RDWR:
            pointer, number = TRANSFER.unpack_from(bytes(argument))
            for k in range(number):
                self._message(ctypes.string_at(pointer + k * MESSAGE.size, MESSAGE.size))
        else:
            raise OSError(25, "Inappropriate ioctl for device")
        return 0

    def _message(self, raw: bytes) -> None:
        address, flags, length, pointer = MESSAGE.unpack(raw)
        if flags & I2C_M_RD:
            data = bytearray(length)
            self._i2c.readfrom_into(address, data)
            ctypes.memmove(pointer, bytes(data), length)
        else:
            self._i2c.writeto(address, ctypes.string_at(pointer, length))
