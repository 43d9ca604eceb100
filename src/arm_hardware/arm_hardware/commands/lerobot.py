# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/writing/test_lerobot.py
"""Turn a calibration of LeRobot into one of this driver, or back.

lerobot import my_arm.json --robot so101 --port /dev/ttyACM0 -o my_arm.yaml
lerobot export my_arm.yaml -o my_arm.json
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arm_common.cli import run
from arm_common.files.saving import save_edit
from arm_common.suggestions import program
from arm_description.errors import DescriptionError
from arm_description.library import load_robot

from arm_hardware.calibration.file import load_calibration, parse_calibration
from arm_hardware.calibration.servo_needs import check_ranges
from arm_hardware.calibration.writing.lerobot import (
    calibration_text,
    lerobot_text,
    load_lerobot,
    selected,
)
from arm_hardware.errors import CalibrationError, HardwareError


def _names(pairs: Sequence[str]) -> dict[str, str]:
    """Return the motor by joint of JOINT=MOTOR arguments."""
    wrong = [pair for pair in pairs if "=" not in pair]
    if wrong:
        raise HardwareError(f"--motor {wrong[0]} must be JOINT=MOTOR.")
    return dict(pair.split("=", 1) for pair in pairs)


def _import(chosen: argparse.Namespace) -> None:
    file, model = str(chosen.file), load_robot(chosen.robot)
    motors = selected(load_lerobot(chosen.file), chosen.only, chosen.without, file)
    names = _names(chosen.motor)
    text = calibration_text(motors, model, chosen.port, names, file).encode()
    check_ranges(replace(parse_calibration(text, chosen.output), path=chosen.file), model)
    _write(chosen.output, text)


def _export(chosen: argparse.Namespace) -> None:
    text = lerobot_text(load_calibration(chosen.file), _names(chosen.motor))
    _write(chosen.output, text.encode())


def _write(path: Path, text: bytes) -> None:
    if path.exists():
        raise CalibrationError(
            "already exists", file=str(path), remedy="give another name with -o"
        )
    save_edit(text, path, None)
    check = f"{program('arm_hardware', 'doctor')} --real --calibration {shlex.quote(str(path))}"
    sys.stdout.write(f"Wrote {path}. Compare it with the servos: {check}\n")


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = argparse.ArgumentParser(prog="lerobot", description=__doc__)
    kinds = parser.add_subparsers(required=True, metavar="import|export")
    for name, call, what in (
        ("import", _import, "LeRobot's calibration, a JSON file"),
        ("export", _export, "calibration of this driver"),
    ):
        kind = kinds.add_parser(name, help=f"convert {what}")
        kind.add_argument("file", type=Path, help=what)
        kind.add_argument("-o", "--output", type=Path, required=True, help="the new file")
        kind.add_argument(
            "--motor",
            action="append",
            default=[],
            metavar="JOINT=MOTOR",
            help="LeRobot's name of a joint's motor, if it differs",
        )
        if name == "import":
            kind.add_argument("--robot", required=True, help="shipped name or path")
            kind.add_argument(
                "--only", nargs="+", default=[], metavar="MOTOR", help="the motors of the arm"
            )
            kind.add_argument(
                "--without",
                nargs="+",
                default=[],
                metavar="MOTOR",
                help="motors that are no part of the arm, such as wheels",
            )
            kind.add_argument("--port", default="/dev/ttyACM0", help="serial port of the bus")
        kind.set_defaults(call=call)
    return run(parser, lambda chosen: chosen.call(chosen), args, (HardwareError, DescriptionError))


if __name__ == "__main__":
    sys.exit(main())
