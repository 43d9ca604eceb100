# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Starts and ends programs under test as separate processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from arm_testing.waiting import BOUND


def parameters(**values: object) -> list[str]:
    """Return the command-line arguments that set parameters of a node."""
    words = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
    return ["--ros-args", *words]


def start_python(
    *arguments: str, stdin: int = subprocess.DEVNULL, **environment: str
) -> subprocess.Popen[str]:
    """Start an interpreter in the test's ROS domain, stdout and stderr in one pipe."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, **environment, "ROS_DOMAIN_ID": os.environ.get("ROS_DOMAIN_ID", "0")},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def end(process: subprocess.Popen[str], number: int = signal.SIGINT) -> tuple[int, str]:
    """Send a signal; return exit code and output."""
    process.send_signal(number)
    return output_of(process)


def kill(process: subprocess.Popen[str]) -> None:
    """End a process that may hang, and wait for it."""
    process.kill()
    process.communicate()


def output_of(process: subprocess.Popen[str], bound: float = BOUND) -> tuple[int, str]:
    """Wait for the end; return exit code and output."""
    try:
        text, _ = process.communicate(timeout=bound)
    finally:
        process.kill()
    return process.returncode, text


def read_output(process: subprocess.Popen[str]) -> Callable[[], str]:
    """Read the output in a thread, as a full pipe would block a process that logs much.

    Return a function that returns all of it once the process has ended.
    """
    lines: list[str] = []
    thread = threading.Thread(target=lambda: lines.extend(process.stdout or ()), daemon=True)
    thread.start()

    def output() -> str:
        thread.join(BOUND)
        return "".join(lines)

    return output


def handles_sigterm(pid: int) -> bool:
    """Return whether a process has a handler for SIGTERM."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that nobody has waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
