# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""RViz's camera is fitted to each arm in all its postures."""

import numpy as np
import pytest
import yaml
from arm_description.rviz_config import frame_positions, write_config

from arm_description import load_robot, shipped_robots

OWN = {"Distance", "Focal Point", "Focal Shape Size", "Near Clip Distance"}


@pytest.fixture
def template(package):
    return package / "rviz/view_arm.rviz"


def written(robot, template, folder):
    file = folder / "view.rviz"
    write_config(robot, template, file)
    return yaml.safe_load(file.read_text())["Visualization Manager"]


@pytest.mark.parametrize("name", shipped_robots())
def test_every_arm_fills_the_view_in_all_postures(name, template, tmp_path):
    view = written(name, template, tmp_path)["Views"]["Current"]
    pitch, yaw = view["Pitch"], view["Yaw"]
    towards = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    across = np.array([right, np.cross(towards, right)])
    focus = np.array([view["Focal Point"][axis] for axis in "XYZ"])
    points = frame_positions(load_robot(name)) - focus
    depths = view["Distance"] - points @ towards
    assert depths.min() > view["Near Clip Distance"]
    seen = np.abs(points @ across.T).max(axis=1) / depths / np.tan(np.radians(22.5))
    assert 0.3 < seen.max() < 0.95


def test_rest_of_the_configuration_is_unchanged(template, tmp_path):
    former = yaml.safe_load(template.read_text())["Visualization Manager"]
    manager = written("puma560", template, tmp_path)
    camera, old = manager["Views"]["Current"], former["Views"]["Current"]
    assert camera.keys() == old.keys()
    assert {k: v for k, v in camera.items() if k not in OWN} == {
        k: v for k, v in old.items() if k not in OWN
    }
    for display, was in zip(manager["Displays"], former["Displays"], strict=True):
        assert display.keys() == was.keys()
    for key in ("Global Options", "Tools", "Transformation"):
        assert manager[key] == former[key]
