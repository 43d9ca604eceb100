# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The kernel's side of an I2C device node, over a simulated bus."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

from arm_hardware.sim.i2c_bus import SimI2C

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
