# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An I2C bus of Linux with nothing but the standard library.

The kernel's own interface (linux/i2c.h and linux/i2c-dev.h, as described in the kernel's
Documentation/i2c/dev-interface.rst): a device node and the request I2C_RDWR, which takes a list of
messages and sends them with repeated starts between. Works on any computer with such a node.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

I2C_TIMEOUT, I2C_RDWR = 0x0702, 0x0707
I2C_M_RD = 0x0001
TIMEOUT_UNIT = 0.01  # [s] of I2C_TIMEOUT
# [s] after which the kernel gives up a transfer, in place of its default of 1 s. A transfer of
# five bytes takes half a millisecond at 100 kHz; a chip that stretches the clock gets time.
TRANSFER_WITHIN = 0.05
ADDRESSES = range(0x08, 0x78)  # the others are reserved


class _Message(ctypes.Structure):
    """``struct i2c_msg``."""

    _fields_: ClassVar = [
        ("addr", ctypes.c_uint16),
        ("flags", ctypes.c_uint16),
        ("len", ctypes.c_uint16),
        ("buf", ctypes.POINTER(ctypes.c_char)),
    ]


class _Transfer(ctypes.Structure):
    """``struct i2c_rdwr_ioctl_data``."""

    _fields_: ClassVar = [("msgs", ctypes.POINTER(_Message)), ("nmsgs", ctypes.c_uint32)]


def set_timeout(fd: int, ioctl: Callable[..., Any] = fcntl.ioctl) -> None:
    """Bound the time of every transfer of an adapter, whoever makes it, to TRANSFER_WITHIN.

    Args:
        fd: An open device node.
        ioctl: The system call.
    """
    ioctl(fd, I2C_TIMEOUT, round(TRANSFER_WITHIN / TIMEOUT_UNIT))


class LinuxI2C:
    """See ``arm_hardware.i2c.I2C``."""

    def __init__(self, device: Path, ioctl: Callable[..., Any] = fcntl.ioctl) -> None:
        """Open a device node.

        Args:
            device: Such as /dev/i2c-1.
            ioctl: The system call; a simulation brings its own.

        Raises:
            OSError: There is none, or no permission.
        """
        self._ioctl = ioctl
        self._lock = threading.Lock()
        self._fd = os.open(device, os.O_RDWR | os.O_CLOEXEC)
        set_timeout(self._fd, ioctl)

    def try_lock(self) -> bool:
        """Take the bus if it is free in this process; the kernel orders processes."""
        return self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        """Give the bus back."""
        self._lock.release()

    def scan(self) -> list[int]:
        """Return the addresses that answer a read of one byte."""
        return [address for address in ADDRESSES if self._answers(address)]

    def writeto(
        self, address: int, buffer: bytes, *, start: int = 0, end: int | None = None
    ) -> None:
        """Send ``buffer[start:end]``."""
        self._transfer(address, bytes(buffer[start:end]))

    def readfrom_into(
        self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None
    ) -> None:
        """Fill ``buffer[start:end]``."""
        length = len(buffer[start:end])
        buffer[start : start + length] = self._transfer(address, b"", length)

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
        length = len(buffer_in[in_start:in_end])
        data = self._transfer(address, bytes(buffer_out[out_start:out_end]), length)
        buffer_in[in_start : in_start + length] = data

    def deinit(self) -> None:
        """Close the device node."""
        os.close(self._fd)

    def _transfer(self, address: int, out: bytes, length: int = 0) -> bytes:
        """Send bytes, then read some; return these."""
        sent = ctypes.create_string_buffer(out, len(out))
        read = ctypes.create_string_buffer(length)
        messages = []
        if out:
            messages.append(_message(address, 0, sent))
        if length:
            messages.append(_message(address, I2C_M_RD, read))
        array = (_Message * len(messages))(*messages)
        self._ioctl(self._fd, I2C_RDWR, _Transfer(array, len(messages)))
        return read.raw

    def _answers(self, address: int) -> bool:
        try:
            self._transfer(address, b"", 1)
        except OSError as error:
            if error.errno == errno.ETIMEDOUT:
                raise  # the bus is stuck; the other addresses would not answer either
            return False
        return True


def _message(address: int, flags: int, buffer: ctypes.Array[ctypes.c_char]) -> _Message:
    pointer = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_char))
    return _Message(address, flags, len(buffer), pointer)
