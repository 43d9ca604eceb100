# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command that checks a trajectory against the limits of a robot and converts it.

trajectory nut_arm wave
trajectory nut_arm my_rows.txt --output my.csv
trajectory nut_arm fast.csv --fit --reverse --output back.yaml
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from arm_common import cli
from arm_description.library import load_robot
from arm_description.robot_model import RobotModel
from arm_description.trajectories.files import read_trajectory, write_trajectory
from arm_description.trajectories.trajectory import JointTrajectory, slowdown


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="trajectory", description="Check a joint trajectory and convert it."
    )
    add = parser.add_argument
    add("robot", help="name of a shipped robot, or path of a robot file")
    add("file", help="path of a .csv, .yaml or .txt file, or name of a shipped one")
    add("--fit", action="store_true", help="stretch its times to keep the speed limits")
    add("--reverse", action="store_true", help="reverse it")
    cli.add_calibration(parser)
    add("-o", "--output", default="", help="output file: .csv, .yaml or .txt")
    return cli.run(parser, _convert, argv)


def _convert(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot, arguments.calibration)
    trajectory = read_trajectory(arguments.file, model, arguments.fit)
    if arguments.reverse:
        trajectory = trajectory.reversed()
    if arguments.output:
        write_trajectory(arguments.output, trajectory, model)
    sys.stdout.write(summary(trajectory, model))


def summary(trajectory: JointTrajectory, model: RobotModel) -> str:
    """Return the duration and the range of each joint, in the robot's units."""
    points, factor = len(trajectory.times), slowdown(trajectory, model)[0]
    lines = [
        f"{points} points, {trajectory.duration:.2f} s, at most {100 * factor:.0f} % of the "
        "joints' speed limits"
    ]
    width = max(map(len, trajectory.names))
    for joint, column in zip(model.joints, trajectory.positions.T, strict=True):
        ends = (float(column.min()), float(column.max()))
        low, high = (model.units.written(value, joint.type) for value in ends)
        unit = model.units.unit(joint.type)
        lines.append(f"  {joint.name:<{width}}  {low:9.3f} .. {high:9.3f} {unit}")
    return "\n".join(lines) + "\n"
