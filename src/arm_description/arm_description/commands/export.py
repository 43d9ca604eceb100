# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands that export a robot file to URDF, xacro, SRDF or a MoveIt package.

dh2urdf puma560 > puma560.urdf
dh2urdf my_arm.yaml --prefix left_ --dh-frames -o my_arm.urdf
dh2urdf nut_arm --ros2-control mock > nut_arm.urdf
dh2urdf my_arm.yaml --macro my_arm -o my_arm.urdf.xacro
dh2srdf nut_arm -o nut_arm.srdf
dh2moveit nut_arm -o src            # makes src/nut_arm_moveit_config
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arm_common import cli
from arm_description.errors import DescriptionError
from arm_description.exporters.moveit_package import moveit_package, package_name
from arm_description.exporters.srdf import to_srdf
from arm_description.library import add_calibration, load_robot, shipped_robots
from arm_description.model.elements import Origin
from arm_description.urdf.macro import robot_macro
from arm_description.urdf.optional.ros2_control import HARDWARE
from arm_description.urdf.writer import robot_urdf

_PREFIX = "prefix of every link and joint name"


def dh2urdf(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser("dh2urdf", "Write the URDF of an arm from its robot file.")
    add = parser.add_argument
    add("--prefix", default="", help=_PREFIX)
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


def dh2srdf(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser("dh2srdf", "Write the SRDF of an arm: groups, postures, disabled collisions.")
    parser.add_argument("--prefix", default="", help=_PREFIX)
    cli.add_output(parser)
    return cli.run(parser, _write_srdf, argv)


def dh2moveit(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser("dh2moveit", "Write the MoveIt configuration package of an arm.")
    options: dict[str, Any] = {"dest": "folder", "metavar": "FOLDER", "default": "."}
    text = "parent folder of the package (default: the current folder)"
    parser.add_argument("-o", "--output", help=text, **options)
    add_calibration(parser)
    cli.add_force(parser)
    return cli.run(parser, _write_moveit, argv)


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=description)
    cli.add_robot(parser, shipped_robots())
    return parser


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


def _write_srdf(arguments: argparse.Namespace) -> None:
    cli.write_text(to_srdf(load_robot(arguments.robot), arguments.prefix), arguments.output)


def _write_moveit(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot, arguments.calibration)
    folder = Path(arguments.folder) / package_name(model)
    cli.refuse_overwriting(str(folder), arguments.force)
    for name, text in moveit_package(model).items():
        file = folder / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot be created ({error.strerror})"
            raise DescriptionError(
                problem, remedy="check the path", file=str(file.parent)
            ) from None
        cli.write_text(text, str(file))
    cli.print_status(
        f"{folder}: build it with colcon, then ros2 launch {folder.name} move_group.launch.py"
    )
