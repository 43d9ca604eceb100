# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What every tool does alike: arguments, exit codes, files that are written whole or not at all.

Exit codes: 0, 1 with one sentence on standard error, 2 for arguments that argparse refuses, 130
after Ctrl-C. A reader that has seen enough (``| head``) is no error.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import DescriptionError

INTERRUPTED = 130


def run(
    parser: argparse.ArgumentParser,
    action: Callable[[argparse.Namespace], None],
    argv: Sequence[str] | None,
) -> int:
    """Run a tool.

    Args:
        parser: reads the arguments; its name begins every error.
        action: does the work.
        argv: arguments, those of the process if None.

    Returns:
        Exit code.
    """
    try:
        action(parser.parse_args(argv))
        sys.stdout.flush()
    except DescriptionError as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``-o FILE``."""
    parser.add_argument(
        "-o",
        "--output",
        default="",
        metavar="FILE",
        help="file to write (default: to the terminal)",
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``."""
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")


def say(text: str) -> None:
    """Say something that is no part of the output."""
    sys.stderr.write(f"{text}\n")


def write_text(text: str, output: str) -> None:
    """Write to a file, or to the terminal if it has no name.

    Raises:
        DescriptionError: the file cannot be written.
    """
    if output:
        write_bytes(text.encode(), output)
    else:
        sys.stdout.write(text)


def refuse_overwriting(output: str, force: bool) -> None:
    """Keep a file that a person may have edited.

    Raises:
        DescriptionError: the file exists.
    """
    if output and not force and os.path.lexists(output):
        raise DescriptionError(
            "exists already", remedy="choose another name, or say --force", file=output
        )


def write_bytes(data: bytes, output: str) -> None:
    """Write a file whole or not at all: beside it, then in its place.

    Raises:
        DescriptionError: the file cannot be written.
    """
    path = Path(output)
    try:
        if path.exists() and not path.is_file():  # /dev/stdout or a pipe; a folder refuses itself
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data)
    except OSError as error:
        raise DescriptionError(
            f"cannot be written ({error.strerror})", remedy="check the path", file=output
        ) from None


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as beside:
            beside.write(data)
        Path(name).chmod(mode)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
