# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs one peer in its own process: problems in, answers out, a line of JSON for each.

worker.py --list prints the installed solvers and their versions. worker.py NAME reads lines
{"problem": file, "answers": file, "seconds": number} and writes lines {"answered": number} or
{"why_not": sentence}.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from ik.peer_solvers import SOLVERS
from ik.problem import NotForThisError, Problem, ask, reply


def installed() -> dict[str, str | None]:
    """Return solver -> version, None if not installed."""
    found: dict[str, str | None] = {}
    for name, (package, _) in SOLVERS.items():
        found[name] = None
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(package)
    return found


def answer(name: str, task: dict) -> dict:
    """Solve one problem; an exception of the peer becomes its reason not to."""
    problem = Problem.load(Path(task["problem"]))
    try:
        found = ask(SOLVERS[name][1](problem), problem, task["seconds"])
    except NotForThisError as error:
        return {"why_not": str(error)}
    except Exception as error:  # noqa: BLE001
        return {"why_not": f"{type(error).__name__}: {error}"[:200]}
    np.savez(task["answers"], times=found.times, q=found.q)
    return {"answered": len(found.times)}


def main() -> None:
    """Serve until the input ends; output printed by peers goes to stderr."""
    if sys.argv[1] == "--list":
        reply(installed())
        return
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(sys.argv[1], json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
