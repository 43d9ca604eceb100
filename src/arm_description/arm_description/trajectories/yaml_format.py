# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories as YAML: points in time, or every joint as a sampled function of time.

Units, constants and expressions are those of robot files; functions are written as
``functions: {waist: 30*sin(90*t), ...}``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Vector
from arm_common.yaml.document import Field, read_yaml
from arm_common.yaml.editing import flow_word

from arm_description.errors import DescriptionError
from arm_description.model.elements import Joint
from arm_description.robot_file.scope import EvaluationContext, read_scope, read_units
from arm_description.robot_model import RobotModel
from arm_description.trajectories.trajectory import (
    MOST_POINTS,
    JointTrajectory,
    TrajectoryPoints,
    order_of,
)

VARIABLE = "t"
DEFAULT_STEP = 0.02  # s, the period of the servos


def _read_functions(
    keys: Mapping[str, Field], model: RobotModel, scope: EvaluationContext
) -> TrajectoryPoints:
    """Sample the functions of a file from 0 to its duration."""
    duration = scope.positive(keys["duration"])
    step = scope.positive(keys["step"]) if "step" in keys else DEFAULT_STEP
    if duration / step >= MOST_POINTS:
        raise keys["duration"].error(
            f"makes {duration / step:.3g} points, at most {MOST_POINTS} are possible",
            "make step larger",
        )
    times = np.linspace(0.0, duration, 1 + math.ceil(duration / step - 1e-9))
    functions = keys["functions"]
    fields = functions.mapping(None)
    order_of(tuple(fields), model, functions.file, functions.line)
    columns = [_sampled(fields[joint.name], joint, times, scope) for joint in model.joints]
    lines = [fields[name].line for name in model.joint_names]
    return TrajectoryPoints(functions.file, times, np.column_stack(columns), joint_lines=lines)


def _sampled(field: Field, joint: Joint, times: Vector, scope: EvaluationContext) -> list[float]:
    text, when = field.raw("an expression of t"), ""
    try:
        function, values = scope.expressions.function(text, VARIABLE), []
        for time in times.tolist():
            when = f" at {VARIABLE} = {time:.6g} s"
            values.append(scope.units.si(function(time), joint.type))
    except DescriptionError as error:
        raise field.error(f"{error.problem}{when}", error.remedy) from None
    return values


COMMON_KEYS = ("description", "source", "units", "constants")
POINT_KEYS = ("joints", "points")
FUNCTION_KEYS = ("functions", "duration", "step")


def read_trajectory_yaml(path: Path, model: RobotModel) -> TrajectoryPoints:
    """Read a file, whose errors name line and key; limits are not checked here."""
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
        return _read_functions(keys, model, scope)
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


def _read_points(
    keys: Mapping[str, Field], model: RobotModel, scope: EvaluationContext
) -> TrajectoryPoints:
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
    return TrajectoryPoints(keys["points"].file, np.array(times), shaped, at)


def _position(
    item: Field,
    point: Mapping[str, Field],
    order: list[int] | None,
    model: RobotModel,
    scope: EvaluationContext,
) -> list[float]:
    if ("positions" in point) == ("posture" in point):
        raise item.error("needs either positions or a posture", "write one of the two")
    if "posture" in point:
        name = point["posture"].text()
        if name not in model.postures:
            problem = f"{model.name} has no posture {name!r}"
            raise point["posture"].error(problem, did_you_mean(name, model.postures))
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
