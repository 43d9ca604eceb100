# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The RViz configurations use existing topics, layers and display classes."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from arm_description.exporters.summary import home_posture

from arm_description import load_robot, shipped_robots
from arm_kinematics import Chain

PACKAGE = Path(__file__).resolve().parents[1]


# Each display of Jazzy's rviz_default_plugins that is used here: the property of its topic, and
# its other properties, as named in its source. RViz drops unknown ones silently.
PLAIN = {"Class", "Name", "Enabled", "Value"}
DISPLAYS = {
    "rviz_default_plugins/Grid": (
        None,
        {"Alpha", "Cell Size", "Color", "Line Style", "Normal Cell Count", "Offset", "Plane"}
        | {"Plane Cell Count", "Reference Frame"},
    ),
    "rviz_default_plugins/TF": (
        None,
        {"Frame Timeout", "Frames", "Marker Scale", "Show Arrows", "Show Axes", "Show Names"}
        | {"Tree", "Update Interval"},
    ),
    "rviz_default_plugins/RobotModel": (
        "Description Topic",
        {"Alpha", "Collision Enabled", "Description File", "Description Source", "TF Prefix"}
        | {"Update Interval", "Visual Enabled"},
    ),
    "rviz_default_plugins/MarkerArray": ("Topic", {"Namespaces"}),
    "rviz_default_plugins/InteractiveMarkers": (
        "Interactive Markers Namespace",
        {"Enable Transparency", "Show Axes", "Show Descriptions", "Show Visual Aids"},
    ),
}
TOPIC = {"Depth", "Durability Policy", "History Policy", "Reliability Policy", "Value"}
ORBIT = {
    *("Class", "Distance", "Enable Stereo Rendering", "Focal Point", "Focal Shape Fixed Size"),
    *("Focal Shape Size", "Invert Z Axis", "Name", "Near Clip Distance", "Pitch"),
    *("Target Frame", "Value", "Yaw"),
}
TOOLS = {"Interact", "MoveCamera", "Select", "FocusCamera", "Measure"}
CONFIGS = {
    "nut_transfer": PACKAGE / "rviz" / "nut_transfer.rviz",
    "view_arm": PACKAGE.parent / "arm_description" / "rviz" / "view_arm.rviz",
}


def flat(displays):
    for display in displays:
        if display["Class"] == "rviz_common/Group":
            yield from flat(display["Displays"])
        else:
            yield display


@pytest.mark.parametrize("name", CONFIGS)
def test_rviz_config_uses_existing_classes_and_topics(name):
    config = yaml.safe_load(CONFIGS[name].read_text())
    manager = config["Visualization Manager"]
    displays = list(flat(manager["Displays"]))
    assert {d["Class"] for d in displays} <= DISPLAYS.keys()
    assert len({d["Name"] for d in displays}) == len(displays)
    assert all(d["Enabled"] is d["Value"] is True for d in displays)
    topics = {}
    for display in displays:
        key, properties = DISPLAYS[display["Class"]]
        assert display.keys() - {key} == properties | PLAIN
        topic = display[key] if key else None
        if isinstance(topic, dict):  # with its quality of service; all are latched
            assert topic.keys() == TOPIC
            assert topic["History Policy"] == "Keep Last"
            assert (topic["Depth"] > 1) == (key == "Topic")  # no message of the markers is lost
            assert topic["Durability Policy"] == "Transient Local"
            assert topic["Reliability Policy"] == "Reliable"
            topic = topic["Value"]
        topics[display["Name"]] = topic
    expected = {"robot_description", "kinematics_markers", "tool_handle"}
    if name == "nut_transfer":
        expected |= {"scene_markers", "task_markers"}
    assert set(filter(None, topics.values())) == expected  # relative, for one namespace per arm
    assert manager["Global Options"]["Fixed Frame"] == "base_link"
    assert {tool["Class"].split("/")[1] for tool in manager["Tools"]} == TOOLS
    view = manager["Views"]["Current"]
    assert view["Class"] == "rviz_default_plugins/Orbit"
    assert view.keys() == ORBIT
    assert view["Target Frame"] == "<Fixed Frame>"
    assert {p["Class"] for p in config["Panels"]} == {"rviz_common/Displays", "rviz_common/Views"}


@pytest.mark.parametrize("name", CONFIGS)
def test_rviz_config_lists_every_marker_layer(name):
    from arm_kinematics.markers.layers import LAYERS

    manager = yaml.safe_load(CONFIGS[name].read_text())["Visualization Manager"]
    (markers,) = (
        d
        for d in flat(manager["Displays"])
        if d["Class"].endswith("MarkerArray") and d["Topic"]["Value"] == "kinematics_markers"
    )
    assert set(markers["Namespaces"]) == set(LAYERS)


@pytest.mark.parametrize(
    ("name", "robots"), [("nut_transfer", ["nut_arm"]), ("view_arm", shipped_robots())]
)
def test_rviz_camera_shows_the_whole_arm_at_rest(name, robots):
    """Orbit's field of view is 45 degrees upright; the window is wider than high."""
    view = yaml.safe_load(CONFIGS[name].read_text())["Visualization Manager"]["Views"]["Current"]
    focus = np.array([view["Focal Point"][axis] for axis in "XYZ"])
    pitch, yaw = view["Pitch"], view["Yaw"]
    towards = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    up = np.cross(towards, right)
    outside = {}
    for robot in robots:
        model = load_robot(robot)
        home = home_posture(model)[1]
        q = np.array([home[name] for name in model.joint_names])
        poses = Chain.from_model(model).link_poses(q).values()
        places = np.array([T[:3, 3] for T in poses]) - focus
        depths = view["Distance"] - places @ towards
        across = np.abs(places @ np.array([right, up]).T).max(axis=1)
        outside[robot] = float((across / depths).max() / np.tan(np.radians(22.5)))
        assert depths.min() > 0.0
    assert max(outside.values()) < 1.0, outside
