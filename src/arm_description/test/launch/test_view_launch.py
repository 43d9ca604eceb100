# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""view_arm.launch.py starts, publishes the chosen robot, and shuts down cleanly."""

import os
import unittest
from pathlib import Path

import launch_testing
import pytest
from arm_common.ros.qos import LATCHED
from arm_description.urdf.reader import read_urdf
from arm_testing.ros.probe import Probe
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_description import load_robot
from arm_testing import domains

DOMAIN, _HELD = domains.lease()  # while the module lives
TIMEOUT = 240.0  # [s] upper bound: compiling everything takes minutes
LAUNCH = Path(__file__).resolve().parents[2] / "launch" / "view_arm.launch.py"
ARGUMENTS = {"robot": "puma560", "prefix": "left_", "gui": "false", "rviz": "false"}


@pytest.mark.launch_test
def generate_test_description():
    os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)  # before launch_ros creates its own node
    view = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH)), launch_arguments=ARGUMENTS.items()
    )
    domain = SetEnvironmentVariable("ROS_DOMAIN_ID", str(DOMAIN))
    return LaunchDescription([domain, view, ReadyToTest()])


class TestView(unittest.TestCase):
    def test_robot_and_fixed_frames_are_published(self, proc_info):
        probe = Probe(domain=DOMAIN, bound=TIMEOUT)
        node = probe.node
        texts, frames, reports = [], set(), []
        node.create_subscription(
            String, "robot_description", lambda m: texts.append(m.data), LATCHED
        )
        node.create_subscription(
            TFMessage,
            "tf_static",
            lambda m: frames.update(t.child_frame_id for t in m.transforms),
            LATCHED,
        )
        # Shutdown must interrupt neither a start nor the watcher's request to the publisher.
        node.create_subscription(
            String, "robot_file/status", lambda m: reports.append(m.data), LATCHED
        )
        probe.until(lambda: texts and "left_tool0" in frames and reports)
        self.assertEqual(reports, [""])
        started = {name.rpartition("-")[0] for name in proc_info.process_names()}
        probe.until(lambda: started <= set(node.get_node_names()))
        expected = read_urdf(load_robot("puma560").to_urdf("left_"))
        self.assertEqual(read_urdf(texts[0]), expected)
        probe.close()


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_every_process_exits_cleanly(self, proc_info):
        assertExitCodes(proc_info)
