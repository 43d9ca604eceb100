# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An I2C bus of Linux with nothing but the standard library.

The kernel's own interface (linux/i2c.h and linux/i2c-dev.h, as described in the kernel's
Documentation/i2c/dev-interface.rst): a device node and the request I2C_RDWR, which takes a list of
messages and sends them with repeated starts between. Works on any computer with such a node.

The I2C bus of a Raspberry Pi or any Linux computer, or one sentence why there is none.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import grp
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from arm_hardware.bus.i2c import I2C
from arm_hardware.bus.servokit import import_adafruit
from arm_hardware.errors import BusError

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
    """See ``arm_hardware.bus.i2c.I2C``."""

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


DEVICE = Path("/dev/i2c-1")


def linux_i2c(device: Path = DEVICE) -> LinuxI2C:
    """Return the computer's bus by the kernel's own interface.

    Args:
        device: Its device node.

    Raises:
        BusError: No device node, or no permission.
    """
    check_device(device)
    try:
        return LinuxI2C(device)
    except OSError as error:
        raise BusError(f"{device} cannot be opened ({error}); is it an I2C bus?") from error


def blinka_i2c(device: Path = DEVICE) -> I2C:
    """Return the computer's bus by Adafruit's Blinka, a ``busio.I2C``.

    Args:
        device: Its device node.

    Raises:
        BusError: No device node, no permission, or no library.
    """
    check_device(device)
    _, connect = import_adafruit()
    try:
        with device.open("rb+", buffering=0) as node:
            set_timeout(node.fileno())  # of the adapter: counts for Blinka's transfers too
        i2c: I2C = connect()
    except (NotImplementedError, RuntimeError, AttributeError, OSError, ValueError) as error:
        raise BusError(f"Blinka cannot open {device} ({error}).") from error
    return i2c


def check_device(device: Path) -> None:
    """Refuse a device node that is not there or not ours.

    Raises:
        BusError: With what to do.
    """
    if not device.exists():
        raise BusError(
            f"There is no {device}: enable I2C (raspi-config, Interface Options, I2C; or "
            "dtparam=i2c_arm=on in config.txt), and pass the device into the container if there "
            "is one."
        )
    if not os.access(device, os.R_OK | os.W_OK):
        group = group_of(device)
        if group == "root":
            raise BusError(
                f"No permission for {device}, which belongs to root alone: sudo apt install "
                "i2c-tools gives I2C devices to the group i2c; add the user to it (sudo usermod "
                "-aG i2c $USER) and restart."
            )
        raise BusError(
            f"No permission for {device}: add the user to group {group} (sudo usermod -aG {group} "
            "$USER) and log in again."
        )


def name_of(device: Path = DEVICE) -> str:
    """Return how error messages name a bus: its device node and the group that may use it."""
    return f"{device}, group {group_of(device)}" if device.exists() else str(device)


def group_of(device: Path) -> str:
    """Return the name of the group that owns a device."""
    number = device.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
