# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every joint as a function of time, ``functions: {waist: 30*sin(90*t), ...}``, sampled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from ..elements import Joint
from ..errors import DescriptionError
from ..model import RobotModel
from ..robot_file.scope import Scope
from ..transforms import Vector
from ..yaml_fields import Field
from .columns import order_of
from .points import MOST_POINTS, Points

VARIABLE = "t"
DEFAULT_STEP = 0.02  # s, the period of the servos


def read_functions(keys: Mapping[str, Field], model: RobotModel, scope: Scope) -> Points:
    """Sample the functions of a file from 0 to its duration.

    Args:
        keys: the file's, among them functions and duration.
        model: the robot.
        scope: units and constants.

    Raises:
        DescriptionError: a function is missing, wrong, or has no value at some time.
    """
    times = _times(keys, scope)
    functions = keys["functions"]
    fields = functions.mapping(None)
    order_of(tuple(fields), model, functions.file, functions.line)
    columns = [_sampled(fields[joint.name], joint, times, scope) for joint in model.joints]
    lines = [fields[name].line for name in model.joint_names]
    return Points(functions.file, times, np.column_stack(columns), joint_lines=lines)


def _times(keys: Mapping[str, Field], scope: Scope) -> Vector:
    duration = _positive(keys["duration"], scope)
    step = _positive(keys["step"], scope) if "step" in keys else DEFAULT_STEP
    if duration / step >= MOST_POINTS:
        raise keys["duration"].error(
            f"makes {duration / step:.3g} points, at most {MOST_POINTS} are possible",
            "make step larger",
        )
    return np.linspace(0.0, duration, 1 + math.ceil(duration / step - 1e-9))


def _positive(field: Field, scope: Scope) -> float:
    value = scope.number(field)
    if value <= 0.0:
        raise field.error("must be more than 0")
    return value


def _sampled(field: Field, joint: Joint, times: Vector, scope: Scope) -> list[float]:
    function = _function(field, scope)
    values = []
    for time in times.tolist():
        try:
            values.append(scope.units.si(function(time), joint.type))
        except DescriptionError as error:
            problem = f"{error.problem} at {VARIABLE} = {time:.6g} s"
            raise field.error(problem, error.remedy) from None
    return values


def _function(field: Field, scope: Scope) -> Callable[[float], float]:
    try:
        return scope.expressions.function(field.raw("an expression of t"), VARIABLE)
    except DescriptionError as error:
        if error.line is not None:
            raise
        raise field.error(error.problem, error.remedy) from None
