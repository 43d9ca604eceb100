# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Soak test of the running stack: thousands of goals, tasks and requests; does anything grow?

Each phase is split into ten windows. The first is the warm-up; the rate, the CPU time per
operation, and each process's memory, file descriptors and threads are compared between the second
and the last. Memory is private (not shared with other processes). The view has no browser.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import rclpy
from arm_common.ros.executor import StaticExecutor
from arm_common.ros.qos import FEEDBACK, LATCHED
from arm_tasks.bringup.processes import ARGUMENTS, chosen, processes
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_tasks.task.parser import load_task
from bench_services import KINDS, requests
from bench_stack import cpu_seconds
from control_msgs.action import FollowJointTrajectory
from ik.tables import processor, table, write
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectoryPoint

from arm_description import load_robot
from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus
from arm_kinematics import Chain

DOMAIN = "80"
PATIENCE = 180.0  # [s], a bound on each wait
WINDOWS = 10
POINTS, DURATION = 100, 0.2  # of a trajectory; [s] of simulated time
SWING = 0.02  # [rad]
IN_FLIGHT = 4  # requests to kinematics
MEMORY_BOUND, RATE_BOUND = 5.0, 0.05  # [MB], fraction
SELF = "this client"


class Use(NamedTuple):
    """Resources of a process."""

    cpu: float  # [s] so far
    memory: float  # private [MB]
    descriptors: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Use:
        """Read the resources of a process."""
        folder = Path(f"/proc/{pid}")
        lines = (folder / "smaps_rollup").read_text().splitlines()
        private = sum(int(x.split()[1]) for x in lines if x.startswith("Private_"))
        counts = (len(list((folder / name).iterdir())) for name in ("fd", "task"))
        return cls(cpu_seconds(pid), private / 1024.0, *counts)


@dataclass
class Window:
    """One tenth of a phase."""

    count: int
    seconds: float
    uses: Mapping[str, Use]  # at its end, by process


@dataclass
class Phase:
    """The windows of one kind of load."""

    name: str
    unit: str
    windows: list[Window] = field(default_factory=list)

    @property
    def rates(self) -> tuple[float, float]:
        """Operations per second in the second and in the last window."""
        first, last = (self.windows[k].count / self.windows[k].seconds for k in (1, -1))
        return first, last

    def cpu(self, k: int) -> float:
        """CPU time of all nodes per operation of a window [ms]."""
        before, after = self.windows[k - 1].uses, self.windows[k].uses
        total = sum(after[name].cpu - before[name].cpu for name in after if name != SELF)
        return 1e3 * total / max(1, self.windows[k].count)

    def growth(self, name: str) -> float:
        """Growth of a process's memory from the end of the warm-up to the last window [MB]."""
        return self.windows[-1].uses[name].memory - self.windows[0].uses[name].memory


class Load:
    """A client of all nodes."""

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        self.node = rclpy.create_node("bench")
        self._executor = StaticExecutor()
        self._executor.add_node(self.node)
        self.state: int | None = None
        self.done = self._sent = 0
        self.node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_status, LATCHED
        )
        self.follow = ActionClient(
            self.node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory"
        )
        self.task = ActionClient(self.node, RunTask, "run_task", feedback_sub_qos_profile=FEEDBACK)
        self.chain = Chain.from_model(load_robot("nut_arm"))
        self.services = {
            name: self.node.create_client(kind, f"kinematics/{name}")
            for name, kind in KINDS.items()
        }
        self._requests = [
            (name, request)
            for same in zip(*(requests(name, self.chain, 100) for name in KINDS), strict=True)
            for name, request in zip(KINDS, same, strict=True)
        ]

    def _on_status(self, message: HardwareStatus) -> None:
        self.state = message.state

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Spin until a condition holds; exit if a process has ended."""
        end = time.monotonic() + PATIENCE
        while not condition():
            self._executor.spin_once(0.2)
            for name, code in self._group.ended().items():
                raise SystemExit(f"{name} ended with {code}:\n{self._group.log_tail(name)}")
            if time.monotonic() > end:
                raise SystemExit(f"timed out after {PATIENCE:.0f} s waiting for {what}")

    def uses(self) -> dict[str, Use]:
        """Return the resources of all processes by name."""
        return {
            name: Use.of(pid) for name, pid in (self._group.pids() | {SELF: os.getpid()}).items()
        }

    def phase(
        self, name: str, unit: str, count: int, send: Callable[[int], None], at_once: int
    ) -> Phase:
        """Send a number of operations, some at once, each next one when one is done."""
        phase = Phase(name, unit)
        self.done = self._sent = 0
        self._next = lambda: send(self._sent)
        for k in range(WINDOWS):
            goal = count * (k + 1) // WINDOWS
            begin, before = time.monotonic(), self.done
            self._limit = goal
            for _ in range(at_once):
                self._send()
            while self.done < goal:
                self.wait_for(partial(self._has_passed, self.done), f"an answer ({name})")
            seconds = time.monotonic() - begin
            phase.windows.append(Window(self.done - before, seconds, self.uses()))
            report(phase)
        return phase

    def _send(self) -> None:
        if self._sent < self._limit:
            self._sent += 1
            self._next()

    def _has_passed(self, count: int) -> bool:
        return self.done > count

    def _on_done(self, _: Any = None) -> None:
        self.done += 1
        self._send()

    def send_goal(self, k: int) -> None:
        """Send a trajectory that swings the first joint."""
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(self.chain.joint_names)
        side = SWING if k % 2 else -SWING
        for i in range(1, POINTS + 1):
            part = i / POINTS
            seconds = DURATION * part
            smooth = side * (2.0 * part * part * (3.0 - 2.0 * part) - 1.0)
            point = JointTrajectoryPoint(positions=[smooth] + [0.0] * (self.chain.n - 1))
            point.time_from_start.nanosec = int(seconds * 1e9)
            goal.trajectory.points.append(point)
        self._act(self.follow, goal)

    def send_task(self, name: str, k: int) -> None:
        """Send a task by name, or one of one step if there is no name."""
        side = SWING if k % 2 else -SWING
        text = (
            f"task: soak\nsteps:\n  - move_joints: {{joints: {{waist: {side + 1e-6 * k:.6f}}}}}\n"
        )
        self._act(
            self.task,
            RunTask.Goal(task=name, scene=load_task(name).scene)
            if name
            else RunTask.Goal(task="soak", text=text),
        )

    def _act(self, client: ActionClient, goal: Any) -> None:
        def on_result(future: Any) -> None:
            result = future.result()
            code = getattr(result.result, "error_string", "") or getattr(
                result.result, "message", ""
            )
            if result.status != 4:
                raise SystemExit(f"a goal ended with status {result.status}: {code}")
            self._on_done()

        def on_response(future: Any) -> None:
            handle = future.result()
            if not handle.accepted:
                raise SystemExit("a goal was rejected; see the driver's log")
            handle.get_result_async().add_done_callback(on_result)

        client.send_goal_async(goal, lambda _: None).add_done_callback(on_response)

    def send_request(self, k: int) -> None:
        """Send a request to kinematics."""
        name, request = self._requests[k % len(self._requests)]
        self.services[name].call_async(request).add_done_callback(self._on_done)


def report(phase: Phase) -> None:
    """Print the last window of a phase."""
    window = phase.windows[-1]
    sizes = ", ".join(
        f"{name} {use.memory:.1f} MB/{use.descriptors}/{use.threads}"
        for name, use in window.uses.items()
    )
    rate = window.count / window.seconds
    number = len(phase.windows)
    print(f"{phase.name} {number}/{WINDOWS}: {rate:.1f} {phase.unit}/s; {sizes}", flush=True)


def load(given: argparse.Namespace, group: ProcessGroup) -> list[Phase]:
    """Run all phases on processes that have just been started."""
    client = Load(group)
    client.wait_for(lambda: client.state == HardwareStatus.ARMED, "the driver")
    client.wait_for(client.task.server_is_ready, "the task server")
    client.wait_for(client.follow.server_is_ready, "the driver's action")
    for service in client.services.values():
        client.wait_for(service.service_is_ready, "kinematics")
    client.phase("start", "tasks", WINDOWS, partial(client.send_task, "draw_square"), 1)
    kinds = (
        ("goals to the driver", "goals", given.goals, client.send_goal, 1),
        ("tasks of one step", "tasks", given.tasks, partial(client.send_task, ""), 1),
        (f"runs of {given.task}", "runs", given.runs, partial(client.send_task, given.task), 1),
        ("requests to kinematics", "requests", given.requests, client.send_request, IN_FLIGHT),
    )
    return [client.phase(*kind) for kind in kinds if kind[2]]


def broken(phases: list[Phase]) -> list[str]:
    """Return the bounds that do not hold, one line each."""
    found = []
    for phase in phases:
        first, last = phase.rates
        if last < first * (1.0 - RATE_BOUND):
            found.append(f"{phase.name}: from {first:.1f} to {last:.1f} {phase.unit}/s")
        second, end = phase.windows[1].uses, phase.windows[-1].uses
        for name in end:
            if phase.growth(name) > MEMORY_BOUND:
                found.append(f"{phase.name}: {name} grew by {phase.growth(name):.1f} MB")
            for kind in ("descriptors", "threads"):
                before, after = getattr(second[name], kind), getattr(end[name], kind)
                if before != after:
                    found.append(f"{phase.name}: {name} had {before} {kind}, then {after}")
    return found


def tables(phases: list[Phase]) -> str:
    """Return the rates, the resources and the broken bounds as text."""
    rates = []
    for phase in phases:
        first, last = phase.rates
        count = sum(window.count for window in phase.windows)
        minutes = sum(window.seconds for window in phase.windows) / 60.0
        cells = (f"{count:,}", f"{minutes:.1f}", f"{first:.1f}", f"{last:.1f}")
        rates.append([phase.name, *cells, f"{phase.cpu(1):.2f}", f"{phase.cpu(WINDOWS - 1):.2f}"])
    head = ["load", "count", "minutes", "per second, second tenth", "last tenth"]
    head += ["CPU of all nodes each [ms], second tenth", "last tenth"]
    nodes = []
    for name, use in phases[0].windows[0].uses.items():
        growths = [f"{phase.growth(name):+.1f}" for phase in phases]
        end = phases[-1].windows[-1].uses[name]
        counts = (f"{use.descriptors}, {end.descriptors}", f"{use.threads}, {end.threads}")
        nodes.append([f"`{name}`", f"{use.memory:.1f}", *growths, *counts])
    columns = [f"{phase.name} [MB]" for phase in phases]
    resources = ["process", "private memory [MB]", *columns, "file descriptors", "threads"]
    verdict = "\n".join(f"- {line}" for line in broken(phases)) or "All bounds hold."
    return f"{table(head, rates)}\n\n{table(resources, nodes)}\n\n{verdict}"


def run(given: argparse.Namespace) -> list[Phase]:
    """Start the nodes, load them, and stop them."""
    values = {a.name: a.default for a in ARGUMENTS}
    values |= {"viewer": given.viewer, "viewer_port": "18310", "speed": str(given.speed)}
    values["composed"] = "true" if given.composed else "false"
    with tempfile.TemporaryDirectory() as folder:
        group = ProcessGroup(values, Path(folder))
        try:
            for process in chosen(processes(), values):
                if process.name != "task_client":
                    group.start(process)
            return load(given, group)
        finally:
            group.stop()


def main() -> int:
    """Run the phases, print the tables, and write them with --write; 1 if a bound is broken."""
    parser = argparse.ArgumentParser(prog="./arm bench soak", description=__doc__)
    parser.add_argument("--goals", type=int, default=10_000, help="to the driver (10000)")
    parser.add_argument("--tasks", type=int, default=2_000, help="of one step (2000)")
    parser.add_argument("--runs", type=int, default=100, help="of --task (100)")
    parser.add_argument("--task", default="draw_square", help="a shipped task (draw_square)")
    parser.add_argument("--requests", type=int, default=100_000, help="to kinematics (100000)")
    parser.add_argument("--speed", type=float, default=8.0, help="of simulated time (8)")
    parser.add_argument(
        "--viewer", choices=("browser", "none"), default="browser", help="with the view or not"
    )
    parser.add_argument(
        "--composed",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="nodes share a process, as by default in the launch files, or have one each",
    )
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="insert the tables into a document"
    )
    given = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = DOMAIN
    rclpy.init()
    phases = run(given)
    text = (
        f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}; emulated "
        f"servos, simulated time {given.speed:g} times as fast.\n\n{tables(phases)}"
    )
    print(f"\n{text}")
    if given.write:
        write(given.write, "soak", text)
    return 1 if broken(phases) else 0


if __name__ == "__main__":
    sys.exit(main())
