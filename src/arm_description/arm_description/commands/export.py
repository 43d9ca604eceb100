# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: a robot file to URDF, or to a xacro macro.

dh2urdf puma560 > puma560.urdf
dh2urdf my_arm.yaml --prefix left_ --dh-frames -o my_arm.urdf
dh2urdf my_arm.yaml --macro my_arm -o my_arm.urdf.xacro

Command line: the SRDF of a robot file, for MoveIt.

dh2srdf nut_arm -o nut_arm.srdf
dh2srdf my_arm.yaml --prefix left_

Command line: the MoveIt configuration package of a robot file.

dh2moveit nut_arm -o src            # makes src/nut_arm_moveit_config
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from arm_common import cli
from arm_description.errors import DescriptionError
from arm_description.exporters.moveit_package import moveit_package, package_name
from arm_description.exporters.srdf import to_srdf
from arm_description.library import load_robot, shipped_robots
from arm_description.model.elements import Origin
from arm_description.urdf.writer import robot_macro, robot_urdf


def dh2urdf(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return cli.run(_parser(), _write, argv)


def _write(arguments: argparse.Namespace) -> None:
    cli.write_text(_text(arguments), arguments.output)


def _text(arguments: argparse.Namespace) -> str:
    model = load_robot(arguments.robot)
    if arguments.macro:
        return robot_macro(model, arguments.macro)
    mount = Origin(tuple(arguments.xyz), tuple(arguments.rpy))
    return robot_urdf(model, arguments.prefix, arguments.dh_frames, arguments.parent, mount)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text} is not finite")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dh2urdf", description="Write the URDF of an arm given by its DH table in YAML."
    )
    cli.add_robot(parser, shipped_robots())
    parser.add_argument("--prefix", default="", help="put before every link and joint name")
    parser.add_argument("--dh-frames", action="store_true", help="add the frames dh_0 .. dh_n")
    parser.add_argument("--parent", default="", help="link to stand on (default: none)")
    for name, what in (("xyz", "position in m"), ("rpy", "roll, pitch, yaw in rad")):
        parser.add_argument(
            f"--{name}",
            nargs=3,
            type=_finite,
            default=(0.0, 0.0, 0.0),
            metavar=tuple("XYZ" if name == "xyz" else "RPY"),
            help=f"{what} on the parent",
        )
    parser.add_argument("--macro", default="", help="write a xacro macro of this name instead")
    cli.add_output(parser)
    return parser


if __name__ == "__main__":
    sys.exit(dh2urdf())


def dh2srdf(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return cli.run(_dh2srdf_parser(), _dh2srdf_write, argv)


def _dh2srdf_write(arguments: argparse.Namespace) -> None:
    cli.write_text(to_srdf(load_robot(arguments.robot), arguments.prefix), arguments.output)


def _dh2srdf_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dh2srdf",
        description="Write groups, postures and adjacent links of an arm as SRDF.",
    )
    parser.add_argument("robot", help="name of a shipped robot, or path of a robot file")
    parser.add_argument("--prefix", default="", help="put before every link and joint name")
    cli.add_output(parser)
    return parser


if __name__ == "__main__":
    sys.exit(dh2srdf())


def dh2moveit(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return cli.run(_dh2moveit_parser(), _dh2moveit_write, argv)


def _dh2moveit_write(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot)
    folder = Path(arguments.folder) / package_name(model)
    cli.refuse_overwriting(str(folder), arguments.force)
    for name, text in moveit_package(model).items():
        file = folder / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DescriptionError(
                f"cannot be made ({error.strerror})",
                remedy="check the path",
                file=str(file.parent),
            ) from None
        cli.write_text(text, str(file))
    cli.say(f"{folder}: build it with colcon, then ros2 launch {folder.name} move_group.launch.py")


def _dh2moveit_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dh2moveit", description="Write the MoveIt configuration package of an arm."
    )
    cli.add_robot(parser, shipped_robots())
    parser.add_argument(
        "-o",
        "--output",
        dest="folder",
        default=".",
        metavar="FOLDER",
        help="folder of packages to put it into (default: here)",
    )
    cli.add_force(parser)
    return parser


if __name__ == "__main__":
    sys.exit(dh2moveit())
