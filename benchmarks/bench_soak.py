# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Soak test of the running nodes: thousands of operations of each kind; does anything grow?

Each load is split into ten windows, of which the first is the warm-up: memory, file descriptors
and threads of each process are compared between its end and the end of the last. Then a fresh
stack is started, and used and fresh stack get blocks of the same operations in turn: rate and CPU
time per operation are compared within each pair of blocks, so that other work on the machine,
which slows both alike, does not matter. A client of the view stays connected all the time.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bench_stack import prepared
from ik.tables import above_zero, add_write, processor, write
from soak.growth import Growth, tables
from soak.loads import LOADS, ArmClient, LoadClient, NutClient

DOMAIN, PORT = 80, 18310  # of the first stack
PAIRS = 8
CLIENTS = {"turns": NutClient}  # load -> client, if not the arm's


@contextmanager
def stack(kind: type[LoadClient], number: int, given: argparse.Namespace) -> Iterator[LoadClient]:
    """Start the nodes for a client, and return the client once they are prepared."""
    alone = kind is NutClient
    values = {"viewer": "none", "speed": "1.0"} if alone else {"viewer": given.viewer}
    domain, port = DOMAIN + number, PORT + 10 * number
    values = {"speed": str(given.speed), "composed": given.composed, **values}
    os.environ["ROS_DOMAIN_ID"] = str(domain)
    names = {"nut_world"} if alone else None
    with prepared(
        lambda process: process.name in names if names else process.name != "task_client",
        viewer_port=str(port),
        **values,
    ) as (group, table):
        for process in table:
            group.start(process)
        client = kind(group, domain)
        try:
            client.prepare()
            yield client
        finally:
            client.close()


def soak(kind: type[LoadClient], names: Sequence[str], given: argparse.Namespace) -> list[Growth]:
    """Load nodes of one kind, and compare them with fresh ones."""
    found = {}
    with stack(kind, 0, given) as used:
        for name in names:
            count = max(10, round(LOADS[name].count * given.fraction))
            found[name] = used.load(name, count)
        if given.pairs:
            with stack(kind, 1, given) as fresh:
                for name, growth in found.items():
                    compare(used, fresh, name, given.pairs, growth)
    return list(found.values())


def compare(used: LoadClient, fresh: LoadClient, name: str, pairs: int, growth: Growth) -> None:
    """Load two stacks in turn; the first pair is the warm-up."""
    for k in range(pairs + 1):
        order = (used, fresh) if k % 2 else (fresh, used)
        windows = {client: client.window(name, LOADS[name].block) for client in order}
        if k:
            growth.pairs.append((windows[used], windows[fresh]))
    print(f"{growth.title}, used to fresh: rate {growth.rate:.1%}, CPU {growth.cpu:.1%}")


def main() -> int:
    """Run the loads, print the tables, and write them with --write; 1 if a bound is broken."""
    parser = argparse.ArgumentParser(prog="./arm bench soak", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=LOADS, default=list(LOADS), help="loads to run (all)"
    )
    counts = ", ".join(f"{load.count:,} {name}" for name, load in LOADS.items())
    parser.add_argument("--fraction", type=above_zero, default=1.0, help=f"of {counts} (1)")
    parser.add_argument(
        "--pairs", type=int, default=PAIRS, help="of blocks on used and fresh nodes; 0: none (8)"
    )
    parser.add_argument("--speed", type=above_zero, default=8.0, help="of simulated time (8)")
    parser.add_argument(
        "--viewer", choices=("browser", "none"), default="browser", help="with the view or not"
    )
    parser.add_argument(
        "--composed", choices=("true", "false"), default="true", help="one process, or one a node"
    )
    add_write(parser)
    given = parser.parse_args()
    names = [n for n in LOADS if n in given.only and (n != "visits" or given.viewer == "browser")]
    found = []
    for kind in dict.fromkeys(CLIENTS.get(name, ArmClient) for name in names):
        ours = [name for name in names if CLIENTS.get(name, ArmClient) is kind]
        found += soak(kind, ours, given)
    text = (
        f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[2]:.1f} over the last 15 "
        f"minutes, Python {platform.python_version()}; emulated servos, simulated time "
        f"{given.speed:g} times as fast.\n\n{tables(found)}"
    )
    print(f"\n{text}")
    write(given.write, "soak", text)
    return 1 if any(growth.broken() for growth in found) else 0


if __name__ == "__main__":
    sys.exit(main())
