# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What all commands share: arguments, exit codes, files written completely or not at all.

Exit codes: 0, 1 with one sentence on standard error, 2 for arguments that argparse refuses, 130
after Ctrl-C. A closed pipe (``| head``) is no error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from arm_common.atomic_file import write_bytes
from arm_common.errors import InputError
from arm_common.signals import INTERRUPTED


def run(
    parser: argparse.ArgumentParser,
    action: Callable[[argparse.Namespace], None],
    argv: Sequence[str] | None,
    errors: tuple[type[Exception], ...] = (InputError,),
) -> int:
    """Run a tool on its arguments, those of the process if None; return the exit code.

    Args:
        parser: reads the arguments; its name begins every error.
        action: does the work.
        argv: arguments.
        errors: what says in one sentence why the work cannot be done.
    """
    try:
        action(parser.parse_args(argv))
        sys.stdout.flush()
    except errors as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def add_robot(parser: argparse.ArgumentParser, shipped: Iterable[str]) -> None:
    """Add the positional argument ``robot``; its help lists the shipped ones."""
    parser.add_argument("robot", help=f"name of a shipped robot ({', '.join(shipped)}) or a path")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``-o FILE``."""
    to_write = "file to write (default: to the terminal)"
    parser.add_argument("-o", "--output", default="", metavar="FILE", help=to_write)


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``."""
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")


def say(text: str) -> None:
    """Say something that is no part of the output."""
    sys.stderr.write(f"{text}\n")


def write_text(text: str, output: str) -> None:
    """Write to a file, or to the terminal if it has no name; see `write_bytes`."""
    if output:
        write_bytes(text.encode(), output)
    else:
        sys.stdout.write(text)


def refuse_overwriting(output: str, force: bool) -> None:
    """Raise an InputError if the file exists: a person may have edited it."""
    if output and not force and os.path.lexists(output):
        remedy = "choose another name, or say --force"
        raise InputError("exists already", remedy=remedy, file=output)
