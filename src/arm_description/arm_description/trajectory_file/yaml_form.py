# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories as YAML: points in time, or every joint as a function of time.

Units, constants and expressions are those of robot files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..errors import DescriptionError
from ..model import RobotModel
from ..nearest import nearest
from ..robot_file.scope import Scope, read_scope, read_units
from ..robot_file.writer import flow_word
from ..yaml_fields import Field
from ..yaml_source import read_yaml
from .columns import order_of
from .functions import VARIABLE, read_functions
from .points import Points
from .trajectory import JointTrajectory

COMMON_KEYS = ("description", "source", "units", "constants")
POINT_KEYS = ("joints", "points")
FUNCTION_KEYS = ("functions", "duration", "step")


def read_trajectory_yaml(path: Path, model: RobotModel) -> Points:
    """Read a file; limits are not checked here.

    Raises:
        DescriptionError: something in it is wrong; names line and key.
    """
    root = read_yaml(path, DescriptionError)
    keys = root.mapping((*COMMON_KEYS, *POINT_KEYS, *FUNCTION_KEYS), required=("units",))
    for name in ("description", "source"):
        if name in keys:
            keys[name].text()
    scope = read_scope(read_units(keys["units"]), keys.get("constants"))
    if VARIABLE in scope.expressions.names:
        raise keys["constants"].error(f"{VARIABLE!r} is the time", "rename the constant")
    if "functions" in keys:
        root.mapping((*COMMON_KEYS, *FUNCTION_KEYS), required=("duration",))
        return read_functions(keys, model, scope)
    root.mapping((*COMMON_KEYS, *POINT_KEYS), required=("points",))
    return _read_points(keys, model, scope)


def yaml_text(trajectory: JointTrajectory) -> str:
    """Write a trajectory in rad and m; every number reads back the same."""
    lines = [
        "units: {length: m, angle: rad}",
        f"joints: [{', '.join(flow_word(name) for name in trajectory.names)}]",
        "points:",
    ]
    for time, row in zip(trajectory.times.tolist(), trajectory.positions.tolist(), strict=True):
        lines.append(f"  - {{time: {time!r}, positions: [{', '.join(map(repr, row))}]}}")
    return "\n".join(lines) + "\n"


def _read_points(keys: Mapping[str, Field], model: RobotModel, scope: Scope) -> Points:
    order = None
    if "joints" in keys:
        names = [field.text() for field in keys["joints"].items()]
        order = order_of(names, model, keys["joints"].file, keys["joints"].line)
    times, positions, at = [], [], []
    for item in keys["points"].items():
        point = item.mapping(("time", "positions", "posture"), required=("time",))
        times.append(scope.number(point["time"]))
        positions.append(_position(item, point, order, model, scope))
        at.append(item.line)
    shaped = np.array(positions).reshape(-1, model.n)
    return Points(keys["points"].file, np.array(times), shaped, at)


def _position(
    item: Field,
    point: Mapping[str, Field],
    order: list[int] | None,
    model: RobotModel,
    scope: Scope,
) -> list[float]:
    if ("positions" in point) == ("posture" in point):
        raise item.error("needs either positions or a posture", "write one of the two")
    if "posture" in point:
        name = point["posture"].text()
        if name not in model.postures:
            problem = f"{model.name} has no posture {name!r}"
            raise point["posture"].error(problem, nearest(name, model.postures))
        return [model.postures[name][joint] for joint in model.joint_names]
    if order is None:
        raise point["positions"].error(
            "needs the order of the joints", f"add joints: [{', '.join(model.joint_names)}]"
        )
    cells = point["positions"].items()
    if len(cells) != model.n:
        raise point["positions"].error(
            f"has {len(cells)} numbers for {model.n} joints", "write one for each of joints"
        )
    return [
        scope.position(cells[i], joint.type) for i, joint in zip(order, model.joints, strict=True)
    ]
