# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command that exports a robot file to MJCF.

dh2mjcf nut_arm -o nut_arm.xml
python3 -m mujoco.viewer --mjcf=nut_arm.xml
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from arm_common import cli
from arm_description import load_robot, shipped_robots
from arm_simulation.mjcf.robot import robot_mjcf


def dh2mjcf(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    text = "Write the MJCF of an arm from its robot file: bodies, limits, actuators, in SI units."
    parser = argparse.ArgumentParser(prog="dh2mjcf", description=text)
    cli.add_robot(parser, shipped_robots())
    cli.add_output(parser)
    return cli.run(parser, _write, argv)


def _write(arguments: argparse.Namespace) -> None:
    cli.write_text(robot_mjcf(load_robot(arguments.robot)), arguments.output)
