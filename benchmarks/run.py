# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""All benchmarks, one after the other: ./arm bench [name ...]."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    """Run the named benchmarks, or all of them; returns the number of those that failed."""
    known = {file.stem: file for file in sorted(FOLDER.glob("bench_*.py"))}
    names = [f"bench_{name.removeprefix('bench_')}" for name in sys.argv[1:]] or list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        short = ", ".join(name.removeprefix("bench_") for name in known)
        print(f"There is no benchmark {unknown[0].removeprefix('bench_')}; there are: {short}.")
        return 2
    failed = 0
    for name in names:
        print(f"== {name.removeprefix('bench_')}", flush=True)
        failed += subprocess.run([sys.executable, known[name]], cwd=FOLDER.parent).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
