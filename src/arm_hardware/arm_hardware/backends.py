# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Selects the code that drives a board; only this module creates simulated boards."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import NamedTuple

from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.feetech import FeetechBus
from arm_hardware.bus.i2c import I2C
from arm_hardware.bus.interface import Bus
from arm_hardware.bus.linux_i2c import DEVICE, LinuxI2C, blinka_i2c, bus_label, linux_i2c
from arm_hardware.bus.pca9685 import Pca9685Bus
from arm_hardware.bus.servokit import ServoKitBus
from arm_hardware.bus.sts3215 import HOMING_OFFSET
from arm_hardware.calibration.calibration import BACKENDS, FEETECH, SerialBus, ServoBoard
from arm_hardware.clock import SteadyClock
from arm_hardware.errors import HardwareError
from arm_hardware.simulation.board import SimI2C, SimSMBus, SimulatedBoard
from arm_hardware.simulation.feetech_bus import SimulatedServoBus
from arm_hardware.simulation.pca9685_chip import (
    PCA9685_CHIP_CHANNELS,
    ChipMemory,
    Pca9685Chip,
)

_LOGGER = logging.getLogger(__name__)
_SIMULATED = "the simulated bus"
_MODULES = {"servokit": ("adafruit_servokit", "board"), "i2c_dev": ("smbus2",)}


class BoardConnection(NamedTuple):
    """A closed bus and, with sim hardware, the simulated board or servos."""

    bus: Bus
    sim: SimulatedBoard | None = None
    servo_bus: SimulatedServoBus | None = None


def backend_of(backend: str, board: ServoBoard | SerialBus, calibration: Path) -> str:
    """Return the backend for what a calibration is for; raise HardwareError if it does not suit.

    "auto" is the first one that suits.
    """
    suiting: tuple[str, ...] = BACKENDS
    what = "a PCA9685 (board)"
    if isinstance(board, SerialBus):
        suiting, what = (FEETECH,), "servos that answer (bus)"
    if backend not in ("auto", *suiting):
        raise HardwareError(
            f"{calibration} is for {what}, which backend:=auto drives by {suiting[0]}; "
            f"{backend} cannot."
        )
    return suiting[0] if backend == "auto" else backend


def real_bus(backend: str, board: ServoBoard | SerialBus) -> Bus:
    """Return a bus, still closed, to a board on this computer; open() locks the board."""
    if isinstance(board, SerialBus):
        return servo_bus_at(board)
    lock = BoardLock(DEVICE, board.address)
    if _installed(backend) == "servokit":
        return ServoKitBus(board, blinka_i2c, bus_label(), lock)
    return Pca9685Bus(board, linux_i2c, bus_label(), lock)


def readable_bus(board: ServoBoard) -> Bus:
    """Return a bus, still closed, to read a board on this computer that may be in use."""
    return Pca9685Bus(board, linux_i2c, bus_label())


def servo_bus_at(bus: SerialBus) -> FeetechBus:
    """Return a bus, still closed, to servos that answer; open() locks and reads only."""
    return FeetechBus(bus, bus.port, BoardLock(Path(bus.port), None))


def sim_bus(backend: str, board: ServoBoard, sim: SimulatedBoard) -> Bus:
    """Return a bus, still closed, to a simulated board; open() locks the file of its registers."""
    lock = BoardLock(sim.file, board.address) if sim.file else None
    if _installed(backend) == "servokit":
        return ServoKitBus(board, lambda: sim.i2c, _SIMULATED, lock, any_computer=True)
    return Pca9685Bus(board, lambda: LinuxI2C(SimSMBus(sim.i2c)), _SIMULATED, lock)


def _installed(backend: str) -> str:
    """Return a backend, or the other one with a warning if only that one's library is installed.

    Both send the same counts to the same registers.
    """
    other = next(name for name in _MODULES if name != backend)
    if _is_missing(backend) and not _is_missing(other):
        library = _MODULES[backend][0]
        _LOGGER.warning(
            f"backend {backend} needs {library}, which is not installed; {other} drives the board."
        )
        return other
    return backend


def _is_missing(backend: str) -> bool:
    return any(importlib.util.find_spec(module) is None for module in _MODULES[backend])


def simulated_servos(bus: SerialBus, clock: SteadyClock) -> BoardConnection:
    """Return a bus, still closed, to simulated servos that answer, and these."""
    servos = SimulatedServoBus(bus.servos, clock)
    for number, servo in bus.servos.items():
        servos.servos[number].set(HOMING_OFFSET, servo.homing_offset or 0)
    simulated = FeetechBus(bus, servos.path, exchange=servos.exchange)
    return BoardConnection(simulated, servo_bus=servos)


def simulated_board(
    board: ServoBoard, clock: SteadyClock, registers: Path | None
) -> SimulatedBoard:
    """Return a simulated board with servos; ``registers`` is a file that outlives the process."""
    return SimulatedBoard(board, clock, registers)


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


def stored_i2c(registers: Path, address: int) -> I2C:
    """Return the bus of a simulated board whose registers a driver keeps in a file.

    Raises:
        OSError: The file does not exist.
    """
    if not registers.is_file():
        raise OSError("the file does not exist")
    return SimI2C({address: Pca9685Chip(memory=ChipMemory(registers))})
