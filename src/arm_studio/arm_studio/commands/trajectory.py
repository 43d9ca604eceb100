# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command that checks a trajectory against the limits of a robot and converts it.

It also makes the path of a pen from an SVG file or a line of text.

trajectory nut_arm wave
trajectory nut_arm my_rows.txt --output my.csv
trajectory nut_arm fast.csv --fit --reverse --output back.yaml
trajectory learm --text "Hello" --height-mm 15 --output hello.csv
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from arm_description.errors import DescriptionError
from arm_description.library import add_calibration, load_robot
from arm_description.robot_model import RobotModel
from arm_description.trajectories.drawing import add_drawing, drawing_options
from arm_description.trajectories.files import (
    read_trajectory,
    tool_path,
    write_tool_trajectory,
    write_trajectory,
)
from arm_description.trajectories.trajectory import JointTrajectory, ToolTrajectory, slowdown

from arm_common import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="trajectory",
        description="Check a trajectory and convert it, or make the path of a pen.",
    )
    add = parser.add_argument
    add("robot", help="name of a shipped robot, or path of a robot file")
    add(
        "file",
        nargs="?",
        default="",
        help="path of a .csv, .yaml, .txt or .svg file, or name of a shipped one",
    )
    add_drawing(parser)
    add(
        "--without",
        nargs="+",
        default=(),
        metavar="COLUMN",
        help="columns of a CSV file of joints to leave out",
    )
    add("--fit", action="store_true", help="stretch its times to keep the speed limits")
    add("--reverse", action="store_true", help="reverse it")
    add_calibration(parser)
    add("-o", "--output", default="", help="output file: .csv, .yaml or .txt")
    return cli.run(parser, _convert, argv)


def _convert(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot, arguments.calibration)
    tool = tool_path(arguments.file, arguments.text, model, drawing_options(arguments))
    if tool is not None and arguments.without:
        what = "--without is for the columns of a file of joints"
        raise DescriptionError(what, remedy="delete the column from the file of poses")
    if tool is not None:
        _convert_tool(arguments, tool)
        return
    trajectory = read_trajectory(arguments.file, model, arguments.fit, without=arguments.without)
    if arguments.reverse:
        trajectory = trajectory.reversed()
    if arguments.output:
        write_trajectory(arguments.output, trajectory, model)
    sys.stdout.write(summary(trajectory, model))


def _convert_tool(arguments: argparse.Namespace, tool: ToolTrajectory) -> None:
    tool = tool.reversed() if arguments.reverse else tool
    if arguments.output:
        write_tool_trajectory(arguments.output, tool)
    low, high = (f(tool.poses[:, :3, 3], axis=0) * 1e3 for f in (np.min, np.max))
    ends = [f"{name} {a:.1f} .. {b:.1f}" for name, a, b in zip("xyz", low, high, strict=True)]
    length = np.linalg.norm(np.diff(tool.poses[:, :3, 3], axis=0), axis=1).sum()
    sys.stdout.write(f"{len(tool.poses)} poses, {length:.3f} m; {', '.join(ends)} mm\n")


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
