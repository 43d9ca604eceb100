# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The page of ./arm view: time from an edit of the table to its picture; memory and load at rest.

The client stands for a browser: it types a number of the table, receives the edited robot, and
draws nothing. A browser needs the time of its own frames besides.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from arm_testing.pages.viewer_client import CAMERA, Spectator, connected, decompressed, encoded
from bench_stack import PATIENCE, cpu_seconds, memory, tree
from ik.tables import above_zero, add_write, machine, write

VIEW = "import sys; from arm_tasks.bringup.demo import view; sys.exit(view(sys.argv[1:]))"
DOMAIN, PORT = "82", "18520"
WARM_UP = 3  # edits
PAUSE = 0.5  # [s] after an edit: the state publisher and the kinematics follow


@contextmanager
def running_view(robot: str) -> Iterator[tuple[int, str]]:
    """Start `./arm view`; yield its process id, and the address of its page without http."""
    log = Path(tempfile.mkdtemp()) / "log.txt"
    with log.open("w") as output:
        started = subprocess.Popen(
            [sys.executable, "-c", VIEW, robot, "--viewer-port", PORT],
            stdout=output,
            stderr=output,
            env={**os.environ, "ROS_DOMAIN_ID": DOMAIN},
        )
    try:
        end = time.monotonic() + PATIENCE
        while not (found := re.search(r"Browser view: http://(\S+)", log.read_text())):
            if started.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"the view has not started:\n{log.read_text()}")
            time.sleep(0.2)
        yield started.pid, found[1]
    finally:
        started.terminate()
        started.wait()


class Typist:
    """A browser that types into the first field d of the table."""

    def __init__(self, address: str) -> None:
        self._socket = connected(address)
        self._socket.send(encoded(CAMERA))
        self.field: dict[str, Any] = {}  # what viser says of the field
        self._drawn = ""  # the element that counts the robots drawn
        while not (self.field and self._drawn):
            for message in self._receive():
                props = message.get("props", {})
                if str(props.get("label")).startswith("d ["):
                    self.field = self.field or message
                elif 'data-arm="drawn"' in str(props.get("content")):
                    self._drawn = message["uuid"]

    def _receive(self, timeout: float = 60.0) -> list[dict[str, Any]]:
        decoded = msgspec.msgpack.decode(decompressed(self._socket.recv(timeout=timeout)))
        return list(decoded["messages"])

    def settle(self, seconds: float) -> None:
        """Receive what comes meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            with suppress(TimeoutError):
                self._socket.recv(timeout=left)

    def edit(self, text: str) -> float:
        """Type a text; return the time until the edited robot arrives [s]."""
        begin, uuid = time.monotonic(), self.field["uuid"]
        update = {"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": text}}
        self._socket.send(encoded(update))
        while all(message.get("uuid") != self._drawn for message in self._receive()):
            pass
        return time.monotonic() - begin

    def close(self) -> None:
        """Close the page."""
        self._socket.close()


def edits(address: str, count: int) -> str:
    """Edit the robot; return a sentence about the times."""
    typist = Typist(address)
    typist.settle(5.0)
    text = typist.field["value"] or "0"
    step = 1.0 if "mm" in typist.field["props"]["label"] else 0.001
    times = []
    for number in range(count + WARM_UP):
        times.append(1e3 * typist.edit(f"{text} + {step * (1 + number % 2):g}"))
        typist.settle(PAUSE)
    typist.close()
    median, worst = statistics.median(times[WARM_UP:]), max(times[WARM_UP:])
    said = f"{count} edits: the edited robot arrives after {median:.0f} ms (median), at most "
    said += f"{worst:.0f} ms."
    print(said, flush=True)
    return said


def rest(pid: int, seconds: float, what: str) -> str:
    """Return a row: memory of the nodes, and their share of a core, while nothing happens."""
    pids = tree(pid)[1:]
    view = next(each for each in pids if "viewer/viewer" in command(each))
    before, begin = {each: cpu_seconds(each) for each in pids}, time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - begin
    share = {each: 100.0 * (cpu_seconds(each) - before[each]) / passed for each in pids}
    row = f"| {what} | {memory(view):.0f} MB | {share[view]:.1f} % "
    row += f"| {sum(map(memory, pids)):.0f} MB | {sum(share.values()):.1f} % |"
    print(row, flush=True)
    return row


def command(pid: int) -> str:
    """Return the command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text()


def measure(given: argparse.Namespace) -> str:
    """Return the table and the sentence."""
    head = "| at rest | view | | all nodes | |\n|---|---:|---:|---:|---:|"
    print(head, flush=True)
    with running_view(given.robot) as (pid, address):
        time.sleep(given.settle)
        rows = [rest(pid, given.seconds, "no client")]
        spectator = Spectator(address)
        spectator.start()
        time.sleep(given.settle)
        rows.append(rest(pid, given.seconds, "one client"))
        spectator.open = False
        said = edits(address, given.edits) if given.edits else ""
    return "\n".join([head, *rows, "", said])


def main() -> None:
    """Run the measurements, print the results, and write them with --write."""
    parser = argparse.ArgumentParser(prog="./arm bench page", description=__doc__)
    parser.add_argument("--robot", default="nut_arm", help="name or file (nut_arm)")
    parser.add_argument("--edits", type=int, default=20, help="number of edits (20); 0: none")
    parser.add_argument("--seconds", type=above_zero, default=20.0, help="at rest (20)")
    parser.add_argument("--settle", type=above_zero, default=20.0, help="before it (20)")
    add_write(parser)
    given = parser.parse_args()
    text = measure(given)
    write(given.write, "page", f"{machine()}\n\n{text}")


if __name__ == "__main__":
    main()
