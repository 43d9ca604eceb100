# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/bus/test_bus_contract.py
"""A simulated servo board: one chip on a bus with a servo on each channel.

The bus has the interfaces of ``busio.I2C`` and ``smbus2.SMBus``. Faults can be injected into it;
with ``board = driver.emulation``:

board.faults.fail_next(errno.EREMOTEIO)             # a loose wire, once
board.faults.fail_randomly(0.01, seed=7)            # disturbances, now and then
board.faults.block()                                # SDA held low: each transfer times out
board.faults.flip_reads(0.05, seed=7)               # one bit of every 20th read is inverted
board.faults.flip_writes(0.05, seed=7)              # the same on the way to the chip
board.faults.flip_next_write(byte=4, bit=1)         # byte 0 is the register's number
board.faults.write_by_others(bytes([6, 0, 0, 200, 1]), after=3)  # in mid-motion: 3 transfers
board.chip.power_off()                              # see also power_on(): a reset
board.i2c.move(0x40, 0x41)                          # an address jumper fell off
"""

from __future__ import annotations

import ctypes
import errno
import math
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.i2c import I2C, TRANSFER_TIMEOUT, LinuxI2C
from arm_hardware.bus.interface import Bus, ServoBoard
from arm_hardware.bus.pca9685 import Pca9685Bus
from arm_hardware.bus.servokit import ServoKitBus
from arm_hardware.calibration.servo_map import TRAVEL_US
from arm_hardware.clock import SteadyClock
from arm_hardware.control.position_estimate import ServoModel

from arm_simulation.emulation.pca9685_chip import PCA9685_CHIP_CHANNELS, ChipMemory, Pca9685Chip
from arm_simulation.emulation.rehearsal import Emulation

_GENERAL_CALL, _SOFTWARE_RESET = 0x00, b"\x06"
_I2C_M_RD = 0x0001  # flag of a message that is read (linux/i2c.h)
NOMINAL_VOLTAGE = 4.8  # [V] at which data sheets of small servos state their speed
BROWN_OUT = 2.5  # [V] below which their electronics do not run; assumed
HAND_SLEW = 900.0  # [us/s] of a hand that moves the horn
ERRORS = (errno.EIO, errno.EREMOTEIO, errno.ETIMEDOUT)
ADAPTER_TIMEOUT = 1.0  # [s] Linux' default for a transfer, see struct i2c_adapter


class Faults:
    """The faults of one bus, initially none; they may be changed from any thread at any time.

    ``sleep`` implements delays, which a simulation may shorten.
    """

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self._sleep = sleep
        self.timeout = ADAPTER_TIMEOUT  # of a blocked transfer [s], which fails with errno 110
        self.failed = 0  # transfers that failed on purpose
        self.flipped = 0  # transfers with a bit inverted on purpose
        self.clear()

    def clear(self) -> None:
        """End all faults."""
        self._next: list[int] = []  # the last one is next; 0 for no fault
        self._always: int | None = None
        self._probability = 0.0
        self._flipped_reads = self._flipped_writes = 0.0
        self._next_flip: tuple[int, int] | None = None
        self._others: list[tuple[int, bytes]] = []
        self._blocked = False
        self.locked = False  # whether another user holds the bus: ``try_lock`` never succeeds
        self.delay = 0.0  # by which every transfer takes longer [s]

    def fail_next(self, number: int = errno.EREMOTEIO, transfers: int = 1) -> None:
        """Make the next transfers fail with an errno."""
        self._next = [number] * transfers

    def fail_after(self, transfers: int, number: int = errno.EREMOTEIO) -> None:
        """Make one transfer fail with an errno after ``transfers`` successful ones."""
        self._next = [number, *[0] * transfers]

    def fail(self, number: int = errno.EREMOTEIO) -> None:
        """Make every transfer fail with an errno until cleared."""
        self._always = number

    def fail_randomly(self, probability: float, seed: int = 0) -> None:
        """Make transfers fail randomly, but reproducibly for a seed."""
        self._random = random.Random(seed)
        self._probability = probability

    def block(self) -> None:
        """Hold a wire low: every transfer takes ``timeout`` and fails with errno 110."""
        self._blocked = True

    def flip_reads(self, probability: float, seed: int = 0) -> None:
        """Invert one random bit of reads, with a probability for each transfer."""
        self._read_random = random.Random(seed)
        self._flipped_reads = probability

    def flip_writes(self, probability: float, seed: int = 0) -> None:
        """Invert one random bit of writes, with a probability for each transfer."""
        self._write_random = random.Random(seed)
        self._flipped_writes = probability

    def flip_next_write(self, byte: int, bit: int) -> None:
        """Invert a bit of the next write of registers; byte 0 is the number of the first one."""
        self._next_flip = byte, bit

    def write_by_others(self, data: bytes, after: int = 0) -> None:
        """Let another program write to the chip, after ``after`` transfers of the driver."""
        self._others.append((after, data))

    def due_writes(self) -> list[bytes]:
        """Return what other programs write before this transfer; called by the bus."""
        due = [data for after, data in self._others if after <= 0]
        self._others = [(after - 1, data) for after, data in self._others if after > 0]
        return due

    def written(self, data: bytes) -> bytes:
        """Return what arrives at the chip; called by the bus."""
        if self._next_flip is not None and len(data) > max(1, self._next_flip[0]):
            (byte, bit), self._next_flip = self._next_flip, None
            return self._inverted(data, 8 * byte + bit)
        if data and self._flipped_writes > 0.0:
            return self._disturbed(data, self._flipped_writes, self._write_random)
        return data

    def read(self, data: bytes) -> bytes:
        """Return what arrives from the chip; called by the bus."""
        if data and self._flipped_reads > 0.0:
            return self._disturbed(data, self._flipped_reads, self._read_random)
        return data

    def _disturbed(self, data: bytes, probability: float, source: random.Random) -> bytes:
        if source.random() >= probability:
            return data
        return self._inverted(data, source.randrange(8 * len(data)))

    def _inverted(self, data: bytes, place: int) -> bytes:
        self.flipped += 1
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        return bytes(flipped)

    def before_transfer(self) -> None:
        """Delay a transfer or raise its OSError; called by the bus."""
        if self.delay > 0.0:
            self._sleep(self.delay)
        if self._blocked or self.locked:
            self._sleep(self.timeout)
            self._raise(errno.ETIMEDOUT)
        if self._next and (number := self._next.pop()):
            self._raise(number)
        if self._always is not None:
            self._raise(self._always)
        if self._probability > 0.0 and self._random.random() < self._probability:
            self._raise(self._random.choice(ERRORS))

    def _raise(self, number: int) -> None:
        self.failed += 1
        raise OSError(number, os.strerror(number))


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
