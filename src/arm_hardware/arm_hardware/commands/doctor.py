# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with this machine, for driving an arm: one line a finding, each with its fix."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

from arm_hardware.backends import real_bus
from arm_hardware.bus.interface import Bus
from arm_hardware.bus.linux_i2c import DEVICE
from arm_hardware.calibration.calibration import ServoBoard, config_folder
from arm_hardware.commands.doctor_checks import (
    CheckResult,
    board,
    calibration,
    computer,
    device,
    has_ros,
    software,
)
from arm_hardware.commands.doctor_network import HEARD_WITHIN, reach


def _throttled() -> str:
    """Return what the firmware of a Raspberry Pi says of its supply, "" elsewhere."""
    try:
        done = subprocess.run(
            ["vcgencmd", "get_throttled"], capture_output=True, text=True, timeout=5.0
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _heard() -> bool:
    """Return whether two nodes here hear each other; needs ROS 2."""
    from arm_hardware.ros.loopback_test import hears_itself

    return hears_itself(HEARD_WITHIN)


@dataclass(frozen=True)
class Host:
    """What is looked at.

    Attributes:
        device: Node of the I2C bus.
        sys: The kernel's /sys.
        environment: Variables of the process.
        connect: Returns the closed bus to a board.
        throttled: Returns what the firmware says of the supply.
        heard: Returns whether two nodes hear each other; None where there is no ROS 2.
        today: Today.
    """

    device: Path = DEVICE
    sys: Path = Path("/sys")
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    connect: Callable[[ServoBoard], Bus] = lambda wanted: real_bus("i2c_dev", wanted)
    throttled: Callable[[], str] = _throttled
    heard: Callable[[], bool] | None = _heard if has_ros() else None
    today: date = field(default_factory=date.today)


def look(machine: Host, real: bool, file: Path | None) -> Iterator[CheckResult]:
    """Look at everything; nothing is written to the board.

    Args:
        machine: What to look at.
        real: Whether real servos are to be driven; otherwise the I2C device is not needed.
        file: A calibration file to check; None for the shipped ones.
    """
    yield from software(machine.environment)
    node = device(machine.device, real)
    yield node
    wanted = ServoBoard()
    for path in [file] if file else sorted(config_folder().glob("*.yaml")):
        found, read = calibration(path, real and file is not None, machine.today)
        yield found
        wanted = read.board if read else wanted
    if real and file is None:
        fix = "say --calibration FILE: real servos need one that was measured"
        yield CheckResult("calibration of this arm", False, "none given", fix)
    if node.ok:
        yield from board(wanted, machine.connect, real)
    if machine.heard is not None:
        yield from reach(machine.environment, machine.sys, machine.heard)
    yield from computer(machine.sys, machine.throttled)


def _print(findings: Iterator[CheckResult]) -> bool:
    """Print findings as they come; return whether something needed is missing."""
    missing = False
    for finding in findings:
        sys.stdout.write(f"{finding.mark:<8} {finding.what}: {finding.detail}\n")
        if finding.fix:
            sys.stdout.write(f"         -> {finding.fix}\n")
        sys.stdout.flush()
        missing |= finding.mark == "problem"
    return missing


def main(args: list[str] | None = None, machine: Host | None = None) -> int:
    """Print the findings; return 1 if something needed is missing."""
    parser = argparse.ArgumentParser(prog="doctor", description=__doc__)
    parser.add_argument("--real", action="store_true", help="real servos are to be driven")
    parser.add_argument("--calibration", type=Path, help="calibration file to check")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    chosen = parser.parse_args(args)
    findings = look(machine or Host(), chosen.real, chosen.calibration)
    if not chosen.json:
        try:
            return int(_print(findings))
        except BrokenPipeError:  # a reader that has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
    rows = [{"mark": finding.mark, **asdict(finding)} for finding in findings]
    json.dump(rows, sys.stdout, indent=2)
    sys.stdout.write("\n")
    return int(any(row["mark"] == "problem" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
