# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A design -> a robot with its DH table, in metres, standing in the posture it was designed for.

The numbers of the table are rounded to what can be built; what that costs is said by the robot's
own condition number.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from arm_description.imports.dh_from_axes import Axis, dh_from_axes

from arm_description import DhRow, Joint, RobotModel
from arm_kinematics.chain import Chain
from arm_kinematics.dexterity.design import Design
from arm_kinematics.dexterity.measures import frobenius_condition, homogeneous_jacobian
from arm_kinematics.errors import KinematicsError
from arm_kinematics.lie import Array, se3

POSTURE = "isotropic"
_SPEED, _ACCELERATION, _EFFORT = 1.0, 4.0, 10.0
_CLEARANCE = 0.5  # of the lowest point above the ground, in characteristic lengths
_PARALLEL = 1e-9
_SHORT = 1e-6
_LENGTH_STEP, _ANGLE_STEP_DEG = 4, 2  # decimals: 0.1 mm, 0.01 deg


def designed_robot(design: Design, length: float, name: str = "designed_arm") -> RobotModel:
    """Return the robot of a design; at all joints 0 its Jacobian is the design's but for rounding.

    Args:
        design: Axes in characteristic lengths.
        length: Characteristic length [m], which sizes the arm.
        name: Name of the robot.

    Raises:
        KinematicsError: The length is not positive.
        DescriptionError: Two axes are too nearly parallel for a DH table.
    """
    if not (length > 0.0 and math.isfinite(length)):
        raise KinematicsError(
            f"length is {length}; expected a positive number of metres", what="length"
        )
    n = len(design.e)
    points, tip = _standing(design, length)
    names = [f"joint_{i + 1}" for i in range(n)]
    axes = [Axis(*parts) for parts in zip(names, points, design.e, strict=True)]
    table = dh_from_axes(axes, _tool(design, tip), "standard", _PARALLEL)
    bounds = (-math.pi, math.pi, _SPEED, _ACCELERATION, _EFFORT)
    rows = [_rounded(row) for row in table.rows]
    joints = (Joint(j, "revolute", r, *bounds) for j, r in zip(names, rows, strict=True))
    model = RobotModel(
        name=name,
        convention="standard",
        joints=tuple(joints),
        base=table.base,
        tool=replace(table.tool, xyz=_rounded_lengths(table.tool.xyz)),
        postures={POSTURE: dict.fromkeys(names, 0.0)},
        description=f"Designed for even motion in all directions, {n} revolute axes",
    )
    return replace(
        model,
        source=(
            f"Designed: condition number {condition(model, length):.5f} with all joints at 0 and "
            f"the characteristic length {1e3 * length:.4g} mm. Limits and rates are chosen."
        ),
    )


def condition(model: RobotModel, length: float) -> float:
    """Return the Frobenius condition number of a robot with all joints at 0."""
    J = Chain.from_model(model).jacobian(np.zeros(model.n))
    return frobenius_condition(homogeneous_jacobian(J, length))


def _rounded(row: DhRow) -> DhRow:
    angles = (
        math.radians(round(math.degrees(x), _ANGLE_STEP_DEG)) for x in (row.theta, row.alpha)
    )
    theta, alpha = angles
    return DhRow(theta, round(row.d, _LENGTH_STEP), round(row.a, _LENGTH_STEP), alpha)


def _rounded_lengths(xyz: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = (round(value, _LENGTH_STEP) + 0.0 for value in xyz)
    return (x, y, z)


def _standing(design: Design, length: float) -> tuple[Array, Array]:
    """Return a point on each axis (n, 3) and the tool point (3,) [m], clear of the ground."""
    tip = design.r[0].copy()
    points = tip - design.r
    lift = _CLEARANCE - min(float(points[:, 2].min()), float(tip[2]))
    up = np.array([0.0, 0.0, lift])
    return (points + up) * length, (tip + up) * length


def _tool(design: Design, tip: Array) -> Array:
    """Return the tool's pose: z on from the last axis, y along that axis."""
    z, y = design.r[-1], design.e[-1]
    reach = float(np.linalg.norm(z))
    if reach < _SHORT:
        z, reach = np.eye(3)[int(np.argmin(np.abs(y)))], 1.0
        z = z - y * (y @ z)
        reach = float(np.linalg.norm(z))
    z = z / reach
    return se3(np.column_stack([np.cross(y, z), y, z]), tip)
