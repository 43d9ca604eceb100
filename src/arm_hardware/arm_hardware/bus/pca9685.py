# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/test_pca9685_chip.py
"""A PCA9685 driven by its registers (NXP data sheet, rev. 4, 16 April 2015).

Every backend uses this code to find and read the board and to detect a reset.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Mapping

from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.i2c import I2C, LockTimeoutI2C, Registers, bus_label, linux_i2c
from arm_hardware.bus.interface import CHANNELS, COUNTS, Bus, ServoBoard, prescale
from arm_hardware.bus.retrying_bus import confirmed
from arm_hardware.errors import BusError

MODE1, MODE2, LED0, ALL_LED, ALL_LED_OFF_H, PRE_SCALE = 0x00, 0x01, 0x06, 0xFA, 0xFD, 0xFE
RESTART, EXTCLK, AUTO_INCREMENT, SLEEP = 0x80, 0x40, 0x20, 0x10  # of MODE1
ADDRESSES = 0x0F  # of MODE1: SUB1 to SUB3 and ALLCALL, more addresses that the chip answers at
# MODE2 (table 6): INVRT inverts the outputs, OCH changes them before the end of a transfer,
# without OUTDRV they are open-drain; OUTNE determines them while the pin OE is high.
INVRT, OCH, OUTDRV, OUTNE = 0x10, 0x08, 0x04, 0x03
OUTPUTS = OUTDRV  # the value of MODE2: its other bits are 0, as after power-up
FULL = 0x10  # of the upper byte of LEDn_ON and LEDn_OFF: always on, always off
# What no PCA9685 can show (tables 4 to 8): bits that read 0, and a PRE_SCALE below 3.
RESERVED = 0xE0  # of MODE2 and of the upper bytes of the channels
LEAST_PRE_SCALE = 3
LOOKS = 8  # at a register before what it shows is believed: bits flip on the way
TRIES = 3
WRITES = 10  # of a channel whose registers read back different
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


def check_identity(registers: Registers, address: int) -> None:
    """Raise BusError if a chip shows what no PCA9685 can; it is only read."""
    upper = range(LED0 + 1, LED0 + 4 * CHANNELS, 2)
    impossible = dict.fromkeys([MODE2, *upper], RESERVED)
    impossible |= dict.fromkeys(range(ALL_LED, ALL_LED_OFF_H + 1), 0xFF)  # they read 0

    def is_wrong(register: int, value: int) -> bool:
        if register == PRE_SCALE:
            return value < LEAST_PRE_SCALE
        return bool(value & impossible[register])

    for register in (PRE_SCALE, *impossible):
        values = [registers.read(register)[0]]
        while is_wrong(register, values[-1]) and len(values) < LOOKS:
            values.append(registers.read(register)[0])
        if is_wrong(register, values[-1]):
            raise _other_device(address, f"register 0x{register:02x} reads 0x{values[-1]:02x}")
    if not any(_steps_to_mode2(registers) for _ in range(LOOKS)):
        raise _other_device(address, "its registers are not of one byte each")


def _steps_to_mode2(registers: Registers) -> bool:
    """Return True if MODE2 follows MODE1, or MODE1 itself while auto-increment is off.

    After it, chips with registers of 16 bits show their lower byte, others their next register.
    """
    mode1, following = registers.read(MODE1, 2)
    return following == (registers.read(MODE2)[0] if mode1 & AUTO_INCREMENT else mode1)


def _other_device(address: int, reason: str) -> BusError:
    return BusError(
        f"The device at 0x{address:02x} does not look like a PCA9685 ({reason}); disconnect it, "
        "or correct the address in the calibration.",
        address=address,
    )


def check_count(count: int) -> None:
    """Raise ValueError unless a count is within 1 to 4095."""
    if not 1 <= count < COUNTS:
        raise ValueError(f"count {count} is not within 1 to {COUNTS - 1}")


class Pca9685Bus(Bus):
    """A Bus that writes the registers itself."""

    def __init__(
        self,
        board: ServoBoard,
        connect: Callable[[], I2C],
        where: str = "the bus",
        lock: BoardLock | None = None,
    ) -> None:
        """Create a closed bus.

        Args:
            board: The board.
            connect: Opens the I2C bus.
            where: Name of the I2C bus in errors.
            lock: Held while the bus is open.
        """
        self._board = board
        self._lock = lock
        self._connect = connect
        self._where = where
        self.name = f"The servo board at 0x{board.address:02x} of {where}"
        self.together = False  # so that a stop takes effect between two channels
        self._i2c: LockTimeoutI2C | None = None

    def open(self) -> None:
        """Connect; see Bus.open()."""
        if self._i2c is None:
            i2c = LockTimeoutI2C(self._connect())
            try:
                if self._lock is not None:
                    self._lock.acquire()
            except BusError:
                i2c.deinit()
                raise
            self._i2c = i2c
            self._registers = Registers(self._i2c, self._board.address)
        self._find_board()
        check_identity(self._registers, self._board.address)
        mode, outputs = confirmed(self._mode, bytes([AUTO_INCREMENT, OUTPUTS]))
        if mode & EXTCLK:  # sticky (section 7.3.1)
            raise BusError(
                f"{self.name} waits for an external clock (EXTCLK), which no command ends",
                remedy="switch its supply VCC off and on",
                address=self._board.address,
            )
        if not self._frequency_is_right() or (outputs ^ OUTPUTS) & (INVRT | OUTDRV):
            self._refuse_foreign_pulses()

    def start(self) -> None:
        """Set frequency and outputs and wake the chip; see Bus.start()."""
        if not self._frequency_is_right():
            self._refuse_foreign_pulses()
        self._close_addresses()
        if self._ready():
            return
        self._registers.write(MODE2, OUTPUTS)
        if self._ready():
            return
        slept = self._sleeps()
        if slept:  # it would resume its old counts
            self._silence()
        for left in reversed(range(TRIES)):  # without delay, before the servos lose torque
            try:
                self._wake()
                self._close_addresses()
                self._registers.write(MODE2, OUTPUTS)
                if self._ready():
                    if slept:  # a write to a mode register may have hit a channel
                        self._silence()
                    return
            except OSError:
                if left == 0:
                    raise
        raise OSError(errno.EBADMSG, "the mode registers do not keep what is written to them")

    def running(self) -> bool:
        """Return whether the chip is awake, not reset, at the right frequency and outputs."""
        mode = bytes([AUTO_INCREMENT, OUTPUTS])
        return confirmed(self._mode, mode) == mode and self._frequency_is_right()

    def scan(self) -> list[int]:
        """Return the addresses that answer."""
        return self._registers.scan()

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts in the registers, None where the output is off or the chip sleeps.

        One transfer reads MODE1 and all registers up to those of the last channel.
        """
        wanted = list(channels)
        block = self._registers.read(MODE1, LED0 + 4 * (max(wanted, default=-1) + 1))
        mode = block[MODE1]
        if mode & (SLEEP | RESTART):
            return dict.fromkeys(wanted)
        if not mode & AUTO_INCREMENT:
            return {channel: pulse_count(self._led(channel)) for channel in wanted}
        return {c: pulse_count(block[LED0 + 4 * c : LED0 + 4 * c + 4]) for c in wanted}

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Set counts from 1 to 4095 and read them back, one channel after the other."""
        for channel, count in counts.items():
            check_count(count)
            self._set(channel, count)

    def release(self, channels: Iterable[int]) -> None:
        """End the pulses of channels and read that back."""
        for channel in channels:
            self._set(channel, None)

    def close(self) -> None:
        """Release the bus; the chip keeps running."""
        i2c, self._i2c = self._i2c, None
        if i2c is not None:
            i2c.deinit()
        if self._lock is not None:
            self._lock.release()

    def _set(self, channel: int, count: int | None) -> None:
        """Set a channel's count, None for no pulses, until its registers read back equal.

        A board that was reset meanwhile takes none: that is left to running().
        """
        for again in range(WRITES):
            self._write(channel, count)
            if pulse_count(self._registers.read(LED0 + 4 * channel, 4)) == count:
                return
            if again and not self.running():
                return
            self.rewrites += 1
        raise OSError(errno.EBADMSG, f"channel {channel} does not keep what is written to it")

    def _write(self, channel: int, count: int | None) -> None:
        """Write the registers of a channel once."""
        off = FULL << 8 if count is None else count
        self._registers.write(LED0 + 4 * channel, 0, 0, off & 0xFF, off >> 8)

    def _mode(self) -> bytes:
        """Return MODE1 and MODE2 without the bits that do not affect pulses."""
        mode1, mode2 = (self._registers.read(register)[0] for register in (MODE1, MODE2))
        relevant = RESTART | EXTCLK | AUTO_INCREMENT | SLEEP | ADDRESSES
        return bytes([mode1 & relevant, mode2 & (INVRT | OCH | OUTDRV | OUTNE)])

    @property
    def _prescale(self) -> int:
        return prescale(self._board.frequency_hz, self._board.reference_clock_hz)

    def _frequency_is_right(self) -> bool:
        wanted = bytes([self._prescale])
        return confirmed(lambda: self._registers.read(PRE_SCALE), wanted) == wanted

    def _ready(self) -> bool:
        """Return whether start() has nothing left to do."""
        return self.running()

    def _close_addresses(self) -> None:
        """Let a running chip answer at its own address alone; its pulses continue.

        What is sent to another device at one of the others would move the servos.
        """
        running = confirmed(lambda: self._registers.read(MODE1))[0]
        if running & ADDRESSES and not running & ~(AUTO_INCREMENT | ADDRESSES):
            self._registers.write(MODE1, AUTO_INCREMENT)

    def _wake(self) -> None:
        """Set the frequency, which the chip accepts only asleep, and wake it (section 7.3.5)."""
        self._registers.write(MODE1, SLEEP | AUTO_INCREMENT)
        self._registers.write(PRE_SCALE, self._prescale)
        self._registers.write(MODE1, AUTO_INCREMENT)
        time.sleep(OSCILLATOR_START)
        self._registers.write(MODE1, RESTART | AUTO_INCREMENT)

    def _sleeps(self) -> bool:
        mode = confirmed(lambda: self._registers.read(MODE1))[0]
        return bool(mode & (SLEEP | RESTART))

    def _silence(self) -> None:
        """Switch all channels off and read that back."""
        for _ in range(WRITES):
            if not any(self._keeps_count(channel) for channel in range(CHANNELS)):
                return
            self._registers.write(ALL_LED_OFF_H, FULL)
        raise OSError(errno.EBADMSG, "the channels do not stay off")

    def _keeps_count(self, channel: int) -> bool:
        """Return whether a channel's registers hold a count, also while the chip sleeps."""
        return confirmed(lambda: pulse_count(self._led(channel)), None) is not None

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
            f"{seen})",
            remedy="check its power, the wires SDA and SCL, and the address in the calibration",
            address=address,
        )

    def _refuse_foreign_pulses(self) -> None:
        """Raise BusError if the board sends any pulses, which start() would change."""
        everything = range(CHANNELS)
        sent = confirmed(lambda: tuple(self.read_counts(everything).values()))
        for channel, count in enumerate(sent):
            if count is not None:
                raise BusError(
                    f"The board already sends pulses on channel {channel}, at another frequency "
                    "than the calibration's, or inverted, or with open-drain outputs",
                    remedy="switch the servos' power off and on first",
                    address=self._board.address,
                )

    def _led(self, channel: int) -> bytes:
        """Return the four registers of a channel, which needs no auto-increment."""
        base = LED0 + 4 * channel
        return bytes(self._registers.read(base + k)[0] for k in range(4))


def i2c_dev_bus(board: ServoBoard, lock: BoardLock | None) -> Pca9685Bus:
    """Return a bus, still closed, that drives a board by the kernel's interface alone."""
    return Pca9685Bus(board, linux_i2c, bus_label(), lock)
