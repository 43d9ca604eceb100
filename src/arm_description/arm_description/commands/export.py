# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command that exports a robot file to URDF or xacro.

dh2urdf puma560 > puma560.urdf
dh2urdf my_arm.yaml --prefix left_ --dh-frames -o my_arm.urdf
dh2urdf nut_arm --ros2-control mock > nut_arm.urdf
dh2urdf my_arm.yaml --macro my_arm -o my_arm.urdf.xacro
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from arm_common import cli
from arm_description.library import load_robot, shipped_robots
from arm_description.model.elements import Origin
from arm_description.urdf.macro import robot_macro
from arm_description.urdf.optional.ros2_control import HARDWARE
from arm_description.urdf.writer import robot_urdf


def dh2urdf(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    description = "Write the URDF of an arm from its robot file."
    parser = argparse.ArgumentParser(prog="dh2urdf", description=description)
    cli.add_robot(parser, shipped_robots())
    add = parser.add_argument
    add("--prefix", default="", help="prefix of every link and joint name")
    add("--dh-frames", action="store_true", help="add the frames dh_0 .. dh_n")
    add("--parent", default="", help="link to mount the arm on (default: none)")
    triple: dict[str, Any] = {"nargs": 3, "type": cli.number, "default": (0.0, 0.0, 0.0)}
    add("--xyz", metavar=tuple("XYZ"), help="position on the parent in m", **triple)
    add("--rpy", metavar=tuple("RPY"), help="roll, pitch, yaw on the parent in rad", **triple)
    text = "add the block <ros2_control> for mock, joint state topics or Gazebo"
    add(
        "--ros2-control",
        default="",
        choices=("", *HARDWARE),
        metavar=f"{{{','.join(HARDWARE)}}}",
        help=text,
    )
    add("--macro", default="", help="write a xacro macro with this name instead")
    of_call = ["--prefix", "--dh-frames", "--parent", "--xyz", "--rpy", "--ros2-control"]
    reason = "with --macro: it is a parameter of the macro, give it where the macro is called"
    cli.unused(parser, of_call, lambda given: given.macro, reason)
    cli.unused(parser, ["--xyz", "--rpy"], lambda given: not given.parent, "without --parent")
    cli.add_output(parser)
    return cli.run(parser, _write_urdf, argv)


def _write_urdf(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot)
    if arguments.macro:
        text = robot_macro(model, arguments.macro)
    else:
        mount = Origin(tuple(arguments.xyz), tuple(arguments.rpy))
        text = robot_urdf(
            model,
            arguments.prefix,
            arguments.dh_frames,
            arguments.parent,
            mount,
            arguments.ros2_control,
        )
    cli.write_text(text, arguments.output)
