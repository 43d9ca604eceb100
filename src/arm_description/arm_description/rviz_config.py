# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""RViz configuration for one arm: the shipped one with camera and sizes fitted to the arm.

Arms range from centimetres to metres, and RViz cannot fit the view to a robot by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml
from arm_common.files.saving import write_bytes
from arm_common.transforms import Matrix

from arm_description.library import load_robot
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import BASE, assemble
from arm_description.urdf.kinematics import link_poses

HALF_VIEW = np.radians(22.5)  # half of RViz's vertical field of view
MARGIN = 1.15  # around the link frames, for the shapes of the links


def write_config(robot: str, template: Path, file: Path) -> None:
    """Write an RViz configuration in which a robot fills the view.

    The robot is a shipped name or a path; the template must have an orbit camera.
    """
    config = yaml.safe_load(template.read_text(encoding="utf-8"))
    fit_view(config, load_robot(robot))
    write_bytes(yaml.safe_dump(config, sort_keys=False).encode(), file)


def fit_view(config: dict[str, Any], model: RobotModel) -> None:
    """Fit camera, grid and axes of a configuration to the centre and size of an arm."""
    points = frame_positions(model)
    low, high = points.min(axis=0), points.max(axis=0)
    centre = 0.5 * (low + high)
    radius = max(float(np.linalg.norm(points - centre, axis=1).max()), 1e-3)
    manager = config["Visualization Manager"]
    camera = manager["Views"]["Current"]
    camera["Distance"] = _rounded(MARGIN * radius / np.sin(HALF_VIEW))
    camera["Focal Point"] = dict(zip("XYZ", map(_rounded, centre), strict=True))
    camera["Near Clip Distance"] = _rounded(0.01 * radius)
    camera["Focal Shape Size"] = _rounded(0.1 * radius)
    for group in manager["Displays"]:
        for display in group.get("Displays", [group]):
            if display["Class"] == "rviz_default_plugins/Grid":
                display["Cell Size"] = float(10.0 ** np.round(np.log10(0.2 * radius)))
            elif display["Class"] == "rviz_default_plugins/TF":
                display["Marker Scale"] = _rounded(0.25 * radius)


def frame_positions(model: RobotModel) -> Matrix:
    """Return the positions of the link frames in all postures of the robot file, (n, 3) [m]."""
    joints, home = assemble(model, "").joints, model.home_posture[1]
    return np.array(
        [
            pose[:3, 3]
            for posture in (home, *model.postures.values())
            for pose in link_poses(BASE, joints, posture).values()
        ]
    )


def _rounded(value: Any) -> float:
    return round(float(value), 4)
