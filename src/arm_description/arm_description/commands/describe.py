# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command that prints a summary of a robot.

describe nut_arm
describe my_arm.yaml --length m --angle rad
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from arm_common import cli
from arm_description.exporters.summary import robot_summary
from arm_description.library import load_robot, robot_path, shipped_robots
from arm_description.model.units import ANGLES, LENGTHS, Units
from arm_description.robot_file.scope import read_constants


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="describe", description="Show a robot's table, limits, reach, home pose and sources."
    )
    cli.add_robot(parser, shipped_robots())
    parser.add_argument("--length", choices=LENGTHS, help="unit of lengths (default: the file's)")
    parser.add_argument("--angle", choices=ANGLES, help="unit of angles (default: the file's)")
    return cli.run(parser, _describe, argv)


def _describe(arguments: argparse.Namespace) -> None:
    path = robot_path(arguments.robot)
    model = load_robot(path)
    units = Units(arguments.length or model.units.length, arguments.angle or model.units.angle)
    sys.stdout.write(robot_summary(model, units, read_constants(path)))
