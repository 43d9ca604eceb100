# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/bus/test_bus_contract.py
"""What the servos of an arm are connected to: a servo board, or a bus of smart servos; its use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

DEVICE = Path("/dev/i2c-1")  # of the I2C bus of servo boards
CHANNELS = 16  # of a board
COUNTS = 4096  # of a board's period, and of a turn of a smart servo
RADIANS = 2.0 * math.pi / COUNTS  # of a count of a smart servo
PCA9685 = "pca9685"  # the protocol of servo boards
FEETECH = "feetech"  # the protocol of a serial bus whose calibration names none
FEETECH_BAUD_RATES = (38400, 57600, 115200, 128000, 250000, 500000, 1_000_000)


def prescale(frequency_hz: float, clock_hz: float) -> int:
    """Return the PRE_SCALE register of a PCA9685 for a pulse frequency.

    Source: NXP's data sheet, rev. 4, section 7.3.5, equation 1.
    """
    return int(clock_hz / COUNTS / frequency_hz + 0.5) - 1


def count_us(frequency_hz: float, clock_hz: float) -> float:
    """Return the length of one count of a PCA9685 [us]: ``(PRE_SCALE + 1) / clock``."""
    return (prescale(frequency_hz, clock_hz) + 1) / clock_hz * 1e6


@dataclass(frozen=True)
class ServoBoard:
    """A PCA9685, which sends a pulse to each servo; setpoints are lengths of pulses [us]."""

    address: int = 0x40  # 7-bit I2C address
    frequency_hz: float = 50.0  # pulses per second
    reference_clock_hz: float = 25e6  # its oscillator

    @property
    def protocol(self) -> str:
        """What a backend must speak to drive it."""
        return PCA9685

    @property
    def setpoint_per_count(self) -> float:
        """Length of one count [us]."""
        return count_us(self.frequency_hz, self.reference_clock_hz)


@dataclass(frozen=True)
class BusServo:
    """A servo on a serial bus."""

    name: str  # of its joint
    homing_offset: int | None = None  # that its memory must have [counts], None for any
    counts: tuple[int, int] | None = None  # least and greatest that it will be sent, if known
    torque: float = 0.0  # that holds the arm in the worst posture, 0 if unknown [N m]
    acceleration: float = 0.0  # at which its joint may be moved, 0 if unknown [counts/s^2]


@dataclass(frozen=True)
class SerialBus:
    """A serial bus of smart servos; setpoints are counts, 4096 a turn."""

    port: str  # device node
    baud_rate: int = 1_000_000
    servos: Mapping[int, BusServo] = field(default_factory=dict)  # by id
    calibration: str = ""  # path of the file, "" if there is none
    protocol: str = FEETECH  # what a backend must speak to drive it
    setpoint_per_count: float = field(default=1.0, init=False)


class ServoFault(IntFlag):
    """What a servo protects itself from, as the error bits of Feetech's protocol."""

    VOLTAGE = 1
    ENCODER = 2
    TEMPERATURE = 4
    CURRENT = 8
    OVERLOAD = 32


# These last until the torque is switched off; the others end with their cause.
LATCHED = ServoFault.OVERLOAD | ServoFault.CURRENT


@dataclass(frozen=True)
class Measurement:
    """What one servo reports about itself."""

    count: int  # position
    speed: int  # [counts/s]
    load: float  # share of the motor's voltage, -1 to 1, the sign as of speed
    torque: float  # estimated from the load, exact at standstill [N m]
    voltage: float  # of the supply [V]
    temperature: float  # [deg C]
    current: float  # [A]
    faults: ServoFault


class BusPhrases(NamedTuple):
    """What users read about the parts of a bus; by default those of a servo board."""

    board: str = "the servo board"  # what has the counts
    settings: str = "the servo board's mode registers, which were set again"
    channels: str = "the channels"
    off: str = "was switched off by another program, such as release"
    faster: str = "on a Raspberry Pi, dtparam=i2c_arm_baudrate=400000"


class Bus(Protocol):
    """A servo board: 12-bit pulse lengths by channel; a bus of servos: 12-bit angles by id.

    Without torque, such a servo counts as a channel without pulses. What is defined here is that
    of a board.

    Every method but ``close`` may raise the OSError of the underlying bus and may then be called
    again; none blocks indefinitely. The errno is EBADMSG if data arrive corrupted.
    """

    name: str  # of the board and its bus, capitalised to start a sentence
    rewrites: int = 0  # writes repeated because their registers read back different
    together: bool  # whether write_counts() sets all channels in one transfer
    measures: bool = False  # whether its servos report their positions
    phrases: BusPhrases = BusPhrases()

    def open(self) -> None:
        """Connect without writing: pulses of an earlier process continue.

        Raises:
            BusError: The board or a library is missing, or the board sends pulses at a frequency
                other than the calibration's.
        """

    def start(self) -> None:
        """Set pulse frequency and output mode and wake the board, unless this is done already.

        Active channels continue; if the board was asleep, all channels are off afterwards.

        Raises:
            BusError: As in open().
        """

    def running(self) -> bool:
        """Return whether the board is as ``start`` left it: awake, same frequency and outputs.

        One read that shows it is enough; a difference is confirmed by further reads.
        """

    def scan(self) -> list[int]:
        """Return the 7-bit addresses that answer."""

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts that one read shows, None where the board sends no pulse."""

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Set pulse lengths by channel; each is read back and written again if it differs."""

    def release(self, channels: Iterable[int]) -> None:
        """End the pulses of channels, read back as in write_counts: their servos go limp."""

    def measure(self, channels: Iterable[int]) -> dict[int, Measurement]:
        """Return what servos report, nothing if ``measures`` is false."""
        return {}

    def label(self, channel: int) -> str:
        """Return the name of a channel, capitalised to start a sentence."""
        return f"Channel {channel} of the servo board"

    def close(self) -> None:
        """Release the bus. Pulses continue."""


class SettingFault(Protocol):
    """A setting in a servo's memory with which it cannot do what the driver tells it."""

    @property
    def sentence(self) -> str:
        """What is set and what is needed; continues the name of the servo."""

    @property
    def change(self) -> str:
        """What mends it, a clause."""


@runtime_checkable
class ConfigurableBus(Bus, Protocol):
    """A bus that can also read and change the memory of its servos, which lasts without power.

    The commands `servos` and `verify --mend` need it, and `doctor` reports it.
    """

    def is_free(self, number: int) -> bool:
        """Return whether no servo has an id."""

    def set_id(self, number: int, new: int) -> None:
        """Give a servo another id; it loses its torque."""

    def centre(self, number: int) -> int:
        """Make a servo's present position count 2048; return its homing offset."""

    def homing_offsets(self, channels: Iterable[int]) -> dict[int, int]:
        """Return the homing offsets of servos."""

    def accepted_settings(self) -> str:
        """Return which settings of which servos differ from the factory's, "" if none does."""

    def setting_problems(
        self, servos: Mapping[int, BusServo]
    ) -> Mapping[int, Sequence[SettingFault]]:
        """Return what is wrong with the settings of servos, by id."""

    def mend(self, number: int, problem: Any) -> None:
        """Correct one of the setting_problems() of a servo."""
