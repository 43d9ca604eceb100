# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""RViz's configuration for one arm: the shipped one, with camera and sizes that suit the arm.

Arms differ in size from centimetres to metres; RViz has no way to say "look at all of it".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml
from arm_common.transforms import Matrix

from arm_description.exporters.summary import home_posture
from arm_description.library import load_robot
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import BASE, assemble
from arm_description.urdf.kinematics import link_poses

HALF_VIEW = np.radians(22.5)  # RViz's field of view is 45 degrees upright
ROOM = 1.15  # around the arm, for the shapes of its links


def write_config(robot: str, template: Path, file: Path) -> None:
    """Write a configuration of RViz in which a robot fills the picture.

    The robot is a shipped name or a path; the template has an orbiting camera.
    """
    config = yaml.safe_load(template.read_text(encoding="utf-8"))
    look_at(config, load_robot(robot))
    file.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")


def look_at(config: dict[str, Any], model: RobotModel) -> None:
    """Set camera, floor and axes of a configuration to an arm's middle and size."""
    places = places_of(model)
    low, high = places.min(axis=0), places.max(axis=0)
    middle = 0.5 * (low + high)
    radius = max(float(np.linalg.norm(places - middle, axis=1).max()), 1e-3)
    manager = config["Visualization Manager"]
    camera = manager["Views"]["Current"]
    camera["Distance"] = _rounded(ROOM * radius / np.sin(HALF_VIEW))
    camera["Focal Point"] = dict(zip("XYZ", map(_rounded, middle), strict=True))
    camera["Near Clip Distance"] = _rounded(0.01 * radius)
    camera["Focal Shape Size"] = _rounded(0.1 * radius)
    for group in manager["Displays"]:
        for display in group.get("Displays", [group]):
            if display["Class"] == "rviz_default_plugins/Grid":
                display["Cell Size"] = float(10.0 ** np.round(np.log10(0.2 * radius)))
            elif display["Class"] == "rviz_default_plugins/TF":
                display["Marker Scale"] = _rounded(0.25 * radius)


def places_of(model: RobotModel) -> Matrix:
    """Return where the links' frames are in all postures of the robot's file, (n, 3) [m]."""
    joints, home = assemble(model, "").joints, home_posture(model)[1]
    return np.array(
        [
            pose[:3, 3]
            for posture in (home, *model.postures.values())
            for pose in link_poses(BASE, joints, posture).values()
        ]
    )


def _rounded(value: Any) -> float:
    return round(float(value), 4)
