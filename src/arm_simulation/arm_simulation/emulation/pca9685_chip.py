# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A register-level model of the PCA9685 (NXP data sheet, rev. 4, 16 April 2015).

Modelled: sections 7.3.1 (MODE1 with restart, sleep, auto-increment), 7.3.2 (MODE2), 7.3.3 and
7.3.4 (channel registers, ALL_LED), 7.3.5 (PRE_SCALE), 7.6 (software reset), table 4 (power-on
values). Outputs change when a transfer ends (MODE2.OCH = 0), or with each acknowledged byte (OCH =
1) - no difference to a servo. The external clock (EXTCLK) stands still. Not modelled:
sub-addresses, open-drain outputs, the OE pin.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable
from pathlib import Path

from arm_hardware.bus.interface import ServoBoard
from arm_hardware.errors import HardwareError

MODE1, MODE2, LED0, PRE_SCALE = 0x00, 0x01, 0x06, 0xFE
ALL_LED, LAST_LED = 0xFA, 0x45
RESTART, EXTCLK, AUTO_INCREMENT, SLEEP, ALL_CALL = 0x80, 0x40, 0x20, 0x10, 0x01
INVRT = 0x10  # of MODE2
FULL = 0x10  # of the upper byte of LEDn_ON and LEDn_OFF: always on, always off
REGISTERS, PCA9685_CHIP_CHANNELS, STEPS = 256, 16, 4096
SIZE = REGISTERS + 8 * PCA9685_CHIP_CHANNELS
NOMINAL_CLOCK_HZ = 25e6

POWER_ON = {MODE1: SLEEP | ALL_CALL, MODE2: 0x04, 0x02: 0xE2, 0x03: 0xE4, 0x04: 0xE8, 0x05: 0xE0}


class ChipMemory:
    """Registers and the times of their changes, in this process or in a file.

    A file is memory-mapped: what one process writes, every other sees immediately, even if the
    writer is killed.

    Attributes:
        new: Whether the memory did not exist before, so that the power was just switched on.
        registers: All 256, by number.
        changed_at: Time of the last change of each channel's registers [s] by time.monotonic(),
            which is the same in all processes; 0 for never.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Open or create the memory; raise HardwareError if the file is unsuitable."""
        whole = memoryview(bytearray(SIZE))
        self.new = True
        if file is not None:
            try:
                whole, self.new = _mapped(file)
            except OSError as error:
                raise HardwareError(
                    f"{file} cannot store the registers of a simulated chip ({error}); name a "
                    "writable file, or one that does not exist yet."
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


class Pca9685Chip:
    """One chip on the bus; its oscillator may differ by some percent from the nominal 25 MHz."""

    def __init__(
        self, clock_hz: float = NOMINAL_CLOCK_HZ, memory: ChipMemory | None = None
    ) -> None:
        """Continue with the stored registers, or switch the power on."""
        memory = memory or ChipMemory()
        self._clock_hz = clock_hz
        # Called after a transfer that may have changed an output.
        self.changed: Callable[[], None] = lambda: None
        self.registers, self.changed_at = memory.registers, memory.changed_at
        self.powered = True
        self.channel_writes = 0  # bytes written to channel registers since power-up
        self._pointer = 0
        if memory.new:
            self.power_on()

    def power_on(self) -> None:
        """Switch the power on, or off and on: every register has its power-on value."""
        self.powered = True
        self.reset()

    def power_off(self) -> None:
        """Cut the power: the chip does not answer, the servos get no pulses."""
        self.powered = False
        self.reset()

    def reset(self) -> None:
        """Set every register to its power-on value, as the software reset does."""
        self.registers[:] = bytes(256)
        for register, value in POWER_ON.items():
            self.registers[register] = value
        for channel in range(PCA9685_CHIP_CHANNELS):
            self.registers[LED0 + 4 * channel + 3] = FULL
        self.registers[PRE_SCALE] = 0x1E
        self.channel_writes = 0
        self._pointer = 0
        self.changed()

    # -- The I2C side -----------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Process the bytes of a write transfer: register number, then data."""
        if not data:
            return
        self._pointer = data[0]
        for byte in data[1:]:
            self._store(self._pointer, byte)
            self._advance()
        if len(data) > 1:
            self.changed()

    def read(self, length: int) -> bytes:
        """Return the bytes of a read transfer, from the register pointed to."""
        out = bytearray()
        for _ in range(length):
            hidden = ALL_LED <= self._pointer < PRE_SCALE
            out.append(0 if hidden else self.registers[self._pointer])
            self._advance()
        return bytes(out)

    def _advance(self) -> None:
        """Step the register pointer if auto-increment is on (remark under table 4)."""
        if self.registers[MODE1] & AUTO_INCREMENT:
            self._pointer = (
                0 if self._pointer in (LAST_LED, PRE_SCALE, 0xFF) else self._pointer + 1
            )

    def _store(self, register: int, byte: int) -> None:
        if register == MODE1:
            self._store_mode1(byte)
        elif register == PRE_SCALE:
            if self.registers[MODE1] & SLEEP:
                self.registers[PRE_SCALE] = max(3, byte)
        elif LED0 <= register <= LAST_LED:
            self._store_led(register, byte)
        elif ALL_LED <= register < PRE_SCALE:
            for channel in range(PCA9685_CHIP_CHANNELS):
                self._store_led(LED0 + 4 * channel + register - ALL_LED, byte)
        elif register <= 0x05:
            self.registers[register] = byte

    def _store_led(self, register: int, byte: int) -> None:
        upper = (register - LED0) % 2 == 1
        byte = byte & 0x1F if upper else byte
        if byte != self.registers[register]:
            self.registers[register] = byte
            self.changed_at[(register - LED0) // 4] = time.monotonic()
        self.registers[MODE1] &= ~RESTART & 0xFF
        self.channel_writes += 1

    def _store_mode1(self, byte: int) -> None:
        """Apply a write to MODE1: RESTART is cleared by writing 1, awake (section 7.3.1.1)."""
        old = self.registers[MODE1]
        restart = old & RESTART
        active = any(map(self.count, range(PCA9685_CHIP_CHANNELS)))
        if active and byte & SLEEP and not old & SLEEP:
            restart = RESTART
        elif byte & RESTART and not byte & SLEEP:
            restart = 0
        clock = old & EXTCLK  # cleared by a reset alone
        self.registers[MODE1] = byte & 0x7F | restart | clock

    # -- The servo side ---------------------------------------------------------------------------

    @property
    def count_us(self) -> float:
        """Length of a count with the actual oscillator [us]."""
        return (self.registers[PRE_SCALE] + 1) / self._clock_hz * 1e6

    @property
    def running(self) -> bool:
        """Whether the outputs follow the registers: awake, clocked, not waiting for a restart."""
        return not self.registers[MODE1] & (SLEEP | RESTART | EXTCLK)

    def count(self, channel: int) -> int:
        """Return how many of the 4096 steps a channel's output is high."""
        base = LED0 + 4 * channel
        on_l, on_h, off_l, off_h = self.registers[base : base + 4]
        if off_h & FULL:
            return 0
        return STEPS if on_h & FULL else ((off_l | off_h << 8) - (on_l | on_h << 8)) % STEPS

    def pulse_us(self, channel: int) -> float:
        """Return the length of a channel's pulses [us], 0 if it sends none."""
        if not self.running:
            return 0.0
        high = self.count(channel)
        return (STEPS - high if self.registers[MODE2] & INVRT else high) * self.count_us


def stored_pulses(registers: Path, board: ServoBoard) -> tuple[float, ...]:
    """Return the pulse [us] of each channel of a board whose registers a driver keeps in a file.

    The chip changes its outputs at the end of a transfer; a second reading that agrees excludes
    one that the driver interrupted. All are 0 while the file does not exist.
    """
    if not registers.is_file():
        return (0.0,) * PCA9685_CHIP_CHANNELS
    chip = Pca9685Chip(board.reference_clock_hz, ChipMemory(registers))
    now, before = _pulses(chip), None
    while now != before:
        now, before = _pulses(chip), now
    return now


def _pulses(chip: Pca9685Chip) -> tuple[float, ...]:
    return tuple(chip.pulse_us(channel) for channel in range(PCA9685_CHIP_CHANNELS))
