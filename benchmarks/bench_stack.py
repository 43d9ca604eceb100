# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The whole stack with its client: start-up, each process's share of a core, and memory.

Beside it, in the same run, a bare pair of rclpy nodes.
"""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import rclpy
from arm_common.ros.executor import StaticExecutor
from arm_common.ros.qos import LATCHED
from arm_tasks.bringup.arguments import default_values
from arm_tasks.bringup.processes import Process, chosen, processes
from arm_tasks.bringup.supervisor import ProcessGroup
from bare_pair import ROLES, bare_pair
from ik.tables import above_zero, add_write, processor, table, write
from rclpy.action import ActionClient
from rclpy.context import Context

from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus

DOMAIN = "78"
PATIENCE = 180.0  # s, a bound
WARM = 3.0  # s of motion before it is measured
TICKS = os.sysconf("SC_CLK_TCK")
VIEW = "arm_viewer"
CLIENT = next(process for process in processes() if process.ends_all)


def cpu_seconds(pid: int, with_children: bool = False) -> float:
    """Return the CPU time that a process, and on request its ended children, have used [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11 : 15 if with_children else 13])) / TICKS


def memory(pid: int) -> float:
    """Return the proportional set size (PSS) of a process [MB]."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024.0


def tree(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [pid]
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            found += tree(int(child))
    return found


class Peak:
    """Samples the memory of processes and their descendants; `largest` sum [MB], and the last."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids
        self.largest = self.last = 0.0

    def sample(self) -> None:
        """Measure now; a process may end meanwhile."""
        with suppress(OSError):
            self.last = sum(memory(pid) for root in self._pids for pid in tree(root))
            self.largest = max(self.largest, self.last)


class Watch:
    """A client that records when the nodes appear, when the arm is armed, and when it moves.

    Args:
        group: The processes.
        table: Their rows.
        context, name: Of the client's node.
    """

    def __init__(
        self,
        group: ProcessGroup,
        table: Sequence[Process] = (),
        context: Context | None = None,
        name: str = "bench",
    ) -> None:
        self._group = group
        self.nodes = {process.name: process.nodes or (process.name,) for process in table}
        self._begin = time.monotonic()
        self.seen: dict[str, float] = {}
        self.node = rclpy.create_node(name, context=context)
        self._executor = StaticExecutor(context=context)
        self._executor.add_node(self.node)
        self.state: int | None = None
        self.node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_status, LATCHED
        )
        self.task = ActionClient(self.node, RunTask, "run_task")

    def _on_status(self, message: HardwareStatus) -> None:
        self.state = message.state

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._begin

    def update(self) -> None:
        """Record the nodes that have appeared; exit if a process has ended."""
        if {node for nodes in self.nodes.values() for node in nodes} - self.seen.keys():
            for name in set(self.node.get_node_names()) - self.seen.keys():
                self.seen[name] = self.elapsed
        for name, code in self._group.ended().items():
            raise SystemExit(f"{name} ended with {code}:\n{self._group.log_tail(name)}")

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Spin until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            self._executor.spin_once(0.05)
            self.update()
            if time.monotonic() > end:
                raise SystemExit(f"timed out after {PATIENCE:.0f} s waiting for {what}")

    def spin_for(self, seconds: float) -> None:
        """Spin for some time [s]."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(0.05)
        self.update()


def shares(pids: Mapping[str, int], watch: Watch, seconds: float) -> dict[str, float]:
    """Return name -> share of one core [%] over the next seconds."""
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    begin = time.monotonic()
    watch.spin_for(seconds)
    elapsed = time.monotonic() - begin
    return {
        name: 100.0 * (cpu_seconds(pid) - before[name]) / elapsed for name, pid in pids.items()
    }


def measure(
    given: argparse.Namespace, group: ProcessGroup, watch: Watch, bare: Mapping[str, int]
) -> str:
    """Measure the processes, which have just been started, and the bare pair; return the text."""
    watch.wait_for(lambda: watch.state == HardwareStatus.ARMED, "the driver")
    armed = watch.elapsed
    watch.wait_for(watch.task.server_is_ready, "the task server")
    served = watch.elapsed
    nodes = {node for names in watch.nodes.values() for node in names}
    watch.wait_for(lambda: nodes <= watch.seen.keys(), "all nodes")
    watch.spin_for(given.settle)
    start = {name: cpu_seconds(pid) for name, pid in group.pids().items()}
    rest = shares(group.pids() | bare, watch, given.seconds)
    peak = Peak([pid for name, pid in group.pids().items() if name != VIEW])
    peak.sample()
    idle, asked = peak.last, time.monotonic()
    group.start(CLIENT)

    def is_moving() -> bool:
        peak.sample()
        return watch.state == HardwareStatus.MOVING

    watch.wait_for(is_moving, "the first motion")
    planned = time.monotonic() - asked
    watch.spin_for(WARM)
    moving = shares(group.pids() | bare, watch, given.seconds)
    if watch.state != HardwareStatus.MOVING:
        raise SystemExit("the motion ended during the measurement; use fewer --seconds")
    sizes = {name: memory(pid) for name, pid in (group.pids() | bare).items()}
    text = (
        f"Driver armed {armed:.1f} s after the start, task server there after {served:.1f} s, "
        f"first motion {planned:.1f} s after the goal (all steps checked before it). "
        f"PSS of all processes but the view, with the one that plans: {peak.largest:.0f} MB at "
        f"most; {idle:.0f} MB before."
    )
    seen = {name: max(watch.seen[node] for node in nodes) for name, nodes in watch.nodes.items()}
    return f"{text}\n\n{rows(seen, start, rest, moving, sizes)}"


def rows(seen: Mapping[str, float], *columns: Mapping[str, float]) -> str:
    """Return the table: a row per process, sums with and without the view, and the bare pair."""
    measured = list(columns[-1])
    names = [name for name in measured if name not in ROLES]
    lines = [row(f"`{name}`", columns, [name], f"{seen.get(name, 0.0):.1f}") for name in names]
    others = [name for name in names if name != VIEW]
    if others != names:
        lines.append(row("all but the view", columns, others))
    lines.append(row("all", columns, names))
    lines += [row(f"`{name}`", columns, [name]) for name in measured if name in ROLES]
    head = [
        "process",
        "seen after [s]",
        "CPU to start [s]",
        "at rest [%]",
        "moving [%]",
        "PSS [MB]",
    ]
    return table(head, lines)


def row(
    head: str, columns: tuple[Mapping[str, float], ...], names: list[str], seen: str = ""
) -> list[str]:
    """Return a row with the sum over some processes for each column; a client has no rest."""
    sums = [sum(column.get(name, 0.0) for name in names) for column in columns]
    return [head, seen, *(f"{value:.1f}" for value in sums[:-1]), f"{sums[-1]:.0f}"]


@contextmanager
def prepared(
    is_wanted: Callable[[Process], bool] = lambda process: not process.ends_all,
    **values: str,
) -> Iterator[tuple[ProcessGroup, list[Process]]]:
    """Return a group and the rows of its processes, not yet started; stop them at the end.

    Args:
        is_wanted: Returns whether a process of the table is among them.
        values: Arguments of the table that differ from their defaults.
    """
    given = default_values(**{"world": "geometric"} | values)
    with tempfile.TemporaryDirectory() as folder:
        group = ProcessGroup(given, Path(folder))
        try:
            yield group, chosen([p for p in processes() if is_wanted(p)], given)
        finally:
            group.stop()


def run(given: argparse.Namespace) -> str:
    """Start the nodes, measure them, and stop them; return the results as text."""
    values = {"viewer": given.viewer, "viewer_port": "18300", "composed": given.composed}
    with prepared(**values) as (group, table), bare_pair() as bare:
        watch = Watch(group, table)
        for process in table:
            group.start(process)
        return measure(given, group, watch, bare)


def main() -> None:
    """Run the measurements, print the results, and write them with --write."""
    parser = argparse.ArgumentParser(prog="./arm bench stack", description=__doc__)
    parser.add_argument(
        "--viewer", choices=("browser", "none"), default="browser", help="with the view or not"
    )
    parser.add_argument(
        "--composed", choices=("true", "false"), default="true", help="one process, or one a node"
    )
    parser.add_argument(
        "--seconds", type=above_zero, default=20.0, help="of each CPU measurement (20)"
    )
    parser.add_argument("--settle", type=float, default=15.0, help="after the start (15)")
    add_write(parser)
    given = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = DOMAIN
    rclpy.init()
    head = (
        f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}; nut transfer "
        f"on emulated servos at 50 Hz, {given.seconds:g} s each; fractions of one core."
    )
    text = f"{head}\n\n{run(given)}"
    print(text)
    write(given.write, "stack", text)


if __name__ == "__main__":
    main()
