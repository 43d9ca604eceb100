# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/test_kinematic_fit.py
"""Fit the zeros of all joints to touched tip positions and write them to the calibration file.

The file of points holds commanded joint positions and measured tip positions. Link lengths are
fitted on request; they belong in the robot file and are only printed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from arm_common.cli import confirm, run
from arm_common.transforms import Array
from arm_description.errors import DescriptionError
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.model.units import SHOWN, mm
from arm_description.robot_model import RobotModel

from arm_hardware.calibration.file import parse_calibration, wires_of
from arm_hardware.calibration.kinematic_fit import (
    KinematicFit,
    TouchPoints,
    fit,
    load_touches,
    select_parameters,
)
from arm_hardware.calibration.selection import robot_of
from arm_hardware.calibration.writing.changes import (
    CalibrationChange,
    change,
    changed_keys,
    read_bytes,
    within_reach,
)
from arm_hardware.errors import HardwareError

OLDER = (
    "Note: {file} was changed after {points}; points touched with other zeros than its present "
    "ones would correct twice.\n"
)


def with_zeros(path: Path, found: KinematicFit, drivetrain: Drivetrain) -> CalibrationChange:
    """Return the calibration file with the fitted zeros; raise HardwareError if it is invalid.

    Joints that are dq beyond their commanded positions, with servo angles sign * actuator + zero,
    are corrected by the zeros ``zero - sign * J dq`` of their actuators.
    """
    beyond = np.zeros(len(drivetrain.joint_names))
    for parameter, value in zip(found.parameters, found.values, strict=True):
        if parameter.kind == "zero":
            beyond[parameter.joint] = value
    if beyond.any() and not drivetrain.is_linear:
        raise HardwareError(
            "Zeros of an arm with a crank or a measured table cannot be fitted: correct its "
            "angles in the robot file, or measure its servos again with calibrate."
        )
    text = read_bytes(path)
    calibration = parse_calibration(text, path)
    servos, wires = calibration.servos, wires_of(calibration.board)
    values = {}
    turned = drivetrain.jacobian(np.zeros_like(beyond)) @ beyond
    for name, value in zip(drivetrain.actuators, turned, strict=True):
        if value == 0.0:
            continue
        old = servos.get(name)
        if old is None:
            raise HardwareError(f"{path} has no joint {name}.")
        new = replace(old, zero=old.zero - old.sign * float(value))
        values[name] = changed_keys(old, within_reach(new), wires)
    return change(path, text, values, text)


def report(model: RobotModel, found: KinematicFit, touches: TouchPoints) -> str:
    """Return the result as text, one line per parameter."""
    lines = [
        f"{len(found.before)} points; tip errors before: {_errors(found.before)}; "
        f"after: {_errors(found.after)}"
    ]
    for p, value, deviation in zip(found.parameters, found.values, found.deviations, strict=True):
        kind = "revolute" if p.unit == "rad" else "prismatic"
        shift, spread = (SHOWN.written(x, kind) for x in (value, deviation))
        origin = "its commanded position"
        if p.kind != "zero":
            old = getattr(model.rows[p.joint].row, p.kind) * 1e3
            origin = f"{old:.3f} mm: write {mm(old + value, 3)} into the robot file"
        off = f"{shift:+.3f} {SHOWN.unit(kind)} (+- {spread:.3f})"
        lines.append(f"  {p.name} is {off} from {origin}")
    for name in found.unobservable:
        lines.append(f"  {name} is kept: the tip does not move with it at these points")
    for i in found.outliers:
        lines.append(
            f"Point {i + 1} (line {touches.lines[i]}) is {mm(found.after[i], 1)} off and "
            "does not fit the others: measure it again, or leave it out."
        )
    return "\n".join(lines) + "\n"


def _errors(distances: Array) -> str:
    root = math.sqrt(float(np.mean(distances**2)))
    return f"{mm(root, 2)} (rms), {mm(distances.max(), 2)} (largest)"


def calibrate_kinematics(options: argparse.Namespace) -> None:
    """Run the tool."""
    calibration = parse_calibration(read_bytes(options.file), options.file)
    model = robot_of(calibration, options.robot)
    touches = load_touches(options.points, model)
    if options.points.stat().st_mtime < options.file.stat().st_mtime:
        sys.stdout.write(OLDER.format(file=options.file, points=options.points))
    found = fit(model, select_parameters(model, options.lengths, options.keep), touches)
    sys.stdout.write(report(model, found, touches))
    new = with_zeros(options.file, found, Drivetrain.of(model))
    sys.stdout.write(new.diff())
    if options.yes or confirm(f"Write this to {options.file}?"):
        sys.stdout.write(f"Written; the previous file is {new.write()}.\n")
    else:
        sys.stdout.write("Nothing was written.\n")


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = argparse.ArgumentParser(prog="calibrate_kinematics", description=__doc__)
    parser.add_argument("file", type=Path, help="calibration file of this arm")
    parser.add_argument("points", type=Path, help="file of touched points")
    parser.add_argument("--robot", default="", help="shipped name or path (default: the file's)")
    name = "JOINT.a|JOINT.d"
    parser.add_argument(
        "--lengths", nargs="+", default=[], metavar=name, help="fit these, too; or all"
    )
    parser.add_argument("--keep", nargs="+", default=[], metavar="NAME", help="do not fit these")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    return run(parser, calibrate_kinematics, args, (HardwareError, DescriptionError, EOFError))


if __name__ == "__main__":
    sys.exit(main())
