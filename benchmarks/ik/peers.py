# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The other solvers, each in its own process, in a separate environment: .venv-peers.

So their requirements cannot conflict with ours, nor their code with each other's.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from ik.problem import Answers, Problem

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parents[1]
VENV = REPOSITORY / ".venv-peers"
PYTHON = VENV / "bin" / "python3"
REQUIREMENTS = FOLDER.parent / "requirements-peers.txt"
WORKER = FOLDER / "worker.py"
PATIENCE, TELL = 60, 20  # [s] for a peer on one row, and between progress messages


def make_environment() -> int:
    """Create .venv-peers and install the peers there, printing the progress."""
    print(f"Installing the peers in {VENV.name}: about 700 MB, a few minutes.", flush=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", str(VENV)],
        [*pip, "--progress-bar", "off", "-r", str(REQUIREMENTS)],
    ):
        process = subprocess.Popen(command, env=_environment(), text=True, stdout=subprocess.PIPE)
        for line in process.stdout or ():
            if line.startswith(("Collecting", "Installing", "Successfully", "ERROR")):
                print(f"  {line.strip()[:95]}", flush=True)
        if process.wait() != 0:
            print(f"{' '.join(command[:4])} ... failed; see its output above.")
            return 1
    print("Ready; run ./arm bench ik")
    return 0


def _environment() -> dict[str, str]:
    """Return environment variables without our packages, with one thread per process."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def versions() -> dict[str, str | None]:
    """Return solver -> version, None if not installed."""
    python = str(PYTHON) if PYTHON.exists() else sys.executable
    done = subprocess.run(
        [python, str(WORKER), "--list"], env=_environment(), text=True, capture_output=True
    )
    if done.returncode != 0:
        raise SystemExit(f"The peers cannot be started: {done.stderr.strip()}")
    found: dict[str, str | None] = json.loads(done.stdout)
    return found


class Peer:
    """A solver at the other end of a pipe.

    Attributes:
        name: Name in the tables.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self._folder = name, folder
        self._process: subprocess.Popen[str] | None = None

    def answer(self, problem: Problem, seconds: float) -> Answers | str:
        """Return the answers found within the seconds, or the reason why there are none."""
        task = {
            "problem": str(self._folder / "problem.npz"),
            "answers": str(self._folder / "answers.npz"),
            "seconds": seconds,
        }
        problem.save(Path(task["problem"]))
        process = self._process = self._process or self._start()
        assert process.stdin and process.stdout
        try:
            print(json.dumps(task), file=process.stdin, flush=True)
            line = self._line(process.stdout)
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()  # the next problem starts a new one
            return f"no answer after {PATIENCE} s, or its process ended"
        said = json.loads(line)
        if "why_not" in said:
            return str(said["why_not"])
        with np.load(task["answers"]) as data:
            return Answers(data["times"], data["q"])

    def close(self) -> None:
        """Kill the process, if any."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)  # with its child processes
            self._process.wait()
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        python = str(PYTHON) if PYTHON.exists() else sys.executable
        return subprocess.Popen(
            [python, str(WORKER), self.name],
            env=_environment(),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _line(self, answers: IO[str]) -> str:
        """Return the peer's reply, "" after a timeout; print progress (some prepare an arm)."""
        for waited in range(0, PATIENCE, TELL):
            if select.select([answers], [], [], TELL)[0]:
                return answers.readline()
            print(f"    {self.name} still running after {waited + TELL} s", flush=True)
        return ""


@contextmanager
def running(name: str) -> Iterator[Peer]:
    """Provide one peer, and end its process."""
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(name, Path(folder))
        try:
            yield peer
        finally:
            peer.close()
