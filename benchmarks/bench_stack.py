# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The whole stack: seconds from start to the first motion, and each node's share of a core."""

import os
import tempfile
import time
from pathlib import Path

import rclpy
from arm_tasks.bringup import ARGUMENTS, processes, state_publisher_package
from arm_tasks.processes import ProcessGroup, is_wanted
from arm_tasks.ros_conversions import LATCHED
from rclpy.action import ActionClient

from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus

SECONDS = 10.0  # of measuring CPU
PATIENCE = 120.0
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Watch:
    """A client that sees when the arm is armed and when it moves first."""

    def __init__(self) -> None:
        self.node = rclpy.create_node("bench")
        self.state: int | None = None
        self.node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_status, LATCHED
        )
        self.task = ActionClient(self.node, RunTask, "run_task")

    def _on_status(self, message: HardwareStatus) -> None:
        self.state = message.state

    def wait_for(self, condition: object, what: str) -> None:
        """Spin until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():  # type: ignore[operator]
            rclpy.spin_once(self.node, timeout_sec=0.02)
            if time.monotonic() > end:
                raise SystemExit(f"waited {PATIENCE:.0f} s in vain for {what}")

    def spin_for(self, seconds: float) -> None:
        """Spin for some time [s]."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=0.05)


def shares(group: ProcessGroup, watch: Watch) -> dict[str, float]:
    """Return name -> share of one core [%] over the next seconds."""
    pids = group.pids()
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    begin = time.monotonic()
    watch.spin_for(SECONDS)
    elapsed = time.monotonic() - begin
    return {
        name: 100.0 * (cpu_seconds(pid) - before[name]) / elapsed for name, pid in pids.items()
    }


def main() -> None:
    """Start the nodes, run the task, measure, print."""
    os.environ["ROS_DOMAIN_ID"] = "78"
    values = {a.name: a.default for a in ARGUMENTS} | {"viewer": "browser", "viewer_port": "18300"}
    with tempfile.TemporaryDirectory() as folder:
        group = ProcessGroup(values, Path(folder))
        begin = time.monotonic()
        try:
            for process in processes(state_publisher_package()):
                if is_wanted(process, values) and process.name != "run_task":
                    group.start(process)
            rclpy.init()
            watch = Watch()
            watch.wait_for(lambda: watch.state == HardwareStatus.ARMED, "the driver")
            armed = time.monotonic() - begin
            watch.wait_for(watch.task.server_is_ready, "the task server")
            served = time.monotonic() - begin
            rest = shares(group, watch)
            asked = time.monotonic()
            watch.task.send_goal_async(RunTask.Goal())
            watch.wait_for(lambda: watch.state == HardwareStatus.MOVING, "the first motion")
            planned = time.monotonic() - asked
            moving = shares(group, watch)
        finally:
            group.stop()
    print(f"driver armed {armed:.1f} s after the start, task server there after {served:.1f} s")
    print(f"first motion {planned:.2f} s after the goal (all steps checked before it)")
    print(f"{'node':24} {'at rest':>8} {'moving':>8}   (share of one core)")
    for name in rest:
        print(f"{name:24} {rest[name]:7.1f}% {moving[name]:7.1f}%")
    print(f"{'all':24} {sum(rest.values()):7.1f}% {sum(moving.values()):7.1f}%")


if __name__ == "__main__":
    main()
