# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is installed for launch: the launch file (where launch is installed) and RViz's file."""

import runpy
from pathlib import Path

import pytest
import yaml
from arm_tasks.bringup import ARGUMENTS, processes, state_publisher_package

PACKAGE = Path(__file__).resolve().parents[1]


@pytest.fixture
def description():
    pytest.importorskip("launch_ros")
    module = runpy.run_path(str(PACKAGE / "launch" / "nut_transfer.launch.py"))
    return module["generate_launch_description"]()


def test_the_launch_file_has_the_arguments_of_the_table(description):
    declared = {a.name: (a.description, a.choices) for a in description.get_launch_arguments()}
    assert set(declared) == {argument.name for argument in ARGUMENTS}
    for argument in ARGUMENTS:
        text, choices = declared[argument.name]
        assert text.startswith(argument.text)
        assert tuple(choices or ()) == argument.choices


def test_the_launch_file_starts_the_processes_of_the_table(description):
    from launch_ros.actions import Node

    nodes = [entity for entity in description.entities if isinstance(entity, Node)]
    table = processes(state_publisher_package())
    assert [(n.node_package, n.node_executable) for n in nodes] == [
        (p.package, p.executable) for p in table
    ]


def test_rviz_shows_model_scene_and_frames_from_relative_topics():
    file = PACKAGE / "rviz" / "nut_transfer.rviz"
    manager = yaml.safe_load(file.read_text())["Visualization Manager"]
    displays = {display["Class"]: display for display in manager["Displays"]}
    prefix = "rviz_default_plugins/"
    assert {prefix + name for name in ("Grid", "RobotModel", "MarkerArray", "TF")} == set(displays)
    robot = displays[prefix + "RobotModel"]["Description Topic"]
    scene = displays[prefix + "MarkerArray"]["Topic"]
    assert (robot["Value"], robot["Durability Policy"]) == ("robot_description", "Transient Local")
    assert (scene["Value"], scene["Durability Policy"]) == ("scene_markers", "Transient Local")
    assert manager["Global Options"]["Fixed Frame"] == "base_link"
