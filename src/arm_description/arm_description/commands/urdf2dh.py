# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: a URDF to a robot file with its DH table.

urdf2dh ur5.urdf -o ur5.yaml
urdf2dh panda.urdf --convention modified --tip panda_link8 -o panda.yaml
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..dh import CONVENTIONS
from ..errors import UrdfError
from ..imports import import_urdf
from ..imports.source_file import read_source
from ..imports.urdf_robot import PARALLEL
from ..robot_file import robot_yaml
from . import shell


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return shell.run(_parser(), _convert, argv)


def _convert(arguments: argparse.Namespace) -> None:
    shell.refuse_overwriting(arguments.output, arguments.force)
    path = Path(arguments.urdf)
    text = read_source(path)
    try:
        found = import_urdf(
            text,
            arguments.convention,
            arguments.base,
            arguments.tip,
            parallel=arguments.parallel,
            name=arguments.name,
            file=path.name,
        )
        written = robot_yaml(found.model, notes=found.notes)
    except UrdfError as error:
        raise UrdfError(error.problem, remedy=error.remedy, file=arguments.urdf) from None
    shell.write_text(written, arguments.output)
    if arguments.output:
        for note in found.notes:
            shell.say(note)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="urdf2dh", description="Find the DH table of an arm given as URDF, exactly."
    )
    parser.add_argument("urdf", help="the URDF file (of a xacro, what xacro makes of it)")
    parser.add_argument(
        "--convention", choices=CONVENTIONS, default="standard", help="of the table to write"
    )
    parser.add_argument(
        "--base", default="", help="link that becomes base_link (default: the root)"
    )
    parser.add_argument(
        "--tip", default="", help="link that becomes tool0 (default: the arm's end)"
    )
    parser.add_argument("--name", default="", help="name of the robot (default: that of the URDF)")
    parser.add_argument(
        "--parallel",
        type=_angle,
        default=PARALLEL,
        metavar="RAD",
        help=f"axes closer than this are taken as parallel (default: {PARALLEL:g})",
    )
    shell.add_output(parser)
    shell.add_force(parser)
    return parser


def _angle(text: str) -> float:
    value = float(text)
    if not 0.0 <= value < 0.1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 0.1 rad")
    return value


if __name__ == "__main__":
    sys.exit(main())
