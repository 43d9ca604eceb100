# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/commands/test_release.py
"""End the pulses of all channels of a servo board, so that its servos go limp.

For a board it needs no ROS node, Adafruit library or calibration; systemd's ExecStopPost runs
it, too. It also works while a driver has locked the board, which then faults and leaves the
channels off. With --calibration, the smart servos of its bus lose their torque instead. With
--driver, the running driver releases its servos, on whatever bus they are.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from arm_common.cli import run, unused

from arm_hardware.backends import AUTO, backend_for, of_simulation
from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.i2c import LockTimeoutI2C, Registers, linux_i2c
from arm_hardware.bus.interface import CHANNELS, DEVICE, SerialBus
from arm_hardware.bus.pca9685 import (
    ALL_LED_OFF_H,
    FULL,
    LED0,
    check_identity,
)
from arm_hardware.errors import BusError, CalibrationError, HardwareError

TRIES = 5
_STORED_I2C = "arm_simulation.emulation.board:stored_i2c"


def release(board: Registers) -> None:
    """End the pulses of all channels; raise OSError if the board still sends any."""
    for left in reversed(range(TRIES)):
        try:
            board.write(ALL_LED_OFF_H, FULL)
            upper = (board.read(LED0 + 4 * channel + 3)[0] for channel in range(CHANNELS))
            if all(byte & FULL for byte in upper):
                return
            raise OSError("it still sends pulses")
        except OSError:
            if left == 0:
                raise


def _release_servos(chosen: argparse.Namespace) -> None:
    # Here, as a board must be released without YAML.
    from arm_hardware.bus.retrying_bus import RetryingBus
    from arm_hardware.calibration.file import load_calibration

    calibration = load_calibration(chosen.calibration)
    board = calibration.board
    if not isinstance(board, SerialBus):
        raise CalibrationError("is for a PCA9685; give --address", file=str(calibration.path))
    backend = backend_for(AUTO, board, calibration.path)
    # Unchecked: whatever is wrong with a servo or the supply, the torque is switched off.
    bus = RetryingBus(backend.bus(replace(board, servos={}), locked=False), "try again")
    bus.open()
    try:
        bus.release(board.servos)
    finally:
        bus.close()
    sys.stdout.write(f"Released all servos at {board.port}.\n")


def _release_by_driver(chosen: argparse.Namespace) -> None:
    # Here, as a board must be released without ROS.
    from arm_hardware.ros.driver_calls import drivers, only_driver

    with drivers(chosen.namespace) as running:
        sys.stdout.write(f"{only_driver(running).trigger('release')}\n")


def _release_board(chosen: argparse.Namespace) -> None:
    if chosen.driver:
        _release_by_driver(chosen)
        return
    if chosen.calibration is not None:
        _release_servos(chosen)
        return
    place = f"0x{chosen.address:02x} of {chosen.sim or chosen.device}"
    try:
        if chosen.sim:
            i2c = of_simulation(_STORED_I2C)(chosen.sim, chosen.address)
        else:
            i2c = linux_i2c(chosen.device)
        board = Registers(LockTimeoutI2C(i2c), chosen.address)
        with suppress(OSError):  # a disturbed board is released all the same
            check_identity(board, chosen.address)
        release(board)
    except (HardwareError, OSError) as error:
        raise BusError(f"{place} was not released: {error}", address=chosen.address) from error
    holder = BoardLock(chosen.sim or chosen.device, chosen.address).holder()
    driver = f"; process {holder}, which drives it, faults" if holder is not None else ""
    sys.stdout.write(f"Released all channels of the board at {place}{driver}.\n")


def _address(text: str) -> int:
    return int(text, 0)


def main(args: list[str] | None = None) -> int:
    """Release the board; return 1 if that failed."""
    parser = argparse.ArgumentParser(prog="release", description=__doc__)
    parser.add_argument("--device", type=Path, default=DEVICE, help="I2C device node")
    parser.add_argument("--address", type=_address, default=0x40, help="of the board, like 0x40")
    parser.add_argument(
        "--calibration", type=Path, help="of smart servos, which are released instead"
    )
    parser.add_argument("--sim", type=Path, help="sim_registers of a simulated board instead")
    parser.add_argument(
        "--driver", action="store_true", help="ask the running driver instead; hold the arm before"
    )
    parser.add_argument("--namespace", default="", help="that of the driver, such as left")
    unused(parser, ["--namespace"], lambda chosen: not chosen.driver, "without --driver")
    return run(parser, _release_board, args, (HardwareError,))


if __name__ == "__main__":
    sys.exit(main())
