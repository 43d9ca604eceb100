# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: a URDF, or an architecture file of RVS, to a robot file with its DH table.

urdf2dh ur5.urdf -o ur5.yaml
urdf2dh panda.urdf --convention modified --tip panda_link8 -o panda.yaml
rvs2dh REDIESTRO -o rediestro.yaml      # RVS: Robot Visualization System
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from arm_common import cli
from arm_description.errors import UrdfError
from arm_description.importers.rvs import parse_rvs
from arm_description.importers.urdf import PARALLEL, import_urdf
from arm_description.library import read_text
from arm_description.model.elements import CONVENTIONS
from arm_description.model.units import LENGTHS, Units
from arm_description.robot_file.writer import robot_yaml

_MOST_BYTES = 32_000_000


def urdf2dh(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="urdf2dh", description="Find the DH table of an arm given as URDF, exactly."
    )
    add = parser.add_argument
    add("urdf", help="the URDF file (of a xacro, what xacro makes of it)")
    add("--convention", choices=CONVENTIONS, default="standard", help="of the table to write")
    add("--base", default="", help="link that becomes base_link (default: the root)")
    add("--tip", default="", help="link that becomes tool0 (default: the arm's end)")
    add("--name", default="", help="name of the robot (default: that of the URDF)")
    nearer = f"axes closer than this are taken as parallel (default: {PARALLEL:g})"
    add("--parallel", type=_angle, default=PARALLEL, metavar="RAD", help=nearer)
    cli.add_output(parser)
    cli.add_force(parser)
    return cli.run(parser, _convert_urdf, argv)


def rvs2dh(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="rvs2dh", description="Read an architecture file of RVS into a robot file."
    )
    add = parser.add_argument
    add("file", help="the architecture file")
    unit = "unit of its lengths, which such a file does not tell (default: dm)"
    add("--length", choices=LENGTHS, default="dm", help=unit)
    add("--name", default="", help="name of the robot (default: after the file)")
    cli.add_output(parser)
    cli.add_force(parser)
    return cli.run(parser, _convert_rvs, argv)


def _convert_urdf(arguments: argparse.Namespace) -> None:
    cli.refuse_overwriting(arguments.output, arguments.force)
    path = Path(arguments.urdf)
    text, given = read_text(path, _MOST_BYTES), vars(arguments)
    options = {key: given[key] for key in ("convention", "base", "tip", "parallel", "name")}
    try:
        found = import_urdf(text, file=path.name, **options)
        written = robot_yaml(found.model, notes=found.notes)
    except UrdfError as error:
        raise UrdfError(error.problem, remedy=error.remedy, file=arguments.urdf) from None
    cli.write_text(written, arguments.output)
    if arguments.output:
        for note in found.notes:
            cli.print_status(note)


def _convert_rvs(arguments: argparse.Namespace) -> None:
    cli.refuse_overwriting(arguments.output, arguments.force)
    path = Path(arguments.file)
    units = Units(arguments.length, "deg")
    name = arguments.name or re.sub(r"[^\w-]+", "_", path.stem).lower()
    model = parse_rvs(read_text(path, _MOST_BYTES), name, units, path.name)
    notes = [
        f"Lengths were read in {units.length}, which the RVS file does not tell (--length).",
        "RVS gives no speeds and efforts: those here are defaults.",
    ]
    cli.write_text(robot_yaml(model, units, notes), arguments.output)
    if arguments.output:
        cli.print_status(notes[0])


def _angle(text: str) -> float:
    value = float(text)
    if not 0.0 <= value < 0.1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 0.1 rad")
    return value
