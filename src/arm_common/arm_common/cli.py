# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Common parts of the commands: arguments, exit codes, output files.

Exit codes: 0, 1 with one sentence on standard error, 2 for arguments that argparse rejects, 130
after Ctrl-C. A closed pipe (``| head``) is not an error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from arm_common.errors import InputError
from arm_common.files import write_bytes
from arm_common.signals import INTERRUPTED


def run(
    parser: argparse.ArgumentParser,
    action: Callable[[argparse.Namespace], int | None],
    argv: Sequence[str] | None,
    errors: tuple[type[Exception], ...] = (InputError,),
) -> int:
    """Parse the arguments, run a command and return its exit code.

    Args:
        parser: parses the arguments; its name begins every error message.
        action: does the work and returns the exit code, None for 0.
        argv: arguments, by default those of the process.
        errors: exceptions reported by their text alone, without a traceback.
    """
    try:
        code = action(parser.parse_args(argv))
        sys.stdout.flush()
        return code or 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except errors as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED


def confirm(question: str) -> bool:
    """Return whether the user answers a question with y; without a terminal, it is not asked."""
    return sys.stdin.isatty() and input(f"{question} (y/n) ").strip().lower() == "y"


def add_robot(parser: argparse.ArgumentParser, shipped: Iterable[str]) -> None:
    """Add the positional argument ``robot``; its help lists the shipped robots."""
    parser.add_argument("robot", help=f"name of a shipped robot ({', '.join(shipped)}) or a path")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``-o FILE``."""
    to_write = "output file (default: standard output)"
    parser.add_argument("-o", "--output", default="", metavar="FILE", help=to_write)


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``."""
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")


def print_status(text: str) -> None:
    """Print a status line to standard error, apart from the output."""
    sys.stderr.write(f"{text}\n")


def write_text(text: str, output: str) -> None:
    """Write text to a file (see `write_bytes`), or to standard output if the name is empty."""
    if output:
        write_bytes(text.encode(), output)
    else:
        sys.stdout.write(text)


def refuse_overwriting(output: str, force: bool) -> None:
    """Raise an InputError if the file exists and `force` is not set."""
    if output and not force and os.path.lexists(output):
        remedy = "choose another name or give --force"
        raise InputError("already exists", remedy=remedy, file=output)
