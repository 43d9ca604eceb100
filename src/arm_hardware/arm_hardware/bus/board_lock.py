# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/bus/test_board_lock.py
"""An advisory lock that only one process at a time can hold for a servo board.

It is an open file description lock (fcntl(2), F_OFD_SETLK) on the device node of the bus itself,
the only file that all its users open, and with the permissions that they need anyway: it holds
across users and across containers that share the node, and needs no folder. The kernel removes it
with the process, however that ends. Closing other descriptors of the node, as I2C libraries do,
would remove a POSIX lock of the process, but not this one.

The range starts at a place that belongs to the board's address and is as long as the process id,
so that locks of one board overlap and F_OFD_GETLK shows who holds it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from pathlib import Path

from arm_hardware.errors import BusError

_FLOCK = "@hhqqi0q"  # struct flock: l_type, l_whence, l_start, l_len, l_pid
# A serial port must neither wait for a carrier nor become the terminal of this process.
_FLAGS = os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
_SPACING = 1 << 32  # between the ranges of two addresses, more than any process id


class BoardLock:
    """The lock of the board at an address of a bus, initially not held."""

    def __init__(self, node: Path, address: int | None) -> None:
        """Name the lock of a board, or of the whole bus if its address is None.

        ``node`` is the bus' device node, or a simulated board's file.
        """
        self._node = node
        self._address = address
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock unless it is held already; raise BusError if another process holds it."""
        if self._descriptor is not None:
            return
        try:
            descriptor = os.open(self._node, os.O_RDWR | _FLAGS)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, self._range(fcntl.F_WRLCK))
        except OSError as error:
            os.close(descriptor)
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise self._unusable(error) from error
            holder = self.holder()
            who = "another process" if holder is None else f"process {holder}"
            what = f"The servo bus {self._node}"
            if self._address is not None:
                what = f"The servo board at 0x{self._address:02x} of {self._node}"
            raise BusError(
                f"{what} is in use by {who}", remedy="end it first", address=self._address
            ) from error
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock up if it is held."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def holder(self) -> int | None:
        """Return the id of the process that holds the lock, in its own container's numbers."""
        try:
            descriptor = os.open(self._node, os.O_RDONLY | _FLAGS)
        except OSError:
            return None
        try:
            wanted = self._range(fcntl.F_WRLCK)
            kind, _, _, length, _ = struct.unpack(
                _FLOCK, fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, wanted)
            )
        except OSError:
            return None
        finally:
            os.close(descriptor)
        return None if kind == fcntl.F_UNLCK else int(length)

    def _range(self, kind: int) -> bytes:
        start = (self._address or 0) * _SPACING
        return struct.pack(_FLOCK, kind, os.SEEK_SET, start, os.getpid(), 0)

    def _unusable(self, error: OSError) -> BusError:
        return BusError(f"{self._node} cannot be locked ({error}).", address=self._address)
