# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The browser view while the nut transfer runs: its share of a core with one client, its memory.

The client receives what the server sends and draws nothing, so only the server is measured.
An hour of frames is drawn as fast as possible, in a separate process.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import rclpy
from arm_common.ros.qos import LATCHED
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_testing.pages.viewer_client import Spectator
from bench_stack import VIEW, Watch, cpu_seconds, prepared
from ik.tables import above_zero, add_write, machine, write
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import ListParameters, SetParameters
from visualization_msgs.msg import MarkerArray

from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus


def memory(pid: int) -> float:
    """Return the resident memory of a process [MB]."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def show_all(watch: Watch, on: bool) -> None:
    """Switch every layer of kinematics_markers on or off."""
    lister = watch.node.create_client(ListParameters, "kinematics/list_parameters")
    setter = watch.node.create_client(SetParameters, "kinematics/set_parameters")
    watch.wait_for(lambda: lister.service_is_ready() and setter.service_is_ready(), "kinematics")
    asked = lister.call_async(ListParameters.Request(prefixes=["markers"]))
    watch.wait_for(asked.done, "the layers")
    value = ParameterValue(type=1, bool_value=on)
    numbers = {"markers.rate", "markers.trace_length"}
    names = [name for name in asked.result().result.names if name not in numbers]
    layers = [Parameter(name=name, value=value) for name in names]
    watch.wait_for(setter.call_async(SetParameters.Request(parameters=layers)).done, "layers")


def wait_reach(watch: Watch) -> None:
    """Wait until the reachable region, computed once per robot in some seconds, is drawn."""
    seen: set[str] = set()
    subscription = watch.node.create_subscription(
        MarkerArray, "kinematics_markers", lambda m: seen.update(k.ns for k in m.markers), LATCHED
    )
    watch.wait_for(lambda: "reach" in seen, "the reachable region")
    watch.node.destroy_subscription(subscription)


def keep_running(watch: Watch) -> None:
    """Start the task again when it has ended; a goal while it runs is rejected."""
    if watch.state != HardwareStatus.MOVING:
        watch.task.send_goal_async(RunTask.Goal())


def measure(group: ProcessGroup, watch: Watch, seconds: float, what: str) -> str:
    """Return a row: shares of a core, and memory, over some seconds of the running task."""
    pids = {name: group.pids()[name] for name in ("arm_viewer", "kinematics")}
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        keep_running(watch)
        watch.spin_for(0.5)
    elapsed = time.monotonic() - begin
    shares = {n: 100.0 * (cpu_seconds(pid) - before[n]) / elapsed for n, pid in pids.items()}
    cells = [f"{shares[n]:.1f} %" for n in pids] + [f"{memory(pids['arm_viewer']):.0f} MB"]
    row = f"| {what} | {' | '.join(cells)} |"
    print(row, flush=True)
    return row


def hour(pictures: int) -> str:
    """Draw pictures in a separate process; return its report on memory."""
    print(f"Drawing {pictures:,} pictures takes some minutes.", flush=True)
    program = [sys.executable, str(Path(__file__).with_name("viewer_hour.py")), str(pictures)]
    said = subprocess.run(program, capture_output=True, text=True, check=True).stdout.strip()
    print(said, flush=True)
    return said


def view_address(group: ProcessGroup) -> str:
    """Return host and port of the view from its log, "" if not yet logged."""
    found = re.search(r"http://([\d.]+:\d+)", group.log_tail(VIEW))
    return found[1] if found else ""


def running(seconds: float, speed: str) -> list[str]:
    """Start the nut transfer with the view; return a row of the table for each state."""
    os.environ["ROS_DOMAIN_ID"] = "79"
    # not composed, to measure kinematics by itself
    values = {"viewer": "browser", "viewer_port": "18400", "speed": speed, "composed": "false"}
    with prepared(**values) as (group, table):
        for process in table:
            group.start(process)
        rclpy.init()
        watch = Watch(group)
        watch.wait_for(lambda: watch.state == HardwareStatus.ARMED, "the driver")
        watch.wait_for(watch.task.server_is_ready, "the task server")
        watch.wait_for(lambda: view_address(group), "the view")
        rows = [measure(group, watch, seconds, "no client")]
        client = Spectator(view_address(group))
        client.start()
        rows.append(measure(group, watch, seconds, "one client"))
        show_all(watch, on=False)
        what = "one client, no layer of `kinematics_markers`"
        rows.append(measure(group, watch, seconds, what))
        show_all(watch, on=True)
        wait_reach(watch)
        what = "one client, every layer of `kinematics_markers`"
        rows.append(measure(group, watch, seconds, what))
        client.open = False
    return rows


def main() -> None:
    """Run the measurements, print the results, and write them with --write."""
    parser = argparse.ArgumentParser(prog="./arm bench viewer", description=__doc__)
    parser.add_argument(
        "--seconds", type=above_zero, default=20.0, help="of each measurement (20)"
    )
    parser.add_argument("--speed", default="1.0", help="speed of simulated time (1.0)")
    parser.add_argument(
        "--pictures",
        type=int,
        default=108_000,
        help="to draw for the memory report (108000); 0: none",
    )
    add_write(parser)
    given = parser.parse_args()
    head = "| | viewer | kinematics | viewer's memory |\n|---|---:|---:|---:|"
    print(head, flush=True)
    table = "\n".join([head, *running(given.seconds, given.speed)])
    grown = hour(given.pictures) if given.pictures else ""
    write(given.write, "viewer", f"{machine()}\n\n{table}\n\n{grown}")


if __name__ == "__main__":
    main()
