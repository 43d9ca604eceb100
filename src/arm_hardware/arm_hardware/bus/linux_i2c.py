# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The I2C bus of a Linux computer, opened with smbus2 or Adafruit's Blinka."""

from __future__ import annotations

import errno
import fcntl
import grp
import os
from pathlib import Path
from typing import Any

from arm_common.suggestions import install_command

from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.i2c import I2C
from arm_hardware.bus.pca9685 import Pca9685Bus
from arm_hardware.bus.servokit import ServoKitBus, import_adafruit
from arm_hardware.bus.wiring import DEVICE, ServoBoard
from arm_hardware.errors import BusError

# [s] after which the kernel aborts a transfer, in place of its default of 1 s. A transfer of
# five bytes takes half a millisecond at 100 kHz; the rest is margin for clock stretching.
TRANSFER_TIMEOUT = 0.05
_I2C_TIMEOUT, _TIMEOUT_UNIT = 0x0702, 0.01  # linux/i2c-dev.h; [s]
_ADDRESSES = range(0x08, 0x78)  # the others are reserved


def import_smbus2() -> Any:
    """Return the module ``smbus2``; raise BusError if it is missing."""
    try:
        import smbus2
    except ImportError as error:
        raise BusError(
            f"The library smbus2 is missing; {install_command('smbus2', 'python3-smbus2')}"
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
        _set_timeout(bus.fd)
    except OSError as error:
        raise BusError(f"{device} cannot be opened ({error}); is it an I2C bus?") from error
    return LinuxI2C(bus)


def blinka_i2c(device: Path = DEVICE) -> Any:
    """Return the computer's bus by Adafruit's Blinka (``busio.I2C``); errors as in linux_i2c()."""
    check_device(device)
    _, connect = import_adafruit()
    try:
        with device.open("rb+", buffering=0) as node:
            _set_timeout(node.fileno())
        return connect()
    except (NotImplementedError, RuntimeError, AttributeError, OSError, ValueError) as error:
        raise BusError(f"Blinka cannot open {device} ({error}).") from error


def _set_timeout(fd: int) -> None:
    """Set the adapter's transfer timeout, which applies to every library."""
    fcntl.ioctl(fd, _I2C_TIMEOUT, round(TRANSFER_TIMEOUT / _TIMEOUT_UNIT))


def check_device(device: Path) -> None:
    """Raise BusError, with a remedy, if a device node is missing or inaccessible."""
    if not device.exists():
        raise BusError(
            f"There is no {device}: enable I2C (raspi-config, Interface Options, I2C; or "
            "dtparam=i2c_arm=on in config.txt), and pass the device into the container if there "
            "is one."
        )
    if not os.access(device, os.R_OK | os.W_OK):
        group = device_group(device)
        remedy = (
            f": add the user to group {group} (sudo usermod -aG {group} $USER) and log in again."
        )
        if group == "root":
            remedy = (
                ", which belongs to root alone: sudo apt install i2c-tools gives I2C devices to "
                "the group i2c; add the user to it (sudo usermod -aG i2c $USER) and restart."
            )
        raise BusError(f"No permission for {device}{remedy}")


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


def servokit_bus(board: ServoBoard, lock: BoardLock | None) -> ServoKitBus:
    """Return a bus, still closed, that drives a board by Adafruit's library."""
    return ServoKitBus(board, blinka_i2c, bus_label(), lock)


def i2c_dev_bus(board: ServoBoard, lock: BoardLock | None) -> Pca9685Bus:
    """Return a bus, still closed, that drives a board by the kernel's interface alone."""
    return Pca9685Bus(board, linux_i2c, bus_label(), lock)
