# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two computers discover each other only if they are configured to.

The configurations are those of docs/two_computers.md, between two network namespaces.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import time

import pytest
from arm_common.network import RANGE, limit_to_this_computer
from arm_hardware.commands.doctor_sockets import endpoints_of
from arm_tasks.bringup.arguments import default_values
from arm_tasks.bringup.processes import chosen, processes
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_testing.ros import two_machines

WHY_NOT = two_machines.why_not()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
BOUND = 60.0  # s
PI, DESK = "10.28.0.1", "10.28.0.2"
SERVER = f"{PI}:11811"
OPEN = {RANGE: "SUBNET"}
CONFIGURATIONS = {
    "range": (OPEN, OPEN),
    "static peers": (OPEN | {"ROS_STATIC_PEERS": DESK}, OPEN | {"ROS_STATIC_PEERS": PI}),
    "discovery server": (
        OPEN | {"ROS_DISCOVERY_SERVER": SERVER},
        OPEN | {"ROS_DISCOVERY_SERVER": SERVER},
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


# Commands every arm that it discovers, and prints what it sees of them.
COMMAND = """
import json, rclpy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
rclpy.init()
node, seen = rclpy.create_node("visitor"), {}
see = lambda joints: seen.update(zip(joints.name, joints.position))
node.create_subscription(JointState, "joint_states", see, 10)
publisher = node.create_publisher(JointTrajectory, "arm_controller/joint_trajectory", 10)
joints = ["waist", "shoulder", "elbow", "wrist_roll"]
point = JointTrajectoryPoint(positions=[0.3, 0.0, 0.0, 0.0])
point.time_from_start.sec = 1
def command():
    publisher.publish(JointTrajectory(joint_names=joints, points=[point]))
    readers = publisher.get_subscription_count()
    print(json.dumps([node.get_node_names(), seen, readers]), flush=True)
node.create_timer(0.1, command)
rclpy.spin(node)
"""
OWN_MEMORY = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev/shm && exec "$0" "$@"')


class Network:
    """Two machines on a cable, and the programs on them."""

    def __init__(self):
        self.pi = two_machines.Machine("a", PI)
        self.desk = two_machines.Machine("b", DESK)
        two_machines.Cable(self.pi, self.desk)
        self.programs = []

    def start(self, machine, variables, *command):
        """Start a program; two machines share no memory."""
        environment = limit_to_this_computer(dict(os.environ) | OPEN)  # of a user: no limit
        environment |= {"ROS_DOMAIN_ID": "28", "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}
        with machine.inside():
            program = subprocess.Popen(
                command, env=environment | variables, stdout=subprocess.PIPE, text=True
            )
        self.programs.append(program)
        return program

    def talk(self, machine, variables, name):
        return self.start(machine, variables, sys.executable, "-c", TALK, name)

    def command(self, machine, variables, *prefix):
        program = (*prefix, sys.executable, "-c", COMMAND)
        return self.start(machine, variables, *program).stdout

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


def read_until(lines, condition, what):
    """Return the first JSON line for which a condition holds."""
    end = time.monotonic() + BOUND
    found = None
    while time.monotonic() < end:
        if condition(found := json.loads(lines.readline())):
            return found
    raise AssertionError(f"no {what} within {BOUND:.0f} s, last seen: {found}")


@pytest.fixture
def driver(network, tmp_path, monkeypatch):
    """The driver on the Pi, started without any variable that concerns the network."""
    monkeypatch.setenv("ROS_DOMAIN_ID", "28")
    for name in limit_to_this_computer({RANGE: ""}):
        monkeypatch.delenv(name)
    values = default_values(hardware="fake", part="hardware")
    group = ProcessGroup(values, tmp_path)
    with network.pi.inside():
        for process in chosen(processes(), values):
            group.start(process)
    yield group
    group.stop()


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


def test_another_computer_that_names_this_one_does_not_reach_the_driver(network, driver):
    """The attack: static peers, no shared memory; an open node on the Pi shows that it works."""
    network.talk(network.pi, OPEN, "other")
    attackers = [
        network.command(network.desk, variables | {"ROS_STATIC_PEERS": PI}, *OWN_MEMORY)
        for variables in (OPEN, {RANGE: "LOCALHOST"})
    ]
    here = network.command(network.pi, {RANGE: ""})
    read_until(here, lambda seen: seen[1].get("waist", 0.0) > 0.1, "motion by a local program")
    for attacker in attackers:
        nodes, joints, readers = read_until(attacker, lambda seen: "other" in seen[0], "open node")
        assert "arm_hardware" not in nodes
        assert (joints, readers) == ({}, 0)
    (pid,) = driver.pids().values()
    assert all(endpoint.is_local for endpoint in endpoints_of(pid))


@pytest.mark.thorough
def test_a_program_of_this_computer_reaches_the_driver_by_every_setting(network, driver):
    for variables in (OPEN, {RANGE: "LOCALHOST"}, {"FASTDDS_BUILTIN_TRANSPORTS": "DEFAULT"}):
        program = network.command(network.pi, variables)
        read_until(program, lambda seen: "waist" in seen[1] and seen[2] == 1, f"{variables}")
    assert not driver.ended()
