# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The commands that convert a robot file to URDF or xacro, and a URDF to a robot file.

dh2urdf puma560 > puma560.urdf
dh2urdf my_arm.yaml --prefix left_ --dh-frames -o my_arm.urdf
dh2urdf nut_arm --ros2-control mock > nut_arm.urdf
dh2urdf my_arm.yaml --macro my_arm -o my_arm.urdf.xacro
urdf2dh ur5.urdf -o ur5.yaml
urdf2dh panda.urdf --convention modified --tip panda_link8 -o panda.yaml
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arm_common import cli
from arm_description.errors import UrdfError
from arm_description.library import load_robot, shipped_robots
from arm_description.model.elements import CONVENTIONS, Origin
from arm_description.model.units import SI
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.file import read_urdf_file, scaled_urdf
from arm_description.urdf.macro import robot_macro
from arm_description.urdf.optional.ros2_control import HARDWARE
from arm_description.urdf.writer import robot_urdf


def dh2urdf(argv: Sequence[str] | None = None) -> int:
    """Run the command `dh2urdf` and return its exit code."""
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


def urdf2dh(argv: Sequence[str] | None = None) -> int:
    """Run the command `urdf2dh` and return its exit code."""
    from arm_description.importers.urdf import PARALLEL  # here: dh2urdf starts sooner without it

    parser = argparse.ArgumentParser(
        prog="urdf2dh", description="Compute the exact DH table of an arm from its URDF."
    )
    add = parser.add_argument
    add("urdf", help="URDF file, or xacro file")
    add("--convention", choices=CONVENTIONS, default="standard", help="DH convention of the table")
    add("--base", default="", help="link that becomes base_link (default: the root)")
    add("--tip", default="", help="link that becomes tool0 (default: the end of the arm)")
    add("--name", default="", help="name of the robot (default: that of the URDF)")
    parallel = f"axes within this angle count as parallel (default: {PARALLEL:g})"
    add("--parallel", type=_angle, default=PARALLEL, metavar="RAD", help=parallel)
    add(
        "--xacro-arg",
        type=_xacro_argument,
        action="append",
        default=[],
        metavar="NAME:=VALUE",
        help="of a xacro file; may be repeated",
    )
    scale = "metres per unit of the URDF's lengths, such as 0.001 (default: 1)"
    add("--scale", type=cli.positive, default=1.0, metavar="M", help=scale)
    longest = f"joints farther apart mean a mistaken unit (default: {SI.max_length:g} m)"
    add("--max-length", type=cli.positive, default=SI.max_length, metavar="M", help=longest)
    cli.add_output(parser)
    cli.add_force(parser)
    return cli.run(parser, _convert_urdf, argv)


def _convert_urdf(arguments: argparse.Namespace) -> None:
    from arm_description.importers.urdf import import_urdf

    cli.refuse_overwriting(arguments.output, arguments.force)
    path = Path(arguments.urdf)
    text, values = read_urdf_file(path, dict(arguments.xacro_arg)), vars(arguments)
    keys = ("convention", "base", "tip", "parallel", "max_length", "name")
    options = {key: values[key] for key in keys}
    try:
        if arguments.scale != 1.0:
            text = scaled_urdf(text, arguments.scale)
        imported = import_urdf(text, file=path.name, **options)
        output = robot_yaml(imported.model, notes=imported.notes)
    except UrdfError as error:
        raise UrdfError(error.problem, remedy=error.remedy, file=arguments.urdf) from None
    cli.write_text(output, arguments.output)
    sys.stdout.flush()
    for note in imported.notes:
        cli.print_status(note)


def _xacro_argument(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"(\w+):?=(.*)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is not NAME:=VALUE")
    return match[1], match[2]


def _angle(text: str) -> float:
    value = cli.number(text)
    if not 0.0 <= value < 0.1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 0.1 rad")
    return value
