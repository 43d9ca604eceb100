# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which code speaks to which board."""

from __future__ import annotations

from pathlib import Path

from arm_hardware.bus import Bus
from arm_hardware.calibration import Board
from arm_hardware.linux_i2c import LinuxI2C
from arm_hardware.pca9685_bus import Pca9685Bus
from arm_hardware.pi_i2c import blinka_i2c, linux_i2c, name_of
from arm_hardware.servokit_bus import ServoKitBus
from arm_hardware.sim.arm import SimArm
from arm_hardware.sim.i2c_dev import SimI2cDev

SIMULATED = "the simulated bus"


def real_bus(backend: str, board: Board) -> Bus:
    """Return the closed bus to a board on this computer.

    Args:
        backend: servokit or i2c_dev.
        board: Address and settings.
    """
    if backend == "servokit":
        return ServoKitBus(board, blinka_i2c, name_of())
    return Pca9685Bus(board, linux_i2c, name_of())


def sim_bus(backend: str, board: Board, sim: SimArm) -> Bus:
    """Return the closed bus to a simulated board.

    Args:
        backend: servokit or i2c_dev.
        board: Address and settings.
        sim: The board.
    """
    if backend == "servokit":
        return ServoKitBus(board, lambda: sim.i2c, SIMULATED, any_computer=True)
    device = SimI2cDev(sim.i2c)
    return Pca9685Bus(board, lambda: LinuxI2C(Path("/dev/null"), device.ioctl), SIMULATED)
