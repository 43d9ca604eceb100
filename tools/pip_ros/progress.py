# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tell a person what a long command is doing, on one line, and keep its whole output in a file."""

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

QUIET_SECONDS = 10.0  # period of a line where none can be rewritten


def say(text: str, end: str = "\n") -> None:
    """Tell a person something that is no part of a command's output."""
    print(text, end=end, file=sys.stderr, flush=True)


class StatusLine:
    """One line that says what is going on: rewritten on a terminal, repeated elsewhere."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._begin = time.monotonic()
        self._printed = -QUIET_SECONDS
        self._terminal = sys.stderr.isatty()

    def show(self, detail: str) -> None:
        """Show the present detail, with the time since the beginning."""
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
    """End a process and all its children, first politely."""
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
        command: the program and its arguments.
        log: file that gets the whole output.
        describe: called with each line of output; returns what to show, or None.
        title: what the command is for.
        environment: the environment of the command.
        folder: where to run it.

    Raises:
        SetupError: the command failed; the text holds the last lines of its output.
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
    """Run a command while the block of this context runs, then wait for its end, showing that.

    Args and Raises: as run_logged has them.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        process = start(command, file, environment, folder)
    with finished(process, command, log, title):
        yield


def start(
    command: Sequence[str], output: IO[str] | int, environment: Mapping[str, str], folder: Path
) -> "subprocess.Popen[str]":
    """Start a command in a session of its own, so that Ctrl-C ends its whole group from here."""
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
        SetupError: the command failed; the text holds the last lines of its log.
    """
    line = StatusLine(title)
    try:
        yield line
        while not has_ended(process, 1.0):
            line.show("at work")
    except BaseException:
        stop_group(process)
        raise
    if process.returncode != 0:
        line.done("failed")
        tail = log.read_text(errors="replace").splitlines()[-15:]
        raise SetupError(failure_text(command, tail, log))
    line.done("done")


def has_ended(process: "subprocess.Popen[str]", patience: float) -> bool:
    """Whether a process ends within some seconds."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    return process.poll() is not None


def failure_text(command: Sequence[str], tail: Sequence[str], log: Path) -> str:
    """Say which command failed, with the end of its output and where the rest is."""
    lines = "\n".join(f"    {re.sub(chr(27) + '[^m]*m', '', text)}" for text in tail)
    return (
        f"{Path(command[0]).name} failed; its last words were:\n{lines}\n"
        f"The whole output is in {log}."
    )
