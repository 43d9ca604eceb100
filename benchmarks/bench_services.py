# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Round trips of the kinematics' services beside those of an empty service of the same type.

Both servers are processes of their own, called in turn by one client, so that both meet the same
machine. The empty one answers whatever it is asked with an untouched response.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import rclpy
from ik.tables import processor, table, us, write
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from arm_description import load_robot
from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK
from arm_kinematics import Chain

DOMAIN = "77"
PATIENCE = 120.0  # [s]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
KINDS = {"solve_ik": SolveIK, "solve_fk": SolveFK, "get_jacobian": GetJacobian}
EMPTY = """
import rclpy
from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK
rclpy.init()
node = rclpy.create_node("empty")
for name, kind in {"solve_ik": SolveIK, "solve_fk": SolveFK, "get_jacobian": GetJacobian}.items():
    node.create_service(kind, f"~/{name}", lambda request, response: response)
rclpy.spin(node)
"""


class Caller:
    """A client of both servers."""

    def __init__(self) -> None:
        self.node = Node("caller")
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.clients = {
            (server, name): self.node.create_client(kind, f"{server}/{name}")
            for server in ("empty", "kinematics")
            for name, kind in KINDS.items()
        }

    def call(self, server: str, name: str, request: object) -> tuple[float, object]:
        """Return the time of a round trip [us], and the answer."""
        begin = time.perf_counter()
        future = self.clients[server, name].call_async(request)
        while not future.done():
            self.executor.spin_once(PATIENCE)
        return 1e6 * (time.perf_counter() - begin), future.result()

    def wait(self, question: object) -> None:
        """Wait until both servers answer, and the kinematics a question of solve_fk."""
        end = time.monotonic() + PATIENCE
        for client in self.clients.values():
            if not client.wait_for_service(PATIENCE):
                raise SystemExit(f"there is no service {client.srv_name}")
        while self.call("kinematics", "solve_fk", question)[1].status != SolveFK.Response.SUCCESS:
            if time.monotonic() > end:
                raise SystemExit("the kinematics got no robot description")


def requests(name: str, chain: Chain, count: int) -> list[object]:
    """Return random requests for a service, each with a joint state."""
    rng, made = np.random.default_rng(1), []
    for _ in range(count):
        request = KINDS[name].Request()
        joints = request.seed if name == "solve_ik" else request.joint_state
        joints.name = list(chain.joint_names)
        joints.position = rng.uniform(chain.lower, chain.upper).tolist()
        if name == "solve_ik":
            T = chain.fk(rng.uniform(chain.lower, chain.upper))
            p = request.target.pose.position
            p.x, p.y, p.z = T[:3, 3].tolist()
            request.target.pose.orientation.w, request.mode = 1.0, SolveIK.Request.POSITION
        made.append(request)
    return made


def measure(caller: Caller, name: str, chain: Chain, count: int) -> list[str]:
    """Return a row: median and p99 of both, and the ratio of the medians."""
    times: dict[str, list[float]] = {"empty": [], "kinematics": []}
    for request in requests(name, chain, count + 50):
        for server, taken in times.items():
            taken.append(caller.call(server, name, request)[0])
    empty, ours = (np.array(t[50:]) for t in times.values())
    cells = [us(float(x)) for t in (empty, ours) for x in (np.median(t), np.quantile(t, 0.99))]
    return [name, *cells, f"{np.median(ours) / np.median(empty):.2f}"]


def main() -> int:
    """Start both servers, measure, print, and write where told to."""
    parser = argparse.ArgumentParser(prog="./arm bench services", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="of each service (2000)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table into a document")
    chosen = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = DOMAIN
    commands = [["-c", EMPTY], ["-m", "arm_kinematics.kinematics_node"]]
    servers = [
        subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        rclpy.init()
        caller, model = Caller(), load_robot("nut_arm")
        publisher = caller.node.create_publisher(String, "robot_description", LATCHED)
        publisher.publish(String(data=model.to_urdf()))
        chain = Chain.from_model(model)
        caller.wait(requests("solve_fk", chain, 1)[0])
        rows = [measure(caller, name, chain, chosen.calls) for name in KINDS]
    finally:
        for server in servers:
            server.terminate()
    head = ["service", "empty: median us", "p99 us", "ours: median us", "p99 us", "ratio"]
    text = f"{processor()}, {chosen.calls:,} calls of each.\n\n{table(head, rows)}"
    print(text)
    if chosen.write:
        write(chosen.write, "services", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
