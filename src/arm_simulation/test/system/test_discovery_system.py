# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two computers discover each other only if they are configured to.

The configurations are those of docs/two_computers.md, between two network namespaces.
"""

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix
from arm_common.network import NETWORK, RANGE, REPORTED, limit_to_this_computer
from arm_hardware.commands.doctor_network import endpoints_of
from arm_tasks.bringup.arguments import default_values
from arm_tasks.bringup.processes import chosen, processes
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_testing.ros import two_machines

WHY_NOT = two_machines.why_not()
needs_namespaces = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
BOUND = 60.0  # s
PI, DESK = "10.28.0.1", "10.28.0.2"
SERVER = f"{PI}:11811"
SOURCED = {RANGE: "SUBNET"}  # what Jazzy's setup.bash exports
OPEN = {**SOURCED, NETWORK: "subnet"}
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
    """The driver on the Pi, started where Jazzy is sourced and nothing else is set."""
    monkeypatch.setenv("ROS_DOMAIN_ID", "28")
    for name in limit_to_this_computer({}):
        monkeypatch.delenv(name)
    monkeypatch.setenv(RANGE, "SUBNET")
    values = default_values(hardware="fake", part="hardware")
    group = ProcessGroup(values, tmp_path)
    with network.pi.inside():
        for process in chosen(processes(), values):
            group.start(process)
    yield group
    group.stop()


@needs_namespaces
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


@needs_namespaces
def test_another_computer_that_names_this_one_does_not_reach_the_driver(network, driver):
    """The attack: static peers, no shared memory; an open node on the Pi shows that it works."""
    network.talk(network.pi, OPEN, "other")
    attackers = [
        network.command(network.desk, variables | {"ROS_STATIC_PEERS": PI}, *OWN_MEMORY)
        for variables in (OPEN, {RANGE: "LOCALHOST"})
    ]
    here = network.command(network.pi, SOURCED)
    read_until(here, lambda seen: seen[1].get("waist", 0.0) > 0.1, "motion by a local program")
    for attacker in attackers:
        nodes, joints, readers = read_until(attacker, lambda seen: "other" in seen[0], "open node")
        assert "arm_hardware" not in nodes
        assert (joints, readers) == ({}, 0)
    (pid,) = driver.pids().values()
    assert all(endpoint.is_local for endpoint in endpoints_of(pid))


@needs_namespaces
@pytest.mark.thorough
def test_a_program_of_this_computer_reaches_the_driver_by_every_setting(network, driver):
    for variables in (SOURCED, {RANGE: "LOCALHOST"}, {"FASTDDS_BUILTIN_TRANSPORTS": "DEFAULT"}):
        for prefix in ((), OWN_MEMORY):  # as in a container
            program = network.command(network.pi, variables, *prefix)
            what = f"{variables} {prefix}"
            read_until(program, lambda seen: "waist" in seen[1] and seen[2] == 1, what)
    assert not driver.ended()


def test_where_jazzy_is_sourced_the_driver_is_reached_from_this_computer_only(monkeypatch):
    """No argument or launch file decides; plain programs of the same shell command it."""
    for name in (REPORTED, *limit_to_this_computer({})):
        monkeypatch.delenv(name)
    monkeypatch.setenv(RANGE, "SUBNET")
    driver = Path(get_package_prefix("arm_hardware")) / "lib/arm_hardware/hardware"
    with contextlib.ExitStack() as programs:

        def start(*command):
            program = subprocess.Popen(command, stdout=-1, stderr=subprocess.STDOUT, text=True)
            programs.enter_context(program)  # waits for its end
            programs.callback(program.kill)
            return program

        parameters = ("-p", "hardware:=fake", "-p", "autostart:=activate")
        node = start(str(driver), "--ros-args", *parameters)
        plain = start(sys.executable, "-c", COMMAND).stdout
        nodes, joints, _ = read_until(plain, lambda s: s[1].get("waist", 0.0) > 0.1, "motion")
        assert "arm_hardware" in nodes and "waist" in joints
        assert endpoints_of(node.pid) and all(e.is_local for e in endpoints_of(node.pid))
        node.terminate()
        (reach,) = (line for line in node.communicate()[0].splitlines() if "reached from" in line)
        assert "this computer only" in reach and "ARM_NETWORK=subnet" in reach
