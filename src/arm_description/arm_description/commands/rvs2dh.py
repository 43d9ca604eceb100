# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: an architecture file of RVS (Robot Visualization System) to a robot file.

rvs2dh REDIESTRO -o rediestro.yaml
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from ..imports import parse_rvs
from ..imports.source_file import read_source
from ..robot_file import robot_yaml
from ..units import LENGTHS, Units
from . import shell


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return shell.run(_parser(), _convert, argv)


def _convert(arguments: argparse.Namespace) -> None:
    shell.refuse_overwriting(arguments.output, arguments.force)
    path = Path(arguments.file)
    units = Units(arguments.length, "deg")
    name = arguments.name or re.sub(r"[^\w-]+", "_", path.stem).lower()
    model = parse_rvs(read_source(path), name, units, path.name)
    notes = [
        f"Lengths were read in {units.length}, which the RVS file does not tell (--length).",
        "RVS gives no speeds and efforts: those here are defaults.",
    ]
    shell.write_text(robot_yaml(model, units, notes), arguments.output)
    if arguments.output:
        shell.say(notes[0])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rvs2dh", description="Read an architecture file of RVS into a robot file."
    )
    parser.add_argument("file", help="the architecture file")
    parser.add_argument(
        "--length",
        choices=LENGTHS,
        default="dm",
        help="unit of its lengths, which such a file does not tell (default: dm)",
    )
    parser.add_argument("--name", default="", help="name of the robot (default: after the file)")
    shell.add_output(parser)
    shell.add_force(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
