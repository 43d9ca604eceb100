# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Adafruit's ServoKit behind the driver's bus: the one file that imports vendor code."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from arm_hardware.calibration import Board
from arm_hardware.errors import BusError
from arm_hardware.servo_map import COUNTS, prescale_of

PACKAGE = "adafruit-circuitpython-servokit"
MODE1, LED0, PRE_SCALE = 0x00, 0x06, 0xFE
SLEEP, FULL = 0x10, 0x1000


def import_servokit(any_computer: bool = False) -> Any:
    """Return the class ``adafruit_servokit.ServoKit``.

    Args:
        any_computer: Let Blinka accept a computer that it does not know; for simulated buses.

    Raises:
        BusError: A library is missing, or does not know this computer.
    """
    # Without it Blinka asks on the terminal whether it may install packages.
    os.environ.setdefault("BLINKA_SKIP_DEPENDENCY_CHECK", "1")
    if any_computer:
        os.environ.setdefault("BLINKA_OS_AGNOSTIC", "1")
    try:
        from adafruit_servokit import ServoKit
    except ImportError as error:
        raise BusError(
            f"A library is missing ({error}); install it into the Python that runs this node: "
            f"pip install {PACKAGE}"
        ) from error
    except (NotImplementedError, RuntimeError) as error:
        raise BusError(
            "Adafruit's Blinka does not know this computer; real servos need a board that it "
            "supports, such as a Raspberry Pi."
        ) from error
    return ServoKit


class ServoKitBus:
    """See ``arm_hardware.bus.Bus``."""

    def __init__(self, board: Board, i2c: Callable[[], Any], any_computer: bool = False) -> None:
        """Make a closed bus.

        Args:
            board: Address, frequency, oscillator.
            i2c: Returns an object like ``busio.I2C``; called by ``open``.
            any_computer: As in import_servokit().
        """
        self._board = board
        self._make_i2c = i2c
        self._any_computer = any_computer
        self._i2c: Any = None
        self._kit: Any = None
        self._servos: dict[int, Any] = {}

    def open(self) -> None:
        """Connect and set the frequency; see Bus.open()."""
        self._i2c = self._make_i2c()
        servokit = import_servokit(self._any_computer)
        address = self._board.address
        try:
            self._find_board()
            self._refuse_foreign_pulses()
            self._kit = servokit(
                channels=16,
                i2c=self._i2c,
                address=address,
                reference_clock_speed=self._board.reference_clock_hz,
                frequency=self._board.frequency_hz,
            )
        except (OSError, ValueError) as error:
            raise BusError(
                f"The servo board at 0x{address:02x} does not take its settings ({error}); check "
                "its power and wires.",
                address,
            ) from error

    def scan(self) -> list[int]:
        """Return the addresses that answer."""
        with self._locked() as i2c:
            return list(i2c.scan())

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts in the registers, None where the output is off."""
        return {channel: self._count(channel) for channel in channels}

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Set counts from 1 to 4095, one transfer a channel."""
        for channel, count in counts.items():
            self._servo(channel).fraction = fraction_of(count)

    def release(self, channels: Iterable[int]) -> None:
        """End the pulses of channels."""
        for channel in channels:
            self._servo(channel).fraction = None

    def close(self) -> None:
        """Let go of the bus; the chip goes on."""
        self._kit = None
        self._servos = {}

    def _servo(self, channel: int) -> Any:
        """Return ServoKit's servo, its pulse range the whole period: fractions then are counts."""
        if channel not in self._servos:
            servo = self._kit.servo[channel]
            servo.set_pulse_width_range(0, COUNTS * self._board.count_us)
            self._servos[channel] = servo
        return self._servos[channel]

    def _find_board(self) -> None:
        address, found = self._board.address, self.scan()
        if address in found:
            return
        seen = ", ".join(f"0x{a:02x}" for a in found) or "none"
        raise BusError(
            f"No servo board at address 0x{address:02x} (addresses that answer: {seen}); check "
            "its power, the wires SDA and SCL, and the address in the calibration.",
            address,
        )

    def _refuse_foreign_pulses(self) -> None:
        """Refuse a board that pulses at another frequency: ours would change its pulses."""
        wanted = prescale_of(self._board.frequency_hz, self._board.reference_clock_hz)
        if self._read(PRE_SCALE) == wanted or self._read(MODE1) & SLEEP:
            return
        for channel in range(16):
            if self._count(channel) is not None:
                raise BusError(
                    f"The board already sends pulses on channel {channel}, at another frequency "
                    "than the calibration's; switch the servos' power off and on first.",
                    self._board.address,
                )

    def _count(self, channel: int) -> int | None:
        """Return how many counts an output is high, None if never (data sheet, section 7.3.3)."""
        data = bytes(self._read(LED0 + 4 * channel + k) for k in range(4))
        on, off = struct.unpack("<HH", data)
        if off & FULL or (on == off and not on & FULL):
            return None
        return COUNTS if on & FULL else int(off - on) % COUNTS

    def _read(self, register: int) -> int:
        """Return one register, whether or not the chip's auto-increment is on."""
        data = bytearray(1)
        with self._locked() as i2c:
            i2c.writeto_then_readfrom(self._board.address, bytes([register]), data)
        return data[0]

    @contextmanager
    def _locked(self) -> Iterator[Any]:
        while not self._i2c.try_lock():
            time.sleep(0.0005)
        try:
            yield self._i2c
        finally:
            self._i2c.unlock()


def fraction_of(count: int) -> float:
    """Return the fraction of a whole period that ServoKit turns into exactly this count.

    It computes ``int(fraction * 65535) >> 4`` (adafruit_motor.servo, adafruit_pca9685.PWMChannel);
    the middle of the sixteen duty cycles that give one count is safe from rounding.

    Raises:
        ValueError: The count is not within 1 to 4095.
    """
    if not 1 <= count < COUNTS:
        raise ValueError(f"count {count} is not within 1 to {COUNTS - 1}")
    return (16.0 * count + 8.0) / 65535.0
