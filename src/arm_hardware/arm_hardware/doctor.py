# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with this machine, for driving an arm: one line a finding, each with its fix."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from arm_hardware.adafruit import PACKAGE
from arm_hardware.calibration_file import load_calibration
from arm_hardware.errors import CalibrationError
from arm_hardware.pi_i2c import DEVICE, group_of
from arm_hardware.shipped import config_folder

PACKAGES = ("adafruit-blinka", "adafruit-circuitpython-pca9685", PACKAGE)
LEAST_PYTHON = (3, 10)


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Attributes:
        what: Its name.
        ok: Whether it is as it should be.
        detail: What was found.
        fix: What to do; empty if ok.
        needed: Whether something in the chosen scope does not work without it.
    """

    what: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = True


def look(real: bool, calibration: Path | None) -> list[Finding]:
    """Look at everything.

    Args:
        real: Whether real servos are to be driven; otherwise the I2C device is not needed.
        calibration: A calibration file to check; None for the shipped ones.
    """
    files = [calibration] if calibration else sorted(config_folder().glob("*.yaml"))
    return [
        _python(),
        _ros(),
        *(_package(name) for name in PACKAGES),
        *_device(real),
        *(_calibration(path, real and calibration is not None) for path in files),
    ]


def _python() -> Finding:
    found = ".".join(str(part) for part in sys.version_info[:3])
    least = ".".join(str(part) for part in LEAST_PYTHON)
    ok = sys.version_info[:2] >= LEAST_PYTHON
    return Finding("Python", ok, found, "" if ok else f"install Python {least} or newer")


def _ros() -> Finding:
    ok = importlib.util.find_spec("rclpy") is not None
    distro = os.environ.get("ROS_DISTRO") or "no ROS_DISTRO set"
    fix = "source your ROS 2 (source /opt/ros/jazzy/setup.bash), or use ./arm, which brings one"
    return Finding("ROS 2", ok, distro if ok else "rclpy is not there", "" if ok else fix)


def _package(name: str) -> Finding:
    try:
        return Finding(name, True, metadata.version(name))
    except metadata.PackageNotFoundError:
        fix = f"pip install {PACKAGE} into the Python that runs the node (not needed for fake)"
        return Finding(name, False, "not installed", fix)


def _device(real: bool) -> Iterable[Finding]:
    if not DEVICE.exists():
        fix = "enable I2C (raspi-config, or dtparam=i2c_arm=on) and reboot; only for real servos"
        yield Finding(str(DEVICE), False, "not there", fix, needed=real)
        return
    group = group_of(DEVICE)
    ok = os.access(DEVICE, os.R_OK | os.W_OK)
    fix = "" if ok else f"sudo usermod -aG {group} $USER, then log in again"
    yield Finding(
        str(DEVICE), ok, f"group {group}, {'usable' if ok else 'no permission'}", fix, real
    )


def _calibration(path: Path, must_be_real: bool) -> Finding:
    what = f"calibration {path.name}"
    try:
        calibration = load_calibration(path)
    except CalibrationError as error:
        return Finding(what, False, str(error), "correct the file")
    if calibration.example and must_be_real:
        return Finding(what, False, "is an example", "measure your servos, set example: false")
    kind = "an example, for sim only" if calibration.example else "measured"
    return Finding(what, True, f"{len(calibration.servos)} servos, {kind}")


def main(args: list[str] | None = None) -> int:
    """Print the findings; return 1 if something needed is missing."""
    parser = argparse.ArgumentParser(prog="doctor", description=__doc__)
    parser.add_argument("--real", action="store_true", help="real servos are to be driven")
    parser.add_argument("--calibration", type=Path, help="calibration file to check")
    chosen = parser.parse_args(args)
    findings = look(chosen.real, chosen.calibration)
    for finding in findings:
        mark = "ok     " if finding.ok else "problem" if finding.needed else "note   "
        sys.stdout.write(f"{mark}  {finding.what}: {finding.detail}\n")
        if finding.fix:
            sys.stdout.write(f"         -> {finding.fix}\n")
    return 1 if any(f.needed and not f.ok for f in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
