# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of angles: one posture a line, no times, in the robot's units and joint order.

The format of the joint trajectories of RVS, the Robot Visualization System of the Centre for
Intelligent Machines, McGill University (RVS2006, 2006, section 5.2), where a row is a picture.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..errors import DescriptionError
from ..model import RobotModel
from .points import Points
from .text_lines import filled, numbers, read_lines
from .trajectory import JointTrajectory


def read_rows(path: Path, model: RobotModel) -> Points:
    """Read a file; limits are not checked here.

    Raises:
        DescriptionError: a row has not a number for every joint; names the line.
    """
    file, positions, at = str(path), [], []
    for line, text in filled(read_lines(path)):
        values = numbers(re.split(r"\s*,\s*|\s+", text), file, line)
        if len(values) != model.n:
            raise DescriptionError(
                f"has {len(values)} numbers, {model.name} has {model.n} joints",
                remedy="write one for each of " + ", ".join(model.joint_names),
                file=file,
                line=line,
            )
        types = (joint.type for joint in model.joints)
        positions.append([model.units.si(v, kind) for v, kind in zip(values, types, strict=True)])
        at.append(line)
    return Points(file, None, np.array(positions).reshape(-1, model.n), at)


def rows_text(trajectory: JointTrajectory, model: RobotModel) -> str:
    """Write the positions of a trajectory; its times are lost."""
    types = [joint.type for joint in model.joints]
    rows = (
        " ".join(
            f"{model.units.written(v, kind):.12g}" for v, kind in zip(row, types, strict=True)
        )
        for row in trajectory.positions.tolist()
    )
    return "\n".join(rows) + "\n"
