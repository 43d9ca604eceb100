# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command that gives a constant of a robot file another value; a running view follows at once.

The former file is kept as ``<file>.bak``.

set l1 0.45
set l1 "l2 + 0.1" my_arm.yaml
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from arm_common.files.saving import contents, save_edit
from arm_common.suggestions import did_you_mean, program

from arm_common import cli
from arm_description.errors import DescriptionError
from arm_description.library import robot_path, shipped_robots
from arm_description.robot_file.editor import RobotEditor


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="set", description="Give a constant of a robot file another value."
    )
    parser.add_argument("symbol", help="name of the constant")
    parser.add_argument("value", type=cli.expression, help="a number or an expression")
    shown = "path of the robot file (default: that of the running view)"
    parser.add_argument("robot", nargs="?", default="", help=shown)
    return cli.run(parser, _set, argv)


def _set(arguments: argparse.Namespace) -> None:
    path = robot_path(arguments.robot or _watched_robot())
    if path in shipped_robots().values():
        raise DescriptionError(
            "is a shipped robot, which must not be changed",
            remedy=f"copy it: {program('arm_description', 'new')} my_arm.yaml --from {path.stem}",
            file=path.name,
        )
    read = contents(path)
    save_edit(changed(path, arguments.symbol, arguments.value), path, read)
    cli.print_status(f"{path}: {arguments.symbol} = {arguments.value}")


def changed(path: Path, symbol: str, value: str) -> bytes:
    """Return the text of a robot file with another value of a constant.

    Raises:
        DescriptionError: there is no such constant, or the value is refused.
    """
    editor = RobotEditor(path.read_bytes(), str(path))
    if symbol not in editor.symbols():
        raise DescriptionError(
            f"has no constant {symbol!r}",
            remedy=did_you_mean(symbol, editor.symbols()),
            file=str(path),
        )
    if problem := editor.set(("constants", symbol), value):
        raise DescriptionError(problem)
    return editor.data


def _watched_robot() -> str:
    """Return the robot file of the running view."""
    from arm_description.ros.robot_file_watcher import watched_robot

    found = watched_robot()
    if not found:
        raise DescriptionError(
            "no view of a robot file is running",
            remedy=f"start {program('arm_tasks', 'view')}, or give the file, too",
        )
    return found
