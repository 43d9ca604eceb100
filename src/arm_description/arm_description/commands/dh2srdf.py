# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: the SRDF of a robot file, for MoveIt.

dh2srdf nut_arm -o nut_arm.srdf
dh2srdf my_arm.yaml --prefix left_
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..library import load_robot
from ..srdf import to_srdf
from . import shell


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return shell.run(_parser(), _write, argv)


def _write(arguments: argparse.Namespace) -> None:
    shell.write_text(to_srdf(load_robot(arguments.robot), arguments.prefix), arguments.output)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dh2srdf",
        description="Write groups, postures and adjacent links of an arm as SRDF.",
    )
    parser.add_argument("robot", help="name of a shipped robot, or path of a robot file")
    parser.add_argument("--prefix", default="", help="put before every link and joint name")
    shell.add_output(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
