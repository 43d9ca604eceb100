# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command that converts a URDF to a robot file.

urdf2dh ur5.urdf -o ur5.yaml
urdf2dh panda.urdf --convention modified --tip panda_link8 -o panda.yaml
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from arm_common import cli
from arm_description.errors import UrdfError
from arm_description.importers.urdf import PARALLEL, import_urdf
from arm_description.importers.urdf_file import scaled_urdf
from arm_description.model.elements import CONVENTIONS
from arm_description.model.units import SI
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.file import read_urdf_file


def urdf2dh(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
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
