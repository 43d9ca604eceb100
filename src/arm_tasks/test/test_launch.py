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


# Name and property of the topic of each display in Jazzy's rviz_default_plugins that is used here.
DISPLAYS = {
    "rviz_default_plugins/Grid": None,
    "rviz_default_plugins/TF": None,
    "rviz_default_plugins/RobotModel": "Description Topic",
    "rviz_default_plugins/MarkerArray": "Topic",
    "rviz_default_plugins/InteractiveMarkers": "Interactive Markers Namespace",
}
TOOLS = {"Interact", "MoveCamera", "Select", "FocusCamera", "Measure"}
CONFIGS = {
    "nut_transfer": PACKAGE / "rviz" / "nut_transfer.rviz",
    "view_arm": PACKAGE.parent / "arm_description" / "rviz" / "view_arm.rviz",
}


def flat(displays):
    """Return all displays, those in groups too."""
    for display in displays:
        if display["Class"] == "rviz_common/Group":
            yield from flat(display["Displays"])
        else:
            yield display


@pytest.mark.parametrize("name", CONFIGS)
def test_an_rviz_config_has_classes_and_topics_that_are_there(name):
    config = yaml.safe_load(CONFIGS[name].read_text())
    manager = config["Visualization Manager"]
    displays = list(flat(manager["Displays"]))
    assert {d["Class"] for d in displays} <= DISPLAYS.keys()
    assert len({d["Name"] for d in displays}) == len(displays)
    assert all(d["Enabled"] is d["Value"] is True for d in displays)
    topics = {}
    for display in displays:
        key = DISPLAYS[display["Class"]]
        topic = display[key] if key else None
        if isinstance(topic, dict):  # with its quality of service: all of these are latched
            assert topic["Durability Policy"] == "Transient Local"
            assert topic["Reliability Policy"] == "Reliable"
            topic = topic["Value"]
        topics[display["Name"]] = topic
    wanted = {"robot_description", "kinematics_markers", "tool_handle"}
    if name == "nut_transfer":
        wanted |= {"scene_markers"}
    assert set(filter(None, topics.values())) == wanted  # relative: one namespace an arm
    assert manager["Global Options"]["Fixed Frame"] == "base_link"
    assert {tool["Class"].split("/")[1] for tool in manager["Tools"]} == TOOLS
    assert manager["Views"]["Current"]["Class"] == "rviz_default_plugins/Orbit"
    assert {p["Class"] for p in config["Panels"]} == {"rviz_common/Displays", "rviz_common/Views"}


@pytest.mark.parametrize("name", CONFIGS)
def test_rviz_knows_every_layer_of_the_kinematics_by_its_namespace(name):
    from arm_kinematics.markers import LAYERS

    manager = yaml.safe_load(CONFIGS[name].read_text())["Visualization Manager"]
    (markers,) = (
        d
        for d in flat(manager["Displays"])
        if d["Class"].endswith("MarkerArray") and d["Topic"]["Value"] == "kinematics_markers"
    )
    assert set(markers["Namespaces"]) == set(LAYERS)
