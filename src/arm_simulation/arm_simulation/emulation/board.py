# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A simulated servo board: one chip on a bus with a servo on each channel.

The bus has the interfaces of ``busio.I2C`` and ``smbus2.SMBus``.
"""

from __future__ import annotations

import ctypes
import errno
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.i2c import I2C, TRANSFER_TIMEOUT, LinuxI2C
from arm_hardware.bus.interface import Bus
from arm_hardware.bus.pca9685 import Pca9685Bus
from arm_hardware.bus.servokit import ServoKitBus
from arm_hardware.bus.wiring import ServoBoard
from arm_hardware.calibration.servo_map import TRAVEL_US
from arm_hardware.clock import SteadyClock
from arm_hardware.control.position_estimate import ServoModel

from arm_simulation.emulation.faults import Faults
from arm_simulation.emulation.pca9685_chip import PCA9685_CHIP_CHANNELS, ChipMemory, Pca9685Chip
from arm_simulation.emulation.rehearsal import Emulation

_GENERAL_CALL, _SOFTWARE_RESET = 0x00, b"\x06"
_I2C_M_RD = 0x0001  # flag of a message that is read (linux/i2c.h)
NOMINAL_VOLTAGE = 4.8  # [V] at which data sheets of small servos state their speed
BROWN_OUT = 2.5  # [V] below which their electronics do not run; assumed
HAND_SLEW = 900.0  # [us/s] of a hand that moves the horn


class SimI2C(I2C):
    """A bus with chips by 7-bit address; an address without chip raises OSError 121 like Linux."""

    def __init__(self, chips: Mapping[int, Pca9685Chip], faults: Faults | None = None) -> None:
        super().__init__()
        self.faults = faults or Faults()
        self._chips = dict(chips)

    def try_lock(self) -> bool:
        """Take the bus if it is free."""
        return not self.faults.locked and super().try_lock()

    def scan(self) -> list[int]:
        """Return the addresses that answer."""
        self.faults.before_transfer()
        return sorted(address for address, chip in self._chips.items() if chip.powered)

    def move(self, old: int, new: int) -> None:
        """Give a chip another address."""
        self._chips[new] = self._chips.pop(old)

    def transfer(self, address: int, data: bytes, length: int) -> bytes:
        """Write ``data`` to a chip, then read and return ``length`` bytes."""
        self.faults.before_transfer()
        if address == _GENERAL_CALL and data == _SOFTWARE_RESET:
            for chip in self._chips.values():
                chip.reset()
            return b""
        addressed = self._chips.get(address)
        if addressed is None or not addressed.powered:
            raise OSError(errno.EREMOTEIO, "Remote I/O error")
        for others in self.faults.due_writes():
            addressed.write(others)
        if data:
            addressed.write(self.faults.written(data))
        return self.faults.read(addressed.read(length))

    def deinit(self) -> None:
        """Do nothing."""


class SimSMBus:
    """The parts of ``smbus2.SMBus`` that the driver uses, on a simulated bus."""

    def __init__(self, i2c: SimI2C) -> None:
        self._i2c = i2c
        i2c.faults.timeout = TRANSFER_TIMEOUT

    def i2c_rdwr(self, *messages: Any) -> None:
        """Transfer ``smbus2.i2c_msg``s, as the kernel does."""
        for message in messages:
            if message.flags & _I2C_M_RD:
                data = self._i2c.transfer(message.addr, b"", message.len)
                ctypes.memmove(message.buf, data, message.len)
            else:
                self._i2c.transfer(message.addr, bytes(message), 0)

    def close(self) -> None:
        """Do nothing."""


class DisturbedServo(ServoModel):
    """A hobby servo that can be disturbed: by a hand, an obstacle, its supply.

    Attributes:
        hand: Where a hand holds the horn, as a pulse [us], None for no hand.
        stops: Between which the horn can turn, as pulses [us].
        voltage: Of the supply [V]; 0 without a plug.
    """

    def __init__(self, pulse_us: float) -> None:
        """Create a servo that stands where a pulse holds it, or without pulses in its middle."""
        super().__init__(*([pulse_us] if pulse_us else []))
        self.hand: float | None = None
        self.stops = (-math.inf, math.inf)
        self.voltage = NOMINAL_VOLTAGE
        self._pulse, self._rated = pulse_us, self._slew

    def command(self, setpoint: float, now: float) -> None:
        """Set the pulse length [us] at a time [s]."""
        self._pulse = setpoint
        self.update(now)

    def update(self, now: float) -> None:
        """Respond to changed attributes at a time [s]."""
        target, slew = 0.0, self._rated * self.voltage / NOMINAL_VOLTAGE
        if self.hand is not None:
            target, slew = self.hand, HAND_SLEW
        elif self._pulse and self.voltage >= BROWN_OUT:
            target = max(self.stops[0], min(self.stops[1], self._pulse))
        super().command(target, now)
        self._slew = slew


class SimulatedBoard(Emulation):
    """A simulated board, its I2C bus with faults, and servos by channel.

    Attributes:
        bus: What a driver drives it by, still closed.
    """

    channels, port, travel = "channel", "", TRAVEL_US

    def __init__(
        self,
        board: ServoBoard,
        clock: SteadyClock,
        registers: Path | None = None,
        connect: Callable[[ServoBoard, SimulatedBoard], Bus] | None = None,
    ) -> None:
        """Power up, or continue with registers stored by an earlier process; see ChipMemory.

        Args:
            board: Its address and its frequencies.
            clock: The time of its servos.
            registers: The file that keeps its registers, None for none.
            connect: Makes its bus, by default that of the backend i2c_dev.
        """
        self._clock = clock
        self.file = registers
        self.chip = Pca9685Chip(board.reference_clock_hz, ChipMemory(registers))
        self.faults = Faults(lambda s: clock.sleep_until(clock.now() + s, threading.Event()))
        self.i2c = SimI2C({board.address: self.chip}, self.faults)
        self._pulses = [self.chip.pulse_us(channel) for channel in range(PCA9685_CHIP_CHANNELS)]
        self.servos = tuple(map(DisturbedServo, self._pulses))
        self._supply, self._without = NOMINAL_VOLTAGE, set()
        self._lock = threading.RLock()
        self.chip.changed = self._update
        self.bus = (connect or i2c_dev_bus)(board, self)

    def close(self) -> None:
        """Do nothing: it has no threads."""

    def _update(self) -> None:
        now = self._clock.now()
        with self._lock:
            for channel, servo in enumerate(self.servos):
                pulse = self.chip.pulse_us(channel)
                if pulse != self._pulses[channel]:
                    self._pulses[channel] = pulse
                    servo.command(pulse, now)

    # -- What a person does to it -----------------------------------------------------------------

    def _connect(self, on: bool) -> None:
        if on:
            self.faults.clear()
        else:
            self.faults.fail()

    def supply(self, volts: float | None = None) -> None:
        """Set the voltage at V+ [V], by default that of a good supply; the board has another."""
        self._supply = NOMINAL_VOLTAGE if volts is None else volts
        for channel in range(PCA9685_CHIP_CHANNELS):
            with self._disturbed(channel) as servo:
                servo.voltage = self._voltage(channel)

    def push(self, channel: int, setpoint: float | None) -> None:
        """Let a hand hold a servo's horn where a pulse [us] would hold it, None to let go."""
        with self._disturbed(channel) as servo:
            servo.hand = setpoint

    def block(self, channel: int, lower: float = -math.inf, upper: float = math.inf) -> None:
        """Bound the pulses [us] between which a horn can turn."""
        with self._disturbed(channel) as servo:
            servo.stops = (lower, upper)

    def setpoint(self, channel: int) -> float:
        """Return where a horn stands, as the pulse that would hold it [us]."""
        with self._lock:
            return self.servos[channel].position(self._clock.now())

    @contextmanager
    def _disturbed(self, channel: int) -> Iterator[DisturbedServo]:
        with self._lock:
            yield self.servos[channel]
            self.servos[channel].update(self._clock.now())


_WHERE = "the simulated bus"


def servokit_bus(board: ServoBoard, simulated: SimulatedBoard) -> ServoKitBus:
    """Return a bus, still closed, to a simulated board, by Adafruit's library."""
    lock = _lock(board, simulated)
    return ServoKitBus(board, lambda: simulated.i2c, _WHERE, lock, any_computer=True)


def i2c_dev_bus(board: ServoBoard, simulated: SimulatedBoard) -> Pca9685Bus:
    """Return a bus, still closed, to a simulated board, by the kernel's interface."""
    lock = _lock(board, simulated)
    return Pca9685Bus(board, lambda: LinuxI2C(SimSMBus(simulated.i2c)), _WHERE, lock)


def _lock(board: ServoBoard, simulated: SimulatedBoard) -> BoardLock | None:
    """Return the lock of the file of a board's registers, None without one."""
    return BoardLock(simulated.file, board.address) if simulated.file else None


def emulate_servokit(
    board: ServoBoard, clock: SteadyClock, registers: Path | None
) -> SimulatedBoard:
    """Return what stands in for a board of the backend servokit."""
    return SimulatedBoard(board, clock, registers, servokit_bus)


def stored_i2c(registers: Path, address: int) -> I2C:
    """Return the bus of a simulated board whose registers a driver keeps in a file.

    Raises:
        OSError: The file does not exist.
    """
    if not registers.is_file():
        raise OSError("the file does not exist")
    return SimI2C({address: Pca9685Chip(memory=ChipMemory(registers))})
