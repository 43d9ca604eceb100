# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: a new robot file, by answering questions or from a shipped robot.

new my_arm.yaml
new my_arm.yaml --from puma560
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import DescriptionError
from ..interview import interview
from ..library import robot_path
from ..robot_file import parse_robot, robot_yaml
from ..whole_file import write_bytes
from . import shell

_NAME = re.compile(r"^name:[^#\n]*?(?=\s*(#|$))", re.MULTILINE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return shell.run(_parser(), _new, argv)


def _new(arguments: argparse.Namespace) -> None:
    path = Path(arguments.file)
    if path.suffix not in (".yaml", ".yml"):
        raise DescriptionError(
            "a robot file is found by its ending",
            remedy=f"call it {path.name or 'my_arm'}.yaml",
            file=arguments.file,
        )
    shell.refuse_overwriting(arguments.file, arguments.force)
    name = re.sub(r"[^\w-]+", "_", path.stem)
    text = _copy(arguments.template, name) if arguments.template else _asked(name)
    parse_robot(text, arguments.file)
    write_bytes(text.encode(), arguments.file)
    shell.say(f"{arguments.file} is written; look at it: ./arm view {arguments.file}")


def _copy(template: str, name: str) -> str:
    """Text of a robot's file under another name, comments and all."""
    text = robot_path(template).read_text(encoding="utf-8-sig")
    return _NAME.sub(
        f'name: "{name}"' if not name[0].isalpha() else f"name: {name}", text, count=1
    )


def _asked(name: str) -> str:
    try:
        model, units = interview(name, input, sys.stdout.write)
    except EOFError:
        sys.stdout.write("\n")
        raise DescriptionError(
            "the answers ended before the last question", remedy="nothing is written"
        ) from None
    return robot_yaml(model, units)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="new", description="Write a new robot file: asks for the table, or copies a robot."
    )
    parser.add_argument("file", help="the file to write, such as my_arm.yaml")
    parser.add_argument(
        "--from",
        dest="template",
        default="",
        metavar="ROBOT",
        help="copy this robot (a shipped name or a path) with its comments, to be edited",
    )
    shell.add_force(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
