# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Drive a calibrated arm slowly to reference postures, and say where its tip should be there.

It drives the board itself: end the driver first. Measure at each posture; what is off in the same
way everywhere is a servo's zero, which calibrate_kinematics finds from such measurements.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from arm_description.commands.shell import run

from arm_description import DescriptionError, load_robot
from arm_hardware.calibrate import add_board
from arm_hardware.calibration_file import load_calibration
from arm_hardware.driver import Driver
from arm_hardware.errors import HardwareError
from arm_hardware.options import Options
from arm_hardware.process_end import interrupt_on_signals
from arm_hardware.verifying import drive, posture, report

SIMULATED_SPEED = 10.0  # seconds of the simulated arm in one of the wall
HELD = (
    "Pulses go on as they are: the arm is held. Only `release`, or cutting its power, lets it go."
)


def verify(chosen: argparse.Namespace) -> None:
    """Run the tool."""
    if not 0.0 < chosen.speed <= 1.0:
        raise HardwareError(f"--speed {chosen.speed:g} is not above 0 and at most 1.")
    model = load_robot(chosen.robot or load_calibration(chosen.file).robot)
    real = chosen.hardware == "real"
    options = Options(
        hardware=chosen.hardware,
        backend=chosen.backend,
        calibration=str(chosen.file),
        speed=1.0 if real else SIMULATED_SPEED,
        exit_action="hold",
    )
    driver = Driver(model, options)
    postures = [posture(driver, model, name) for name in chosen.postures or model.postures]
    if not postures:
        raise HardwareError(f"{model.name} has no postures; give some, as joint=value,...")
    driver.open()
    try:
        if real:
            _agree()
        driver.arm()
        for at in postures:
            drive(driver, at, chosen.speed)
            sys.stdout.write(report(driver, model, at) + "\n")
            _wait()
    finally:
        driver.close()
        sys.stdout.write(HELD + "\n")


def _agree() -> None:
    """Let a person agree to arm real servos.

    Raises:
        HardwareError: Nobody is there, or did not agree.
    """
    if not sys.stdin.isatty():
        raise HardwareError("Real servos are armed by a person at a terminal.")
    answer = input(
        "Servos without pulses are brought to the posture rest one after another, in short bursts;"
        "\nsome jump there AT ONCE. Keep clear, be ready to cut their power. Arm them? (y/n) "
    )
    if answer.strip().lower() != "y":
        raise HardwareError("Not armed: nothing was sent.")


def _wait() -> None:
    if sys.stdin.isatty():
        input("  Measure, then press Enter (Ctrl-C: stop here). ")


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = argparse.ArgumentParser(prog="verify", description=__doc__)
    parser.add_argument("file", type=Path, help="calibration file of this arm")
    parser.add_argument(
        "postures",
        nargs="*",
        help="names, or joint=value,... in deg or mm (default: all of the robot)",
    )
    parser.add_argument("--robot", default="", help="shipped name or path (default: the file's)")
    parser.add_argument(
        "--speed", type=float, default=0.2, help="share of the highest speeds (default 0.2)"
    )
    add_board(parser)
    interrupt_on_signals()
    return run(parser, verify, args, (HardwareError, DescriptionError, EOFError))


if __name__ == "__main__":
    sys.exit(main())
