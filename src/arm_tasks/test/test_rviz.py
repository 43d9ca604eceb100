# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""RViz's files show what is there: topics, layers and classes by their names."""

from pathlib import Path

import pytest
import yaml

PACKAGE = Path(__file__).resolve().parents[1]


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
