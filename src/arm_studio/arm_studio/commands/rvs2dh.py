# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command that converts an architecture file of RVS (Robot Visualization System).

rvs2dh REDIESTRO -o rediestro.yaml
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from arm_common.files.access import read_text
from arm_description.errors import DescriptionError
from arm_description.model.units import LENGTHS, Units
from arm_description.robot_file.writer import robot_yaml

from arm_common import cli
from arm_studio.converters.rvs import left_out, parse_rvs

_MAX_BYTES = 32_000_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="rvs2dh", description="Convert an RVS architecture file to a robot file."
    )
    add = parser.add_argument
    add("file", help="architecture file")
    unit = "unit of its lengths, which the format does not specify (default: dm)"
    add("--length", choices=LENGTHS, default="dm", help=unit)
    add("--name", default="", help="name of the robot (default: that of the file)")
    cli.add_output(parser)
    cli.add_force(parser)
    return cli.run(parser, _convert_rvs, argv)


def _convert_rvs(arguments: argparse.Namespace) -> None:
    cli.refuse_overwriting(arguments.output, arguments.force)
    path = Path(arguments.file)
    units = Units(arguments.length, "deg")
    name = arguments.name or re.sub(r"[^\w-]+", "_", path.stem).lower()
    text = read_text(path, _MAX_BYTES, DescriptionError)
    model = parse_rvs(text, name, units, path.name)
    notes = [
        *left_out(text),
        f"Lengths were read in {units.length}; RVS files do not specify a unit (--length).",
        "RVS files have no velocity and effort limits: these are defaults.",
    ]
    cli.write_text(robot_yaml(model, units, notes), arguments.output)
    if arguments.output:
        for note in notes[:-1]:
            cli.print_status(note)
