# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""bringup.launch.py: exactly the robot's joints; illegal goals refused, legal ones done."""

import math
import os
import unittest
from pathlib import Path

import launch_testing
import pytest
from arm_common.ros.qos import LATCHED
from arm_testing.ros.probe import Probe
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_description import load_robot
from arm_interfaces.msg import HardwareStatus
from arm_interfaces.srv import SolveFK

DOMAIN = 54
PATIENCE = 240.0  # [s] a bound, not a wait; where nothing is compiled yet that takes minutes
LAUNCH = Path(__file__).resolve().parents[2] / "launch" / "bringup.launch.py"
MODEL = load_robot("nut_arm")
ARM = list(MODEL.joint_names)
NAMES = [*ARM, *MODEL.gripper.joints]


@pytest.mark.launch_test
def generate_test_description():
    os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)  # before launch_ros makes its own node
    arm = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH)), launch_arguments=[("hardware", "fake")]
    )
    domain = SetEnvironmentVariable("ROS_DOMAIN_ID", str(DOMAIN))
    return LaunchDescription([domain, arm, ReadyToTest()])


def goal(points):
    """A trajectory of (time [s], positions)."""
    trajectory = JointTrajectory(joint_names=ARM)
    for t, positions in points:
        point = JointTrajectoryPoint(positions=positions)
        point.time_from_start = Duration(sec=int(t), nanosec=round(1e9 * (t % 1.0)))
        trajectory.points.append(point)
    return FollowJointTrajectory.Goal(trajectory=trajectory)


AT = [0.1, 0.1, -0.1, 0.2]
BEYOND = [10.0, *AT[1:]]


class TestBringup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.probe = Probe(domain=DOMAIN, bound=PATIENCE)
        cls.node = cls.probe.node
        cls.states, cls.status = [], []
        cls.node.create_subscription(JointState, "joint_states", cls.states.append, 10)
        cls.node.create_subscription(
            HardwareStatus, "arm_hardware/status", cls.status.append, LATCHED
        )
        cls.arm = ActionClient(
            cls.node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory"
        )
        cls.gripper = ActionClient(cls.node, GripperCommand, "gripper_controller/gripper_cmd")
        cls.fk = cls.node.create_client(SolveFK, "kinematics/solve_fk")

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()

    def until(self, condition):
        return self.probe.until(condition)

    def answer(self, future):
        self.until(future.done)
        return future.result()

    def setUp(self):
        self.until(lambda: self.status and self.status[-1].state == HardwareStatus.ARMED)
        self.until(self.arm.server_is_ready)
        self.until(self.gripper.server_is_ready)

    def seen(self):
        """The next joint state."""
        count = len(self.states)
        self.until(lambda: len(self.states) > count)
        return self.states[-1]

    def test_exactly_the_joints_of_the_robot_are_published(self):
        for _ in range(3):
            state = self.seen()
            self.assertEqual(list(state.name), NAMES)
            self.assertEqual(len(state.position), len(NAMES))
            self.assertTrue(all(map(math.isfinite, state.position)))
        self.assertEqual(len(self.node.get_publishers_info_by_topic("joint_states")), 1)

    def test_the_kinematics_know_where_it_is(self):
        self.until(self.fk.service_is_ready)
        self.until(
            lambda: (
                self.answer(self.fk.call_async(SolveFK.Request())).status
                == SolveFK.Response.SUCCESS
            )
        )

    def test_illegal_goals_are_refused_and_move_nothing(self):
        before = self.seen()
        illegal = goal([(5.0, BEYOND)])
        self.assertFalse(self.answer(self.arm.send_goal_async(illegal)).accepted)
        wide = GripperCommand.Goal()
        wide.command.position = MODEL.gripper.max_width + 0.01
        self.assertFalse(self.answer(self.gripper.send_goal_async(wide)).accepted)
        self.assertEqual(self.seen().position, before.position)
        self.assertEqual(self.status[-1].state, HardwareStatus.ARMED)

    def test_legal_goals_are_done(self):
        handle = self.answer(self.arm.send_goal_async(goal([(1.0, AT)])))
        self.assertTrue(handle.accepted)
        result = self.answer(handle.get_result_async()).result
        self.assertEqual(result.error_code, FollowJointTrajectory.Result.SUCCESSFUL)
        self.until(lambda: self.near(dict(zip(ARM, AT, strict=True))))
        width = GripperCommand.Goal()
        width.command.position = 0.02
        handle = self.answer(self.gripper.send_goal_async(width))
        self.assertTrue(self.answer(handle.get_result_async()).result.reached_goal)
        self.until(lambda: self.near(dict.fromkeys(MODEL.gripper.joints, 0.01)))

    def near(self, wanted):
        state = self.seen()
        found = dict(zip(state.name, state.position, strict=True))
        return all(abs(found[name] - position) < 1e-3 for name, position in wanted.items())


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_every_process_ended_as_it_should(self, proc_info):
        assertExitCodes(proc_info)
