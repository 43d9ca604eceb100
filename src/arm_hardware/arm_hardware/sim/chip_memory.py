# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a simulated chip remembers: in a file, it outlives the process like a board with power."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from arm_hardware.errors import HardwareError

REGISTERS, CHANNELS = 256, 16
SIZE = REGISTERS + 8 * CHANNELS


class ChipMemory:
    """Registers, and when they changed.

    A file is mapped and shared: what one process writes, every other sees at once, even if the
    writer is killed in the next moment.

    Attributes:
        new: Whether it was not there before: the chip has just got its power.
        registers: All 256, by number.
        changed_at: When a register of each channel last changed [s], of time.monotonic(), which
            is the same in all processes; 0 for never.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Open or make the memory.

        Args:
            file: Where it is kept; None for this process only.

        Raises:
            HardwareError: The file is something else or cannot be written.
        """
        whole = memoryview(bytearray(SIZE))
        self.new = True
        if file is not None:
            try:
                whole, self.new = _mapped(file)
            except OSError as error:
                raise HardwareError(
                    f"{file} cannot keep the registers of a simulated chip ({error}); name a file "
                    "that may be written, or one that does not exist yet."
                ) from error
        self.registers = whole[:REGISTERS]
        self.changed_at = whole[REGISTERS:].cast("d")


def _mapped(file: Path) -> tuple[memoryview, bool]:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        if size == 0:
            os.ftruncate(descriptor, SIZE)
        elif size != SIZE:
            raise OSError(f"it has {size} bytes, not {SIZE}")
        return memoryview(mmap.mmap(descriptor, SIZE)), size == 0
    finally:
        os.close(descriptor)
