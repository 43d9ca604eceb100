# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: a robot file to URDF, or to a xacro macro.

dh2urdf puma560 > puma560.urdf
dh2urdf my_arm.yaml --prefix left_ --dh-frames -o my_arm.urdf
dh2urdf my_arm.yaml --macro my_arm -o my_arm.urdf.xacro
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from ..elements import Origin
from ..library import load_robot
from ..urdf import robot_macro, robot_urdf
from . import shell


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return shell.run(_parser(), _write, argv)


def _write(arguments: argparse.Namespace) -> None:
    shell.write_text(_text(arguments), arguments.output)


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
    shell.add_robot(parser)
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
    shell.add_output(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
