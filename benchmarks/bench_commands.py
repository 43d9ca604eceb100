# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whole commands: CPU time and largest memory of each, beside an import of NumPy and PyYAML."""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

from ik.tables import add_write, processor, table, write

REPOSITORY = Path(__file__).resolve().parents[1]
COMMANDS = (
    ("dh2urdf", "nut_arm"),
    ("fk", "nut_arm", "0", "0.3", "0.3", "0"),
    ("ik", "nut_arm", "0.15", "0", "0.1"),
    ("describe", "nut_arm"),
    ("check", "nut_transfer"),
)


def measure(command: list[str]) -> tuple[float, float]:
    """Return CPU time [s] and largest memory [MB] of a command and its children."""
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024.0


def least(command: list[str], rounds: int) -> tuple[float, float]:
    """Return the least CPU time and the largest memory of some rounds."""
    times, sizes = zip(*(measure(command) for _ in range(rounds)), strict=True)
    return min(times), max(sizes)


def main() -> int:
    """Measure all commands; return 0."""
    parser = argparse.ArgumentParser(prog="./arm bench commands", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each, the least time counts (5)")
    add_write(parser)
    given = parser.parse_args()
    rounds = max(given.rounds, 1)
    base = [sys.executable, "-c", "import numpy, yaml"]
    rows, (unit, _) = [], least(base, rounds)
    for label, command in [
        ('python3 -c "import numpy, yaml"', base),
        *((f"./arm {' '.join(words)}", ["./arm", *words]) for words in COMMANDS),
    ]:
        seconds, size = least(command, rounds)
        rows.append((f"`{label}`", f"{seconds:.2f}", f"{seconds / unit:.1f}", f"{size:.0f}"))
    text = table(("command", "CPU [s]", "multiple of the first", "peak memory [MB]"), rows)
    text += f"\n\nProcessor: {processor()}; Python {platform.python_version()}."
    print(text)
    write(given.write, "commands", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
