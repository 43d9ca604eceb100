# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How two computers find each other, and that they do not where nobody asked for it.

These are the ways of docs/two_computers.md, each between two network namespaces.
"""

import os
import select
import shutil
import subprocess
import sys
import time

import pytest
from arm_testing.ros import two_machines

WHY_NOT = two_machines.why_not()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
BOUND = 60.0  # s
PI, DESK = "10.28.0.1", "10.28.0.2"
SERVER = f"{PI}:11811"
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
WAYS = {
    "range": ({RANGE: "SUBNET"}, {RANGE: "SUBNET"}),
    "static peers": (
        {RANGE: "LOCALHOST", "ROS_STATIC_PEERS": DESK},
        {RANGE: "LOCALHOST", "ROS_STATIC_PEERS": PI},
    ),
    "discovery server": (
        {RANGE: "LOCALHOST", "ROS_DISCOVERY_SERVER": SERVER},
        {RANGE: "LOCALHOST", "ROS_DISCOVERY_SERVER": SERVER},
    ),
}
TALK = """
import rclpy, sys
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node(sys.argv[1])
publisher = node.create_publisher(String, "said", 10)
node.create_timer(0.1, lambda: publisher.publish(String(data=sys.argv[1])))
rclpy.spin(node)
"""
LISTEN = """
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("listener")
node.create_subscription(String, "said", lambda m: print(m.data, flush=True), 10)
rclpy.spin(node)
"""


class Network:
    """Two machines on a cable, and the programs on them."""

    def __init__(self):
        self.pi = two_machines.Machine("a", PI)
        self.desk = two_machines.Machine("b", DESK)
        two_machines.Cable(self.pi, self.desk)
        self.programs = []

    def start(self, machine, variables, *command):
        """Start a program; two machines share no memory."""
        environment = os.environ | {"ROS_DOMAIN_ID": "28", "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}
        with machine.inside():
            program = subprocess.Popen(
                command, env=environment | variables, stdout=subprocess.PIPE, text=True
            )
        self.programs.append(program)
        return program

    def talk(self, machine, variables, name):
        return self.start(machine, variables, sys.executable, "-c", TALK, name)

    def listen(self, machine, variables):
        return self.start(machine, variables, sys.executable, "-c", LISTEN).stdout

    def close(self):
        for program in self.programs:
            program.kill()
            program.communicate()
        for machine in (self.pi, self.desk):
            machine.remove()


@pytest.fixture
def network():
    made = Network()
    yield made
    made.close()


def heard(lines, name):
    """Read until somebody is heard; return who was by then."""
    names, end = set(), time.monotonic() + BOUND
    while name not in names:
        ready, _, _ = select.select([lines], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"{name} was not heard within {BOUND:.0f} s"
        names.add(lines.readline().strip())
    return names


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_the_desk_hears_the_pi(network, way):
    at_pi, at_desk = WAYS[way]
    if way == "discovery server":
        server = shutil.which("fast-discovery-server")
        assert server, "Fast DDS' discovery server is not installed"
        network.start(network.pi, {}, server, "-i", "0", "-l", PI, "-p", "11811")
    network.talk(network.pi, at_pi, "driver")
    assert heard(network.listen(network.desk, at_desk), "driver") == {"driver"}


def test_what_keeps_to_itself_is_not_heard_by_others(network):
    """LOCALHOST, what ./arm and the container set, while another program on the Pi is heard."""
    network.talk(network.pi, {RANGE: "LOCALHOST"}, "driver")
    assert heard(network.listen(network.pi, {RANGE: "LOCALHOST"}), "driver")
    lines = network.listen(network.desk, {RANGE: "SUBNET"})
    network.talk(network.pi, {RANGE: "SUBNET"}, "other")
    assert heard(lines, "other") == {"other"}
