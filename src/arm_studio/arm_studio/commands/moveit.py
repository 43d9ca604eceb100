# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands that export a robot file to SRDF or a MoveIt package.

dh2srdf nut_arm -o nut_arm.srdf
dh2moveit nut_arm -o src            # makes src/nut_arm_moveit_config
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arm_description.errors import DescriptionError
from arm_description.library import add_calibration, load_robot, shipped_robots

from arm_common import cli
from arm_studio.moveit.moveit_package import moveit_package, package_name
from arm_studio.moveit.srdf import to_srdf


def dh2srdf(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser("dh2srdf", "Write the SRDF of an arm: groups, postures, disabled collisions.")
    parser.add_argument("--prefix", default="", help="prefix of every link and joint name")
    cli.add_output(parser)
    return cli.run(parser, _write_srdf, argv)


def dh2moveit(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser("dh2moveit", "Write the MoveIt configuration package of an arm.")
    options: dict[str, Any] = {"dest": "folder", "metavar": "FOLDER", "default": "."}
    text = "parent folder of the package (default: the current folder)"
    parser.add_argument("-o", "--output", help=text, **options)
    add_calibration(parser)
    cli.add_force(parser)
    return cli.run(parser, _write_moveit, argv)


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=description)
    cli.add_robot(parser, shipped_robots())
    return parser


def _write_srdf(arguments: argparse.Namespace) -> None:
    cli.write_text(to_srdf(load_robot(arguments.robot), arguments.prefix), arguments.output)


def _write_moveit(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot, arguments.calibration)
    folder = Path(arguments.folder) / package_name(model)
    cli.refuse_overwriting(str(folder), arguments.force)
    for name, text in moveit_package(model).items():
        file = folder / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot be created ({error.strerror})"
            raise DescriptionError(
                problem, remedy="check the path", file=str(file.parent)
            ) from None
        cli.write_text(text, str(file))
    cli.print_status(
        f"{folder}: build it with colcon, then ros2 launch {folder.name} move_group.launch.py"
    )
