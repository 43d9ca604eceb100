# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two computers discover each other only if they are configured to.

The configurations are those of docs/two_computers.md, between two network namespaces.
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
CONFIGURATIONS = {
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
publisher = node.create_publisher(String, "names", 10)
node.create_timer(0.1, lambda: publisher.publish(String(data=sys.argv[1])))
rclpy.spin(node)
"""
LISTEN = """
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("listener")
node.create_subscription(String, "names", lambda m: print(m.data, flush=True), 10)
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


def names_received(lines, name):
    """Read until a name arrives; return all names received so far."""
    names, end = set(), time.monotonic() + BOUND
    while name not in names:
        ready, _, _ = select.select([lines], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"{name} was not received within {BOUND:.0f} s"
        names.add(lines.readline().strip())
    return names


@pytest.mark.thorough
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_desk_discovers_the_pi(network, configuration):
    at_pi, at_desk = CONFIGURATIONS[configuration]
    if configuration == "discovery server":
        server = shutil.which("fast-discovery-server")
        assert server, "Fast DDS' discovery server is not installed"
        network.start(network.pi, {}, server, "-i", "0", "-l", PI, "-p", "11811")
    network.talk(network.pi, at_pi, "driver")
    assert names_received(network.listen(network.desk, at_desk), "driver") == {"driver"}


def test_localhost_range_hides_a_node_from_other_machines(network):
    """./arm and the container set LOCALHOST; another node on the Pi is visible."""
    network.talk(network.pi, {RANGE: "LOCALHOST"}, "driver")
    assert names_received(network.listen(network.pi, {RANGE: "LOCALHOST"}), "driver")
    lines = network.listen(network.desk, {RANGE: "SUBNET"})
    network.talk(network.pi, {RANGE: "SUBNET"}, "other")
    assert names_received(lines, "other") == {"other"}
