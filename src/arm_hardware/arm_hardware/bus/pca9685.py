# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A PCA9685 driven by its registers (NXP data sheet, rev. 4, 16 April 2015).

Every backend uses this code to find and read the board and to detect a reset.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from arm_hardware.bus.i2c import I2C, LockTimeoutI2C, Registers
from arm_hardware.calibration.calibration import ServoBoard
from arm_hardware.calibration.servo_map import COUNTS, prescale
from arm_hardware.errors import BusError

MODE1, LED0, ALL_LED_OFF_H, PRE_SCALE = 0x00, 0x06, 0xFD, 0xFE
RESTART, AUTO_INCREMENT, SLEEP = 0x80, 0x20, 0x10  # of MODE1
FULL = 0x10  # of the upper byte of LEDn_ON and LEDn_OFF: always on, always off
CHANNELS = 16
TRIES = 3
OSCILLATOR_START = 0.001  # [s]; at most 500 us (section 7.3.1.1)


def pulse_count(led: bytes) -> int | None:
    """Return the number of counts for which an output is high, None if off (section 7.3.3).

    ``led`` holds the registers LEDn_ON_L, LEDn_ON_H, LEDn_OFF_L and LEDn_OFF_H.
    """
    on = int.from_bytes(led[:2], "little")
    off = int.from_bytes(led[2:], "little")
    always_on, always_off = on >> 8 & FULL, off >> 8 & FULL
    if always_off or (on == off and not always_on):
        return None
    return COUNTS if always_on else (off - on) % COUNTS


def check_count(count: int) -> None:
    """Raise ValueError unless a count is within 1 to 4095."""
    if not 1 <= count < COUNTS:
        raise ValueError(f"count {count} is not within 1 to {COUNTS - 1}")


class Pca9685Bus:
    """A Bus (see ``arm_hardware.bus.interface``) that writes the registers itself."""

    def __init__(
        self, board: ServoBoard, connect: Callable[[], I2C], where: str = "the bus"
    ) -> None:
        """Create a closed bus; ``connect`` opens the I2C bus, which errors call ``where``."""
        self._board = board
        self._connect = connect
        self._where = where
        self.name = f"The servo board at 0x{board.address:02x} of {where}"
        self._i2c: LockTimeoutI2C | None = None

    def open(self) -> None:
        """Connect; see Bus.open()."""
        if self._i2c is None:
            self._i2c = LockTimeoutI2C(self._connect())
            self._registers = Registers(self._i2c, self._board.address)
        self._find_board()
        self._refuse_foreign_pulses()

    def start(self) -> None:
        """Set the frequency and wake the chip; see Bus.start()."""
        self._refuse_foreign_pulses()
        if self._ready():
            return
        self._silence_sleeper()
        for left in reversed(range(TRIES)):  # without delay, before the servos lose torque
            try:
                self._wake()
                return
            except OSError:
                if left == 0:
                    raise

    def running(self) -> bool:
        """Return whether the chip is awake, not reset and at the right frequency."""
        mode = self._registers.read(MODE1)[0]
        awake = mode & (RESTART | AUTO_INCREMENT | SLEEP) == AUTO_INCREMENT
        return awake and self._registers.read(PRE_SCALE)[0] == self._prescale

    def scan(self) -> list[int]:
        """Return the addresses that answer."""
        return self._registers.scan()

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts in the registers, None where the output is off or the chip sleeps."""
        mode = self._registers.read(MODE1)[0]
        if mode & (SLEEP | RESTART):
            return dict.fromkeys(channels)
        return {c: pulse_count(self._led(c, bool(mode & AUTO_INCREMENT))) for c in channels}

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Set counts from 1 to 4095, with one transfer per channel."""
        for channel, count in counts.items():
            check_count(count)
            self._registers.write(LED0 + 4 * channel, 0, 0, count & 0xFF, count >> 8)

    def release(self, channels: Iterable[int]) -> None:
        """End the pulses of channels."""
        for channel in channels:
            self._registers.write(LED0 + 4 * channel, 0, 0, 0, FULL)

    def close(self) -> None:
        """Release the bus; the chip keeps running."""
        i2c, self._i2c = self._i2c, None
        if i2c is not None:
            i2c.deinit()

    @property
    def _prescale(self) -> int:
        return prescale(self._board.frequency_hz, self._board.reference_clock_hz)

    def _ready(self) -> bool:
        """Return whether start() has nothing left to do."""
        return self.running()

    def _wake(self) -> None:
        """Set the frequency, which the chip accepts only asleep, and wake it (section 7.3.5)."""
        self._registers.write(MODE1, SLEEP | AUTO_INCREMENT)
        self._registers.write(PRE_SCALE, self._prescale)
        self._registers.write(MODE1, AUTO_INCREMENT)
        time.sleep(OSCILLATOR_START)
        self._registers.write(MODE1, RESTART | AUTO_INCREMENT)

    def _silence_sleeper(self) -> None:
        """Clear the channels of a sleeping chip, which would resume their old counts."""
        mode = self._registers.read(MODE1)[0]
        if not mode & (SLEEP | RESTART):
            return
        increments = bool(mode & AUTO_INCREMENT)
        if any(pulse_count(self._led(c, increments)) is not None for c in range(CHANNELS)):
            self._registers.write(ALL_LED_OFF_H, FULL)

    def _find_board(self) -> None:
        address = self._board.address
        try:
            self._registers.probe()
            return
        except TimeoutError:
            raise  # the bus is stuck: a scan would time out at every address
        except OSError:
            found = self.scan()
        if address in found:
            return
        seen = ", ".join(f"0x{a:02x}" for a in found) or "none"
        raise BusError(
            f"No servo board at address 0x{address:02x} of {self._where} (addresses that answer: "
            f"{seen}); check its power, the wires SDA and SCL, and the address in the "
            "calibration.",
            address,
        )

    def _refuse_foreign_pulses(self) -> None:
        """Raise BusError if the board sends pulses at a frequency that start() would change."""
        if self._registers.read(PRE_SCALE)[0] == self._prescale:
            return
        for channel, count in self.read_counts(range(CHANNELS)).items():
            if count is not None:
                raise BusError(
                    f"The board already sends pulses on channel {channel}, at another frequency "
                    "than the calibration's; switch the servos' power off and on first.",
                    self._board.address,
                )

    def _led(self, channel: int, increments: bool) -> bytes:
        """Return the four registers of a channel."""
        base = LED0 + 4 * channel
        if increments:
            return self._registers.read(base, 4)
        return bytes(self._registers.read(base + k)[0] for k in range(4))
