# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/commands/test_calibrate.py
"""Find the pulses of an arm's servos in small steps with keys, and write its calibration file.

Smart servos are guided by hand instead. It accesses the servos directly, so end the driver
first.
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
from arm_common.yaml.editing import flow_word, with_values
from arm_description.errors import DescriptionError
from arm_description.library import load_robot
from arm_description.robot_model import RobotModel

from arm_hardware.backends import AUTO, add_backend, backend_for, load_backend
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.calibration import Calibration, axes_of
from arm_hardware.calibration.file import parse_calibration
from arm_hardware.calibration.selection import robot_of
from arm_hardware.calibration.wizard.session import CalibrationSession
from arm_hardware.calibration.wizard.setpoints import (
    HELD,
    HELD_MEASURED,
    MeasuredSetpoints,
    Setpoints,
)
from arm_hardware.calibration.writing.changes import read_bytes
from arm_hardware.calibration.writing.template import template
from arm_hardware.clock import SteadyClock
from arm_hardware.errors import CalibrationError, HardwareError


def _new_text(path: Path, robot: str, backend: str) -> bytes:
    """Return the text of a new file for a robot."""
    if not robot:
        raise CalibrationError(
            "does not exist", file=str(path), remedy="give --robot ROBOT to create it"
        )
    protocol = "" if backend == AUTO else load_backend(backend).protocol
    return template(load_robot(robot), protocol).encode()


def calibrate(chosen: argparse.Namespace) -> None:
    """Run the tool."""
    read = read_bytes(chosen.file) if chosen.file.exists() else None
    text = _new_text(chosen.file, chosen.robot, chosen.backend) if read is None else read
    if chosen.port:
        text = with_values(text, ("bus",), {"port": flow_word(chosen.port)})
    calibration = parse_calibration(text, chosen.file)
    model = _robot(chosen.robot, calibration)
    backend = backend_for(chosen.backend, calibration.board, calibration.path)
    clock = None if chosen.hardware == "real" else SteadyClock()
    bus, emulation = backend.connection(calibration.board, clock)
    screen = Screen()
    retrying = RetryingBus(bus, "press the key again")
    retrying.open()
    try:
        setpoints = (MeasuredSetpoints if bus.measures else Setpoints)(retrying, calibration)
        session = CalibrationSession(
            text, read, calibration, setpoints, date.today(), model, chosen.robot
        )
        with screen:
            session.run(screen)
    finally:
        sys.stdout.write(f"\n{HELD_MEASURED if bus.measures else HELD}\n")
        bus.close()
        if emulation is not None:
            emulation.close()


def _robot(given: str, calibration: Calibration) -> RobotModel | None:
    """Return the robot of a calibration, None if it is neither shipped, beside it, nor given."""
    try:
        model = robot_of(calibration, given)
    except DescriptionError:
        if given or (calibration.path.parent / f"{calibration.robot}.yaml").is_file():
            raise
        sys.stdout.write(
            f"Without --robot FILE, the mechanism of {calibration.robot} is unknown: positions "
            "are then those of the servos' shafts.\n"
        )
        return None
    if model.name != calibration.robot:
        raise CalibrationError(
            f"is for robot '{calibration.robot}', not '{model.name}'",
            file=str(calibration.path),
            remedy="give the --robot of this file",
        )
    calibration.maps(axes_of(model))
    return model


def add_board(parser: argparse.ArgumentParser) -> None:
    """Add ``--hardware`` and ``--backend``."""
    parser.add_argument(
        "--hardware", choices=("real", "sim"), default="real", help="sim: simulated servos"
    )
    add_backend(parser)


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = argparse.ArgumentParser(prog="calibrate", description=__doc__)
    parser.add_argument("file", type=Path, help="calibration file of this arm, new or not")
    parser.add_argument(
        "--robot", default="", help="robot of the file, needed for a new one: shipped name or path"
    )
    parser.add_argument("--port", default="", help="serial port of smart servos")
    add_board(parser)
    interrupt_on_signals()
    return run(parser, calibrate, args, (HardwareError, DescriptionError, EOFError))


if __name__ == "__main__":
    sys.exit(main())
