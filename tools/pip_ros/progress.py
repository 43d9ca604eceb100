# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of a long command on one line, and keeps its complete output in a file."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from .errors import SetupError

QUIET_SECONDS = 10.0  # between two lines where a line cannot be rewritten


def say(text: str, end: str = "\n") -> None:
    """Print a message that is not part of a command's output."""
    print(text, end=end, file=sys.stderr, flush=True)


class StatusLine:
    """A status line, rewritten on a terminal and repeated elsewhere."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._begin = time.monotonic()
        self._printed = -QUIET_SECONDS
        self._terminal = sys.stderr.isatty()

    def show(self, detail: str) -> None:
        """Show the current detail with the elapsed time."""
        elapsed = time.monotonic() - self._begin
        if not self._terminal and elapsed - self._printed < QUIET_SECONDS:
            return
        self._printed = elapsed
        text = f"{self._title}: {detail} ({elapsed:.0f} s)"
        end = "" if self._terminal else "\n"
        say(f"\r\033[K{text[:110]}" if self._terminal else text, end)

    def done(self, detail: str) -> None:
        """Close the line."""
        elapsed = time.monotonic() - self._begin
        start = "\r\033[K" if self._terminal else ""
        say(f"{start}{self._title}: {detail} ({elapsed:.0f} s)")


def stop_group(process: "subprocess.Popen[str]") -> None:
    """End a process and all its children, with increasingly strong signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(timeout=5)
            return
        except subprocess.TimeoutExpired:
            continue


def run_logged(
    command: Sequence[str],
    log: Path,
    describe: Callable[[str], str | None],
    title: str,
    environment: Mapping[str, str],
    folder: Path,
) -> None:
    """Run a command to its end, showing progress.

    Args:
        command: The program and its arguments.
        log: File for the complete output.
        describe: Takes each line of output; returns the text to show, or None.
        title: Purpose of the command.
        environment: The environment of the command.
        folder: The working folder.

    Raises:
        SetupError: The command failed; the message contains the last lines of its output.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    process = start(command, subprocess.PIPE, environment, folder)
    with finished(process, command, log, title) as line, log.open("w") as file:
        for text in process.stdout or ():
            file.write(text)
            shown = describe(text)
            if shown:
                line.show(shown)


@contextlib.contextmanager
def beside(
    command: Sequence[str], log: Path, title: str, environment: Mapping[str, str], folder: Path
) -> Iterator[None]:
    """Run a command during the block of this context, then wait for its end, showing progress.

    Arguments and errors are as in run_logged().
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        process = start(command, file, environment, folder)
    with finished(process, command, log, title):
        yield


def start(
    command: Sequence[str], output: IO[str] | int, environment: Mapping[str, str], folder: Path
) -> "subprocess.Popen[str]":
    """Start a command in its own session, so that Ctrl-C can end its whole group from here."""
    return subprocess.Popen(
        command,
        stdout=output,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        env=dict(environment),
        cwd=folder,
        start_new_session=True,
    )


@contextlib.contextmanager
def finished(
    process: "subprocess.Popen[str]", command: Sequence[str], log: Path, title: str
) -> Iterator[StatusLine]:
    """Wait for a command's end after the block; end its group if that fails.

    Raises:
        SetupError: The command failed; the message contains the last lines of its log.
    """
    line = StatusLine(title)
    try:
        yield line
        while not has_ended(process, 1.0):
            line.show("working")
    except BaseException:
        stop_group(process)
        raise
    if process.returncode != 0:
        line.done("failed")
        tail = log.read_text(errors="replace").splitlines()[-15:]
        raise SetupError(failure_text(command, tail, log))
    line.done("done")


def has_ended(process: "subprocess.Popen[str]", patience: float) -> bool:
    """Return whether a process ends within some seconds."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    return process.poll() is not None


def failure_text(command: Sequence[str], tail: Sequence[str], log: Path) -> str:
    """Return a message with the failed command, the end of its output, and its log file."""
    lines = "\n".join(f"    {re.sub(chr(27) + '[^m]*m', '', text)}" for text in tail)
    return (
        f"{Path(command[0]).name} failed; its output ended with:\n{lines}\n"
        f"The complete output is in {log}."
    )
