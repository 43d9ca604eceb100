# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""SROS 2 enforced between two computers, with keys made from the shipped policy.

Needs SROS 2 and a middleware built with security (a full ROS 2 with ros-<distro>-sros2), root, and
the command ip. The job `keys` of .github/workflows/test.yml runs it.
"""

import importlib.util
import json
import os
import select
import subprocess
import sys
import time

import pytest
from arm_common.network import NETWORK, RANGE, limit_to_this_computer
from arm_tasks.bringup.arguments import default_values
from arm_tasks.bringup.processes import chosen, processes
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_tasks.commands import keystore
from arm_testing.ros import two_machines

HAS_SROS2 = importlib.util.find_spec("sros2") is not None
WHY_NOT = two_machines.why_not() if HAS_SROS2 else "SROS 2 is not installed"
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT),
    pytest.mark.thorough,
]
BOUND = 120.0  # [s]
TASK_BOUND = 600.0  # [s]
OUTSIDER_LINES = 50  # in 5 s, after another program has found the arm
# Commands the arm and prints what it sees of it; a refused entity is None.
VISIT = """
import json, sys, rclpy
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
rclpy.init(args=sys.argv)
node = rclpy.create_node(sys.argv[1], start_parameter_services=False)
joints = {}
see = lambda message: joints.update(zip(message.name, message.position))
def permitted(create, *arguments):
    try:
        return create(*arguments)
    except RuntimeError:
        return None
permitted(node.create_subscription, JointState, "joint_states", see, 10)
stop = permitted(node.create_client, Trigger, "arm_hardware/stop")
topic = "arm_controller/joint_trajectory"
publisher = permitted(node.create_publisher, JointTrajectory, topic, 10)
point = JointTrajectoryPoint(positions=[0.3, 0.0, 0.0, 0.0])
point.time_from_start.sec = 1
names = ["waist", "shoulder", "elbow", "wrist_roll"]
def visit():
    if publisher:
        publisher.publish(JointTrajectory(joint_names=names, points=[point]))
    print(json.dumps({
        "joints": joints,
        "readers": publisher and publisher.get_subscription_count(),
        "stop": bool(stop and stop.service_is_ready()),
    }), flush=True)
node.create_timer(0.1, visit)
rclpy.spin(node)
"""


class SecuredNetwork:
    """Two machines, the processes on each, and visitors."""

    def __init__(self, keys):
        self.keys, self.started, self.programs = keys, [], []
        self.pi = two_machines.Machine("kpi", "10.33.0.1")
        self.desk = two_machines.Machine("kdesk", "10.33.0.2")
        two_machines.Cable(self.pi, self.desk)

    def run_part(self, machine, part, logs):
        """Start the processes of one part of the nut transfer."""
        values = default_values(viewer="none", hardware="sim", speed="4", part=part)
        group = ProcessGroup(values, logs / part)
        self.started.append(group)
        with machine.inside():
            for process in chosen(processes(), values):
                group.start(process)
        return group

    def visit(self, node, enclave, keys):
        """Start a visitor on the desk, with keys or without; return its output."""
        environment = os.environ | {"ROS_SECURITY_KEYSTORE": str(self.keys / keys)}
        arguments = [sys.executable, "-c", VISIT, node]
        if keys:
            arguments += ["--ros-args", "--enclave", enclave]
        else:
            environment |= {"ROS_SECURITY_ENABLE": "false"}
        with self.desk.inside():
            program = subprocess.Popen(
                arguments, env=environment, stdout=subprocess.PIPE, text=True
            )
        self.programs.append(program)
        return program.stdout

    def close(self):
        for program in self.programs:
            program.kill()
            program.communicate()
        for group in self.started:
            group.stop()
        for machine in (self.pi, self.desk):
            machine.remove()


@pytest.fixture(scope="module")
def network(tmp_path_factory, ros_domain):
    del ros_domain  # the permissions hold for the domain of ROS_DOMAIN_ID
    keys = tmp_path_factory.mktemp("keys")
    for name in ("own", "foreign"):
        assert keystore.main([str(keys / name)]) == 0
    with pytest.MonkeyPatch.context() as patch:
        for name in limit_to_this_computer({}):
            patch.delenv(name, raising=False)
        patch.setenv(RANGE, "SUBNET")
        patch.setenv(NETWORK, "subnet")
        patch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")  # two computers share no memory
        patch.setenv("ROS_SECURITY_KEYSTORE", str(keys / "own"))
        patch.setenv("ROS_SECURITY_ENABLE", "true")
        patch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
        made = SecuredNetwork(keys)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture(scope="module")
def parts(network, tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    pi = network.run_part(network.pi, "hardware", logs)
    return pi, network.run_part(network.desk, "rest", logs)


def read_until(lines, condition, what):
    """Return the first JSON line for which a condition holds."""
    end, found = time.monotonic() + BOUND, None
    while select.select([lines], [], [], max(0.0, end - time.monotonic()))[0]:
        line = lines.readline()
        assert line, f"the program ended before: {what}"
        if line.startswith("{") and condition(found := json.loads(line)):
            return found
    raise AssertionError(f"no {what} within {BOUND:.0f} s, last seen: {found}")


def test_the_nut_transfer_runs_with_keys(parts):
    pi, desk = parts
    end = time.monotonic() + TASK_BOUND
    while not (ended := pi.ended() | desk.ended()):
        assert time.monotonic() < end, desk.log_tail("task_client")
        time.sleep(0.1)
    assert ended == {"task_client": 0}, [g.log_tail(n) for g in parts for n in g.pids()]


def test_only_enclaves_with_the_right_command_the_arm(network, parts):
    outsiders = [
        network.visit("arm_viewer", "/arm/arm_viewer", "foreign"),
        network.visit("arm_viewer", "", ""),
    ]
    operator = network.visit("_ros2cli_1", "/arm/operator", "own")
    viewer = network.visit("arm_viewer", "/arm/arm_viewer", "own")
    read_until(viewer, lambda s: s["readers"] == 1 and s["joints"], "permitted program")
    seen = read_until(operator, lambda s: s["stop"] and s["joints"], "operator")
    assert seen["readers"] is None  # its publisher of trajectories is refused
    for outsider in outsiders:
        for _ in range(OUTSIDER_LINES):
            seen = read_until(outsider, lambda s: True, "line of an outsider")
            assert not seen["readers"] and not seen["joints"] and not seen["stop"], seen
    assert not {name for group in parts for name in group.ended()} - {"task_client"}
