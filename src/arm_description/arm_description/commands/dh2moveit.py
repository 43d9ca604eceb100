# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: the MoveIt configuration package of a robot file.

dh2moveit nut_arm -o src            # makes src/nut_arm_moveit_config
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import DescriptionError
from ..library import load_robot
from ..moveit_package import moveit_package, package_name
from . import shell


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return shell.run(_parser(), _write, argv)


def _write(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot)
    folder = Path(arguments.folder) / package_name(model)
    shell.refuse_overwriting(str(folder), arguments.force)
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
        shell.write_text(text, str(file))
    shell.say(
        f"{folder}: build it with colcon, then ros2 launch {folder.name} move_group.launch.py"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dh2moveit", description="Write the MoveIt configuration package of an arm."
    )
    shell.add_robot(parser)
    parser.add_argument(
        "-o",
        "--output",
        dest="folder",
        default=".",
        metavar="FOLDER",
        help="folder of packages to put it into (default: here)",
    )
    shell.add_force(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
