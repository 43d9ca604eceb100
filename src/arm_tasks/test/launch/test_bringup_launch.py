# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""bringup.launch.py: an armed driver with exactly the robot's joints, and the kinematics.

It is launched where Jazzy is sourced, which sets ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET.
"""

import math
import os
import unittest
from pathlib import Path

import launch_testing
import pytest
from arm_common.network import NETWORK, RANGE, limit_to_this_computer
from arm_common.ros.qos import LATCHED
from arm_hardware.commands.doctor_network import check_processes
from arm_testing.ros.probe import Probe
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes
from sensor_msgs.msg import JointState

from arm_description import load_robot
from arm_interfaces.msg import HardwareStatus
from arm_interfaces.srv import SolveFK
from arm_testing import domains

DOMAIN, _HELD = domains.lease()  # while the module lives
PATIENCE = 240.0  # [s] an upper bound; compiling the kernels may take minutes
LAUNCH = Path(__file__).resolve().parents[2] / "launch" / "bringup.launch.py"
MODEL = load_robot("nut_arm")
NAMES = [*MODEL.joint_names, *MODEL.gripper.joints]


@pytest.mark.launch_test
def generate_test_description():
    for name in (NETWORK, *limit_to_this_computer({})):
        os.environ.pop(name, None)
    os.environ[RANGE] = "SUBNET"
    os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)  # before launch_ros makes its own node
    arm = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH)), launch_arguments=[("hardware", "fake")]
    )
    domain = SetEnvironmentVariable("ROS_DOMAIN_ID", str(DOMAIN))
    return LaunchDescription([domain, arm, ReadyToTest()])


class TestBringup(unittest.TestCase):
    def setUp(self):
        self.probe = Probe(domain=DOMAIN, bound=PATIENCE)
        self.addCleanup(self.probe.close)

    def test_armed_driver_publishes_exactly_the_joints_of_the_robot(self):
        node, states, status = self.probe.node, [], []
        node.create_subscription(JointState, "joint_states", states.append, 10)
        node.create_subscription(HardwareStatus, "arm_hardware/status", status.append, LATCHED)
        self.probe.until(lambda: status and status[-1].state == HardwareStatus.ARMED)
        states.clear()
        self.probe.until(lambda: len(states) >= 3)
        for state in states:
            self.assertEqual(list(state.name), NAMES)
            self.assertEqual(len(state.position), len(NAMES))
            self.assertTrue(all(map(math.isfinite, state.position)))
        self.assertEqual(len(node.get_publishers_info_by_topic("joint_states")), 1)

    def test_every_process_is_reached_from_this_computer_only(self):
        """The probe, a program of the same shell, reaches them in the other tests."""
        started_here = f"ROS_DOMAIN_ID={DOMAIN}\0"
        self.probe.until(lambda: "kinematics" in self.probe.node.get_node_names())
        checks = {check: check.what.rpartition("pid ")[2] for check in check_processes()}
        environments = {c: Path(f"/proc/{pid}/environ").read_text() for c, pid in checks.items()}
        nodes = [check for check, variables in environments.items() if started_here in variables]
        self.assertGreaterEqual(len(nodes), 2)
        for node in nodes:
            self.assertNotIn("no address", node.detail)
            self.assertTrue(node.ok, node)

    def test_kinematics_node_solves_fk_of_the_current_position(self):
        fk = self.probe.node.create_client(SolveFK, "kinematics/solve_fk")
        self.probe.until(
            lambda: self.probe.request(fk, SolveFK.Request()).status == SolveFK.Response.SUCCESS
        )


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_every_process_exits_cleanly(self, proc_info):
        assertExitCodes(proc_info)
