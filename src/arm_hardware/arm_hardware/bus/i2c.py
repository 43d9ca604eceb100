# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/bus/test_bus_contract.py
"""I2C buses with the interface of CircuitPython's ``busio.I2C``, and register access to a chip.

The bus of a Linux computer is opened with smbus2.
"""

from __future__ import annotations

import errno
import fcntl
import grp
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arm_common.suggestions import install_command

from arm_hardware.bus.interface import DEVICE
from arm_hardware.errors import BusError

_LOCK_TIMEOUT = 0.01  # [s] for other users of the bus in this process to release it
_POLL_PERIOD = 0.0005  # [s]
# [s] after which the kernel aborts a transfer, in place of its default of 1 s. A transfer of
# five bytes takes half a millisecond at 100 kHz; the rest is margin for clock stretching.
TRANSFER_TIMEOUT = 0.05
_I2C_TIMEOUT, _TIMEOUT_UNIT = 0x0702, 0.01  # linux/i2c-dev.h; [s]
_ADDRESSES = range(0x08, 0x78)  # the others are reserved


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


def import_smbus2() -> Any:
    """Return the module ``smbus2``; raise BusError if it is missing."""
    try:
        import smbus2
    except ImportError as error:
        raise BusError(
            "The library smbus2 is missing", remedy=install_command("smbus2", "python3-smbus2")
        ) from error
    return smbus2


class LinuxI2C(I2C):
    """An I2C device node, accessed through an open ``smbus2.SMBus``."""

    def __init__(self, bus: Any) -> None:
        super().__init__()
        self._bus = bus
        self._message = import_smbus2().i2c_msg

    def transfer(self, address: int, data: bytes, length: int) -> bytes:
        """Write ``data``, then read and return ``length`` bytes after a repeated start."""
        messages = [self._message.write(address, data)] if data else []
        if length:
            messages.append(self._message.read(address, length))
        self._bus.i2c_rdwr(*messages)
        return bytes(messages[-1]) if length else b""

    def scan(self) -> list[int]:
        """Return the addresses that answer a read of one byte."""
        return [address for address in _ADDRESSES if self._answers(address)]

    def deinit(self) -> None:
        """Close the device node."""
        self._bus.close()

    def _answers(self, address: int) -> bool:
        try:
            self.transfer(address, b"", 1)
        except OSError as error:
            if error.errno == errno.ETIMEDOUT:
                raise  # the bus is stuck; the other addresses would not answer either
            return False
        return True


def linux_i2c(device: Path = DEVICE) -> LinuxI2C:
    """Return the computer's bus by the kernel's interface; raise BusError if it is unusable."""
    check_device(device)
    smbus2 = import_smbus2()
    try:
        bus = smbus2.SMBus(str(device))
        set_timeout(bus.fd)
    except OSError as error:
        raise BusError(
            f"{device} cannot be opened ({error})", remedy="check that it is an I2C bus"
        ) from error
    return LinuxI2C(bus)


def set_timeout(fd: int) -> None:
    """Set the adapter's transfer timeout, which applies to every library."""
    fcntl.ioctl(fd, _I2C_TIMEOUT, round(TRANSFER_TIMEOUT / _TIMEOUT_UNIT))


def check_device(device: Path) -> None:
    """Raise BusError, with a remedy, if a device node is missing or inaccessible."""
    if not device.exists():
        raise BusError(
            f"There is no {device}",
            remedy="enable I2C (raspi-config, Interface Options, I2C; or dtparam=i2c_arm=on in "
            "config.txt), and pass the device into the container if there is one",
        )
    if not os.access(device, os.R_OK | os.W_OK):
        group = device_group(device)
        if group != "root":
            remedy = (
                f"add the user to group {group} (sudo usermod -aG {group} $USER) and log in again"
            )
            raise BusError(f"No permission for {device}", remedy=remedy)
        raise BusError(
            f"No permission for {device}, which belongs to root alone",
            remedy="sudo apt install i2c-tools gives I2C devices to the group i2c; add the user "
            "to it (sudo usermod -aG i2c $USER) and restart",
        )


def bus_label(device: Path = DEVICE) -> str:
    """Return the name of a bus for error messages: device node and group."""
    return f"{device}, group {device_group(device)}" if device.exists() else str(device)


def device_group(device: Path) -> str:
    """Return the name of the group that owns a device."""
    number = device.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
