# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""RViz's camera holds each arm in every posture, whatever its size, and changes nothing else."""

import numpy as np
import pytest
import yaml
from arm_description.exporters.rviz_config import places_of, write_config

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
def test_every_arm_fills_the_picture_in_all_its_postures(name, template, tmp_path):
    view = written(name, template, tmp_path)["Views"]["Current"]
    pitch, yaw = view["Pitch"], view["Yaw"]
    towards = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    across = np.array([right, np.cross(towards, right)])
    focus = np.array([view["Focal Point"][axis] for axis in "XYZ"])
    places = places_of(load_robot(name)) - focus
    depths = view["Distance"] - places @ towards
    assert depths.min() > view["Near Clip Distance"]
    seen = np.abs(places @ across.T).max(axis=1) / depths / np.tan(np.radians(22.5))
    assert 0.3 < seen.max() < 0.95


def test_all_else_stays_as_it_was(template, tmp_path):
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
