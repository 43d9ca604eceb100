# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/bus/test_bus_contract.py
"""A bus that uses Adafruit's ServoKit; only this module imports vendor code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arm_common.suggestions import install_command

from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.i2c import I2C, bus_label, check_device, set_timeout
from arm_hardware.bus.interface import CHANNELS, COUNTS, DEVICE, ServoBoard
from arm_hardware.bus.pca9685 import Pca9685Bus, check_count
from arm_hardware.bus.retrying_bus import confirmed
from arm_hardware.errors import BusError

PACKAGE = "adafruit-circuitpython-servokit"
PI_PACKAGE = "gpiod"  # which Blinka needs on a Raspberry Pi


def import_adafruit(any_computer: bool = False) -> tuple[Any, Callable[[], Any]]:
    """Return ``adafruit_servokit.ServoKit`` and a function that opens the bus, ``board.I2C``.

    With ``any_computer``, for simulated buses, Blinka accepts computers it does not know.

    Raises:
        BusError: A library is missing or does not support this computer.
    """
    # Otherwise Blinka asks on the terminal whether to install packages.
    os.environ.setdefault("BLINKA_SKIP_DEPENDENCY_CHECK", "1")
    if any_computer:
        os.environ.setdefault("BLINKA_OS_AGNOSTIC", "1")
    # ServoKit needs pwmio, the PWM of the computer's own pins, only for annotations. On a
    # Raspberry Pi, importing it requires a library that PyPI has only as source code in C.
    sys.modules.setdefault("pwmio", None)  # type: ignore[arg-type]
    try:
        import board
        from adafruit_servokit import ServoKit
    except ImportError as error:
        raise _missing(error, PACKAGE) from error
    except RuntimeError as error:  # as Blinka reports a missing library of this computer
        if isinstance(error.__cause__, ImportError):
            raise _missing(error.__cause__, f"{PACKAGE} {PI_PACKAGE}") from error
        raise _unknown_computer() from error
    return ServoKit, lambda: board.I2C()


def _missing(error: ImportError, packages: str) -> BusError:
    return BusError(
        f"A library is missing ({error}); set backend:=i2c_dev, which needs none, or install it: "
        f"{install_command(packages)}"
    )


def _unknown_computer() -> BusError:
    return BusError(
        "Adafruit's Blinka does not know this computer; set backend:=i2c_dev, which needs "
        "only the device node, or use a board that it supports, such as a Raspberry Pi."
    )


class _KitI2C:
    """The I2C bus as ServoKit gets it: reads are confirmed, and writes can be held back.

    ServoKit computes with registers that it reads, and its constructor writes to its chip.
    """

    def __init__(self, i2c: Any, sends: bool) -> None:
        self._i2c = i2c
        self.sends = sends

    def __getattr__(self, name: str) -> Any:
        return getattr(self._i2c, name)

    def writeto(self, *arguments: Any, **options: Any) -> None:
        """Write to a chip unless writes are held back."""
        if self.sends:
            self._i2c.writeto(*arguments, **options)

    def writeto_then_readfrom(
        self, address: int, buffer_out: bytes, buffer_in: bytearray, **slices: Any
    ) -> None:
        """Read registers of a chip until the reads agree."""

        def read() -> bytes:
            data = bytearray(buffer_in)
            self._i2c.writeto_then_readfrom(address, buffer_out, data, **slices)
            return bytes(data)

        buffer_in[:] = confirmed(read)


class ServoKitBus(Pca9685Bus):
    """A Pca9685Bus that sets frequency and pulses through ``adafruit_servokit``."""

    def __init__(
        self,
        board: ServoBoard,
        connect: Callable[[], I2C],
        where: str = "the bus",
        lock: BoardLock | None = None,
        any_computer: bool = False,
    ) -> None:
        """Create a closed bus; arguments as for Pca9685Bus and import_adafruit()."""
        super().__init__(board, connect, where, lock)
        self._any_computer = any_computer
        self._servokit: Any = None
        self._kit: Any = None
        self._servos: dict[int, Any] = {}

    def open(self) -> None:
        """Import the library and connect; see Bus.open()."""
        self._servokit, _ = import_adafruit(self._any_computer)
        super().open()

    def _write(self, channel: int, count: int | None) -> None:
        if self._kit is None:
            super()._write(channel, count)
        else:
            self._servo(channel).fraction = None if count is None else duty_fraction(count)

    def _ready(self) -> bool:
        return self._kit is not None and self.running()

    def _wake(self) -> None:
        """Create the kit, whose constructor sets the frequency and wakes the chip.

        The library puts the chip to sleep for 5 ms to do so. If an earlier process left the chip
        running, the constructor only reads, and the pulses continue.
        """
        self._servos = {}
        i2c = _KitI2C(self._i2c, sends=not self.running())
        try:
            self._kit = self._servokit(
                channels=CHANNELS,
                i2c=i2c,
                address=self._board.address,
                reference_clock_speed=self._board.reference_clock_hz,
                frequency=self._board.frequency_hz,
            )
        except ValueError as error:
            raise BusError(
                f"{self.name} rejects its settings ({error})",
                remedy="check its power and wires",
                address=self._board.address,
            ) from error
        i2c.sends = True

    def _servo(self, channel: int) -> Any:
        """Return ServoKit's servo with the whole period as pulse range: fractions are counts."""
        if channel not in self._servos:
            servo = self._kit.servo[channel]
            servo.set_pulse_width_range(0, COUNTS * self._board.setpoint_per_count)
            self._servos[channel] = servo
        return self._servos[channel]


def duty_fraction(count: int) -> float:
    """Return the fraction of the period that ServoKit converts to exactly this count.

    It computes ``int(fraction * 65535) >> 4`` (adafruit_motor.servo, adafruit_pca9685.PWMChannel).
    The middle of the sixteen duty cycles that yield one count is safe from rounding.
    """
    check_count(count)
    return (16.0 * count + 8.0) / 65535.0


def blinka_i2c(device: Path = DEVICE) -> Any:
    """Return the computer's bus by Adafruit's Blinka (``busio.I2C``); errors as in linux_i2c()."""
    check_device(device)
    _, connect = import_adafruit()
    try:
        with device.open("rb+", buffering=0) as node:
            set_timeout(node.fileno())
        return connect()
    except (NotImplementedError, RuntimeError, AttributeError, OSError, ValueError) as error:
        raise BusError(f"Blinka cannot open {device} ({error}).") from error


def servokit_bus(board: ServoBoard, lock: BoardLock | None) -> ServoKitBus:
    """Return a bus, still closed, that drives a board by Adafruit's library."""
    return ServoKitBus(board, blinka_i2c, bus_label(), lock)
