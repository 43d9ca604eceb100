# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Round trips of the kinematics services, compared with empty services of the same types.

The servers are separate processes, called in turn by one client, so that all have the same
conditions. One answers each request with a default response; one with a recorded answer of ours,
so that the messages are as large as ours.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

import numpy as np
import rclpy
from arm_common.cli import whole_number
from arm_common.ros.qos import LATCHED
from ik.tables import add_write, processor, table, us, write
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from arm_description import load_robot
from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK, SolveIKBatch
from arm_kinematics import Chain

DOMAIN = "77"
PATIENCE = 120.0  # [s]
KINDS = {"solve_ik": SolveIK, "solve_fk": SolveFK, "get_jacobian": GetJacobian}
EMPTY = """
import sys
import rclpy
from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK
from rclpy.serialization import deserialize_message
rclpy.init()
name, *ready = sys.argv[1:]
node = rclpy.create_node(name)
for kind, text in zip((SolveIK, SolveFK, GetJacobian), ready):
    answer = deserialize_message(bytes.fromhex(text), kind.Response) if text else None
    service = {SolveIK: "solve_ik", SolveFK: "solve_fk", GetJacobian: "get_jacobian"}[kind]
    node.create_service(kind, "~/" + service, lambda request, response, a=answer: a or response)
rclpy.spin(node)
"""
SERVERS = ("untouched", "ready", "kinematics")


class Caller:
    """A client of both servers."""

    def __init__(self) -> None:
        self.node = Node("caller")
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.clients = {
            (server, name): self.node.create_client(kind, f"{server}/{name}")
            for server in SERVERS
            for name, kind in KINDS.items()
        }

    def call(self, server: str, name: str, request: object) -> tuple[float, object]:
        """Call a service; return the round-trip time [us] and the response."""
        begin = time.perf_counter()
        future = self.clients[server, name].call_async(request)
        while not future.done():
            self.executor.spin_once(PATIENCE)
        return 1e6 * (time.perf_counter() - begin), future.result()

    def wait(self, server: str) -> None:
        """Wait until all services of a server are available."""
        for name in KINDS:
            if not self.clients[server, name].wait_for_service(PATIENCE):
                raise SystemExit(f"timed out after {PATIENCE:.0f} s waiting for {server}/{name}")

    def wait_for_robot(self, question: object) -> None:
        """Wait until the kinematics node can answer a solve_fk request."""
        self.wait("kinematics")
        end = time.monotonic() + PATIENCE
        while self.call("kinematics", "solve_fk", question)[1].status != SolveFK.Response.SUCCESS:
            if time.monotonic() > end:
                raise SystemExit("the kinematics node received no robot description")

    def ready_made(self, chain: Chain) -> list[str]:
        """Return a serialised response of ours for each service."""
        answers = (self.call("kinematics", name, requests(name, chain, 1)[0])[1] for name in KINDS)
        return [serialize_message(answer).hex() for answer in answers]


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
    """Return a row: the medians, our p99, and the ratios of our median to the others."""
    times: dict[str, list[float]] = {server: [] for server in SERVERS}
    for request in requests(name, chain, count + 50):
        for server, taken in times.items():
            taken.append(caller.call(server, name, request)[0])
    untouched, ready, ours = (float(np.median(taken[50:])) for taken in times.values())
    p99 = float(np.quantile(times["kinematics"][50:], 0.99))
    ratios = f"{ours / untouched:.2f}", f"{ours / ready:.2f}"
    return [name, us(untouched), us(ready), us(ours), us(p99), *ratios]


def measure_batch(caller: Caller, chain: Chain, size: int = 1000, repeats: int = 20) -> str:
    """Return a sentence: the median time of a batch as a service and in this process."""
    rng = np.random.default_rng(2)
    draws = rng.uniform(chain.lower, chain.upper, (2, size, chain.n))
    targets, seeds = np.array([chain.fk(q)[:3, 3] for q in draws[0]]), draws[1]
    request = SolveIKBatch.Request(mode=SolveIK.Request.POSITION)
    request.positions, request.seeds = targets.ravel().tolist(), seeds.ravel().tolist()
    request.seed_joints = list(chain.joint_names)
    client = caller.node.create_client(SolveIKBatch, "kinematics/solve_ik_batch")
    caller.clients["kinematics", "batch"] = client
    client.wait_for_service(PATIENCE)
    served, direct = [], []
    for _ in range(repeats + 3):
        taken, answer = caller.call("kinematics", "batch", request)
        served.append(1e-3 * taken)
        begin = time.perf_counter()
        found = chain.ik_batch(targets, seeds, "position")
        direct.append(1e3 * (time.perf_counter() - begin))
        assert answer.statuses.tolist() == found.status.tolist()
    service, core = float(np.median(served[3:])), float(np.median(direct[3:]))
    return (
        f"A batch of {size:,} targets takes {service:.1f} ms by `solve_ik_batch`, "
        f"{core:.1f} ms by `Chain.ik_batch` in the client's own process."
    )


def started(*command: str) -> subprocess.Popen[bytes]:
    """Start a server."""
    return subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)


def rows(count: int, servers: list[subprocess.Popen[bytes]]) -> tuple[list[list[str]], str]:
    """Start the servers, append them to the list; return a row per service, and the batch's."""
    servers.append(started("-m", "arm_kinematics.ros.node"))
    rclpy.init()
    caller, model = Caller(), load_robot("nut_arm")
    publisher = caller.node.create_publisher(String, "robot_description", LATCHED)
    publisher.publish(String(data=model.to_urdf()))
    chain = Chain.from_model(model)
    caller.wait_for_robot(requests("solve_fk", chain, 1)[0])
    servers.append(started("-c", EMPTY, "untouched", "", "", ""))
    servers.append(started("-c", EMPTY, "ready", *caller.ready_made(chain)))
    for name in ("untouched", "ready"):
        caller.wait(name)
    return [measure(caller, name, chain, count) for name in KINDS], measure_batch(caller, chain)


def main() -> int:
    """Start the servers, measure, print the table, and write it with --write."""
    parser = argparse.ArgumentParser(prog="./arm bench services", description=__doc__)
    parser.add_argument("--calls", type=whole_number(1), default=2000, help="per service (2000)")
    add_write(parser)
    chosen = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = DOMAIN
    servers: list[subprocess.Popen[bytes]] = []
    try:
        lines, batch = rows(chosen.calls, servers)
    finally:
        for server in servers:
            server.terminate()
    head = ["service", "untouched: median us", "ready-made", "ours", "p99"]
    head += ["ours / untouched", "ours / ready-made"]
    text = f"{processor()}, {chosen.calls:,} calls of each.\n\n{table(head, lines)}\n\n{batch}"
    print(text)
    write(chosen.write, "services", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
