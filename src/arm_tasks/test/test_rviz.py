# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The RViz configurations use existing topics, layers and display classes."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import yaml
from arm_tasks.scene.file import load_scene

from arm_description import load_robot, shipped_robots
from arm_kinematics import Chain

NUT_ARM = load_robot("nut_arm")
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
    "two_arms": PACKAGE / "rviz" / "two_arms.rviz",
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
    elif name == "two_arms":
        shown = ("kinematics_markers", "tool_handle", "scene_markers", "task_markers")
        expected = {f"{arm}/{topic}" for arm in ("left", "right") for topic in shown}
        expected |= {"robot_description"}
    assert set(filter(None, topics.values())) == expected  # relative, for one namespace per arm
    fixed = "world" if name == "two_arms" else "base_link"
    assert manager["Global Options"]["Fixed Frame"] == fixed
    assert {tool["Class"].split("/")[1] for tool in manager["Tools"]} == TOOLS
    view = manager["Views"]["Current"]
    assert view["Class"] == "rviz_default_plugins/Orbit"
    assert view.keys() == ORBIT
    assert view["Target Frame"] == "<Fixed Frame>"
    assert {p["Class"] for p in config["Panels"]} == {"rviz_common/Displays", "rviz_common/Views"}


@pytest.mark.parametrize("name", ["nut_transfer", "view_arm"])
def test_rviz_config_lists_every_marker_layer(name):
    from arm_kinematics.markers.layers import LAYERS

    manager = yaml.safe_load(CONFIGS[name].read_text())["Visualization Manager"]
    (markers,) = (
        d
        for d in flat(manager["Displays"])
        if d["Class"].endswith("MarkerArray") and d["Topic"]["Value"] == "kinematics_markers"
    )
    assert set(markers["Namespaces"]) == set(LAYERS)


class Camera:
    """The orbit camera of a configuration. Its field of view is 45 degrees upright."""

    def __init__(self, config):
        view = yaml.safe_load(config.read_text())["Visualization Manager"]["Views"]["Current"]
        pitch, yaw = view["Pitch"], view["Yaw"]
        self.focus = np.array([view["Focal Point"][axis] for axis in "XYZ"])
        self.distance = view["Distance"]
        self.towards = np.array(
            [np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)]
        )
        self.right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        self.up = np.cross(self.towards, self.right)
        self.eye = self.focus + self.distance * self.towards

    def off_centre(self, points):
        """Return how far points (n, 3) [m] are from the centre: 1 is the edge, upright."""
        places = np.asarray(points) - self.focus
        depths = self.distance - places @ self.towards
        assert depths.min() > 0.0
        across = np.abs(places @ np.array([self.right, self.up]).T).max(axis=1)
        return float((across / depths).max() / np.tan(np.radians(22.5)))


def link_positions(model, posture):
    q = np.array([posture[name] for name in model.joint_names])
    return np.array([T[:3, 3] for T in Chain.from_model(model).link_poses(q).values()])


@pytest.mark.parametrize(
    ("name", "robots"), [("nut_transfer", ["nut_arm"]), ("view_arm", shipped_robots())]
)
def test_rviz_camera_shows_the_whole_arm_at_rest(name, robots):
    """The window is wider than high."""
    camera = Camera(CONFIGS[name])
    models = [load_robot(robot) for robot in robots]
    outside = {m.name: camera.off_centre(link_positions(m, m.home_posture[1])) for m in models}
    assert max(outside.values()) < 1.0, outside


@pytest.mark.parametrize(
    ("name", "places", "edge", "sideways"),
    [("nut_transfer", [0.0], 0.9, 0.8), ("two_arms", [0.3, -0.3], 1.2, 0.5)],  # a wide window
)
def test_nothing_hides_bolts_and_nuts_from_the_first_view(name, places, edge, sideways):
    camera, scene = Camera(CONFIGS[name]), load_scene("nut_transfer")
    arms = np.array([(0.0, y, 0.0) for y in places])
    seen = [
        bolt.pose[:3, 3] + share * bolt.length * bolt.pose[:3, 2]
        for bolt in scene.bolts.values()
        for share in (0.1, 0.5, 0.8)  # the end is in the post
    ]
    seen.append(scene.nut_start()[:3, 3])
    shown = np.array([*seen, (0.0, 0.0, 0.0), (0.0, 0.0, 0.33)])  # and the text
    assert camera.off_centre((shown + arms[:, None]).reshape(-1, 3)) < edge
    posts = [
        (scene.frames[thing.name] @ part.pose, np.array(part.size))
        for thing in scene.objects.values()
        for part in thing.parts
        if part.kind == "box"
    ]
    links = [link_positions(NUT_ARM, NUT_ARM.postures[name]) for name in ("rest", "ready")]
    for point, own, other in itertools.product(seen, arms, arms):
        ray = camera.eye + np.linspace(0.0, 0.99, 400)[:, None] * (point + own - camera.eye)
        for pose, size in posts:
            inside = np.abs((ray - pose[:3, 3] - other) @ pose[:3, :3]) < size / 2.0
            assert not inside.all(axis=1).any()
        for chain in links:
            along = np.linspace(chain[:-1], chain[1:], 40).reshape(-1, 3) + other
            gap = np.linalg.norm(ray[:, None] - along, axis=2).min()
            assert gap > 0.025  # half a link's width
    for bolt, own in itertools.product(scene.bolts.values(), arms):  # seen from the side
        ray = bolt.pose[:3, 3] + own - camera.eye
        across = np.cross(ray / np.linalg.norm(ray), bolt.pose[:3, 2])
        assert np.linalg.norm(across) > sideways
