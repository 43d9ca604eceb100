# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is installed for launch: the launch file (where launch is installed) and RViz's file."""

import runpy

import pytest
import yaml


def test_every_launch_argument_is_described(package):
    pytest.importorskip("launch_ros")
    module = runpy.run_path(str(package / "launch/view_arm.launch.py"))
    arguments = module["generate_launch_description"]().get_launch_arguments()
    assert {a.name for a in arguments} >= {"robot", "prefix", "dh_frames", "gui", "rviz"}
    assert all(a.description and "no description" not in a.description for a in arguments)


def test_rviz_shows_model_frames_and_markers_from_relative_topics(package):
    manager = yaml.safe_load((package / "rviz/view_arm.rviz").read_text())["Visualization Manager"]
    displays = {d["Class"].split("/")[1]: d for d in manager["Displays"]}
    assert {"RobotModel", "TF", "MarkerArray", "Grid"} <= set(displays)
    topic = displays["RobotModel"]["Description Topic"]
    assert (topic["Value"], topic["Durability Policy"]) == ("robot_description", "Transient Local")
