# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics called from Python, compared with other solvers: time, success, accuracy.

Every target is the pose of random joint positions inside the limits, so that it has a solution;
all solvers get the same targets. All answers are checked in the same way: forward kinematics by
the DH table within 1e-5 m and 1e-4 rad of the target, inside the limits.
"""

from __future__ import annotations

import argparse
import platform
import sys
from contextlib import ExitStack
from importlib.metadata import version

from arm_common.cli import whole_number
from ik import sections
from ik.hard import hard_cases
from ik.peers import make_environment, running, versions
from ik.tables import above_zero, add_write, processor, write

from arm_description import shipped_robots

COMMAND = "./arm bench ik"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("robots", nargs="*", help="shipped robots (all)")
    parser.add_argument("--peers", action="store_true", help="install the peers in .venv-peers")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument(
        "--targets", type=whole_number(1), default=1000, help="per row, for times (1000)"
    )
    parser.add_argument(
        "--solved",
        type=whole_number(1),
        default=20000,
        help="per row, for our share solved (20000)",
    )
    parser.add_argument(
        "--seconds", type=above_zero, default=3.0, help="per row, for each peer (3)"
    )
    parser.add_argument("--only", nargs="+", metavar="PART", help="some of: " + ", ".join(PARTS))
    add_write(parser)
    return parser.parse_args()


PARTS = {
    "solvers": "One solution",
    "hard": "Hard sets",
    "all": "All solutions in closed form",
    "general": "All solutions of a general 6R arm",
    "forward": "Forward kinematics",
    "batch": "Many targets",
}


def measure(part: str, robots: list[str], amount: sections.Amount, peers: dict) -> str:
    """Return the table of a part."""
    one = [peer for name, peer in peers.items() if not name.endswith(", all")]
    many = [peer for name, peer in peers.items() if name in ("EAIK", "ssik, all")]
    if part == "solvers":
        return sections.solvers(robots, amount, one)
    if part == "hard":
        hard = [name for name in robots if name in shipped_robots()]
        return sections.hard_sets(hard_cases(hard, amount.timed), amount, one)
    if part == "all":
        return sections.all_solutions(amount, many)
    if part == "general":
        return sections.general(amount, many)
    if part == "batch":
        return sections.batches(amount)
    return sections.forward(robots or list(shipped_robots()), amount)


def preamble(chosen: argparse.Namespace, found: dict[str, str | None]) -> str:
    """Return the machine, the versions and the numbers of targets of the measurements."""
    lines = [f"{processor()}, Python {platform.python_version()}, numpy {version('numpy')}."]
    if not chosen.alone:
        there = [f"{name} ({number})" for name, number in found.items() if number]
        missing = [name for name, number in found.items() if not number]
        lines.append(f"Peers: {', '.join(there) or 'none'}.")
        if missing:
            lines.append(f"Not installed: {', '.join(missing)}; `{COMMAND} --peers` does it.")
    lines.append(f"Times of {chosen.targets:,} targets per row; for peers, as many as fit into ")
    lines[-1] += f"{chosen.seconds:g} s."
    return "\n".join(lines)


def main() -> int:
    """Run the measurements, print and write the results; return the exit code."""
    chosen = arguments()
    if chosen.peers:
        return make_environment()
    unknown = [x for x in chosen.robots if x not in shipped_robots()]
    unknown += [x for x in chosen.only or [] if x not in PARTS]
    if unknown:
        print(
            f"There is no {unknown[0]}; robots: {', '.join(shipped_robots())}; parts: "
            f"{', '.join(PARTS)}."
        )
        return 2
    found = {} if chosen.alone else versions()
    texts = [preamble(chosen, found)]
    print(texts[0], flush=True)
    amount = sections.Amount(chosen.targets, max(chosen.solved, chosen.targets), chosen.seconds)
    with ExitStack() as stack:
        names = [name for name, number in found.items() if number]
        peers = {name: stack.enter_context(running(name)) for name in names}
        for part in chosen.only or PARTS:
            print(f"-- {PARTS[part]}", flush=True)
            table = measure(part, chosen.robots, amount, peers)
            texts.append(f"### {PARTS[part]}\n\n{table}")
    write(chosen.write, "ik", "\n\n".join(texts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
