# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The interface of a servo board, or of a bus of smart servos."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, NamedTuple, Protocol, runtime_checkable

from arm_hardware.bus.wiring import BusServo


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

    Without torque, such a servo counts as a channel without pulses.

    Every method but ``close`` may raise the OSError of the underlying bus and may then be called
    again; none blocks indefinitely. The errno is EBADMSG if data arrive corrupted.
    """

    name: str  # of the board and its bus, capitalised to start a sentence
    rewrites: int  # writes repeated because their registers read back different
    together: bool  # whether write_counts() sets all channels in one transfer
    measures: bool  # whether its servos report their positions
    phrases: BusPhrases

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

    def label(self, channel: int) -> str:
        """Return the name of a channel, capitalised to start a sentence."""

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

    def setting_problems(self, servos: Mapping[int, BusServo]) -> Mapping[int, list[Any]]:
        """Return the SettingFaults of servos, by id."""

    def mend(self, number: int, problem: Any) -> None:
        """Correct one of the setting_problems() of a servo."""
