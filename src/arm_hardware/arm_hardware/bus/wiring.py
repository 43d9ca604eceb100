# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the servos of an arm are connected to: a servo board, or a serial bus of smart servos."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

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
