# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks, one after the other: ./arm bench [NAME ...] [options of the benchmark]."""

import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    """Run the named benchmarks, or all; return the number of failed ones."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end when nobody reads the output
    known = {file.stem.removeprefix("bench_"): file for file in sorted(FOLDER.glob("bench_*.py"))}
    names = list(takewhile(known.__contains__, sys.argv[1:]))
    others = sys.argv[1 + len(names) :]
    if others and not names and (others[0] not in ("-h", "--help")):
        print(f"There is no benchmark {others[0]}; choose from {', '.join(known)}.")
        return 2
    if others and not names:
        print(f"./arm bench [{'] ['.join(known)}]; options follow a single name, see its --help.")
        return 0
    failed = 0
    for name in names or known:
        print(f"== {name}", flush=True)
        command = [sys.executable, str(known[name]), *others]
        failed += subprocess.run(command, cwd=FOLDER.parent).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
