# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Find the pulses of an arm's servos in small steps with keys, and write its calibration file.

It accesses the board directly, so end the driver first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from arm_common.cli import run
from arm_common.signals import interrupt_on_signals
from arm_common.terminal import Screen

from arm_description import DescriptionError, load_robot
from arm_hardware.backends import real_bus, sim_bus, simulated_board
from arm_hardware.bus.interface import Bus
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.calibration import ServoBoard
from arm_hardware.calibration.file import parse_calibration
from arm_hardware.calibration.pulses import HELD, Pulses
from arm_hardware.calibration.store import read_bytes
from arm_hardware.calibration.wizard import CalibrationSession, template
from arm_hardware.clock import SteadyClock
from arm_hardware.errors import CalibrationError, HardwareError
from arm_hardware.motion.options import add_board


def _file_text(path: Path, robot: str) -> bytes:
    """Return the text of a file, or of a new one for a robot if it does not exist."""
    if path.exists():
        return read_bytes(path)
    if not robot:
        raise CalibrationError(
            "does not exist", str(path), remedy="give --robot ROBOT to create it"
        )
    return template(load_robot(robot)).encode()


def calibrate(chosen: argparse.Namespace) -> None:
    """Run the tool."""
    text = _file_text(chosen.file, chosen.robot)
    calibration = parse_calibration(text, chosen.file)
    if not isinstance(calibration.board, ServoBoard):
        raise CalibrationError(
            "is for servos that answer, which need no pulses to be found",
            str(chosen.file),
            remedy="calibrate them with LeRobot, then run: ros2 run arm_hardware lerobot",
        )
    screen = Screen()
    bus = _closed_bus(chosen, calibration.board)
    retrying = RetryingBus(bus, "press the key again")
    retrying.open()
    try:
        pulses = Pulses(retrying, calibration)
        session = CalibrationSession(chosen.file, text, calibration, pulses, date.today())
        with screen:
            session.run(screen)
    finally:
        sys.stdout.write(f"\n{HELD}\n")
        bus.close()


def _closed_bus(chosen: argparse.Namespace, board: ServoBoard) -> Bus:
    if chosen.hardware == "real":
        return real_bus(chosen.backend, board)
    return sim_bus(chosen.backend, board, simulated_board(board, SteadyClock(), None))


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = argparse.ArgumentParser(prog="calibrate", description=__doc__)
    parser.add_argument("file", type=Path, help="calibration file of this arm, new or not")
    parser.add_argument("--robot", default="", help="robot of a new file: shipped name or path")
    add_board(parser)
    interrupt_on_signals()
    return run(parser, calibrate, args, (HardwareError, DescriptionError, EOFError))


if __name__ == "__main__":
    sys.exit(main())
