# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files of touched points: commanded joint positions and measured tip positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array
from arm_common.yaml.document import Field, read_yaml
from arm_common.yaml.schema_types import Key, Leaf, ListOf, Named, Table
from arm_description.model.units import ANGLES, LENGTHS, Units
from arm_description.robot_file.robot_keys import UNITS
from arm_description.robot_model import RobotModel

from arm_hardware.calibration.servo_map import ServoMap
from arm_hardware.errors import CalibrationError


def tip_position(model: RobotModel, q: Sequence[float] | Array, at: Array | None = None) -> Array:
    """Return the position (3,) in base_link [m] of a point ``at`` (3,) of tool0.

    Without ``at``, the point is the origin of tool0. Joint positions q are (n,) [rad or m].
    """
    pose = model.fk(q)
    point: Array = pose[:3, 3] if at is None else pose[:3, :3] @ at + pose[:3, 3]
    return point


def tip_jacobian(model: RobotModel, frames: Sequence[Array], at: Array | None = None) -> Array:
    """Return the derivatives (3, n) of tip_position() with respect to the joints [m/rad or m/m].

    This is the linear part of the geometric Jacobian (Lynch and Park, "Modern Robotics", section
    5.1), computed from the DH frames at the joint positions.
    """
    point = frames[-1] @ model.tool.matrix @ np.append(np.zeros(3) if at is None else at, 1.0)
    rates = np.empty((3, len(model.rows)))
    for i, joint in enumerate(model.rows):
        frame = frames[i] if model.convention == "standard" else frames[i + 1]
        x, y, z = frame[:3, :3] @ joint.direction
        if joint.type == "prismatic":
            rates[:, i] = x, y, z
        else:
            a, b, c = point[:3] - frame[:3, 3]
            rates[:, i] = y * c - z * b, z * a - x * c, x * b - y * a
    place = {joint.name: i for i, joint in enumerate(model.rows)}
    for joint in model.dependents:  # moves with the joints that it follows
        for leader, factor in joint.terms:
            rates[:, place[leader]] += factor * rates[:, place[joint.name]]
    return rates[:, [place[name] for name in model.joint_names]]


def tip_resolution(model: RobotModel, q: Sequence[float], maps: Sequence[ServoMap]) -> float:
    """Return the largest motion of the tip [m] by one count of one servo, the attainable accuracy.

    Joint positions q are (n,) [rad or m]; maps are those of the actuators of the joints.
    """
    drivetrain = model.drivetrain
    actuators = drivetrain.to_actuators(np.array(q, dtype=float))
    counts = [servo.count_of(position) for servo, position in zip(maps, actuators, strict=True)]
    near = [[m.position_of(c + k) for k in (-1, 0, 1)] for m, c in zip(maps, counts, strict=True)]
    steps = np.diag(np.abs(np.diff(near)).max(axis=1))
    moved = drivetrain.to_joints(actuators + steps) - drivetrain.to_joints(actuators)
    tips = moved @ tip_jacobian(model, model.dh_frames(q)).T
    return float(np.linalg.norm(tips, axis=1).max())


XYZ = ListOf(Leaf("length", "number"), 3, 3)
TOUCH = Table(
    {
        "joints": Key(
            Named(Leaf("position", "number"), "joint"), "as commanded, of every joint", True
        ),
        "tip": Key(XYZ, "where the touching point was, in base_link", True),
    }
)
FILE = Table(
    {
        "robot": Key(Leaf("name of a robot", "text"), "that was touched with", True),
        "units": Key(UNITS, "of the file", True),
        "touching": Key(
            XYZ, "the point of the tool that touches, in tool0; its origin if left out"
        ),
        "points": Key(ListOf(TOUCH, 1, None), "one row a touch", True),
    }
)


@dataclass(frozen=True)
class TouchPoints:
    """Touched points, in SI units."""

    robot: str
    at: Array  # (3,) the point of the tool that touches, in tool0 [m]
    commanded: Array  # (m, n) joint positions commanded to the servos [rad or m]
    tips: Array  # (m, 3) where that point was, in base_link [m]
    lines: tuple[int, ...] = ()  # (m,) line numbers in the file, for messages about a point


def load_touches(path: Path, model: RobotModel) -> TouchPoints:
    """Read a file of touched points, or raise CalibrationError."""
    top = FILE.read(read_yaml(path, CalibrationError))
    robot = top["robot"].text()
    if robot != model.name:
        raise top["robot"].error(f"is {robot!r}, the calibration is for {model.name!r}")
    words = UNITS.read(top["units"])
    units = replace(
        model.units,
        length=words["length"].choice(LENGTHS),
        angle=words["angle"].choice(ANGLES),
    )
    at = _xyz(top["touching"], units) if "touching" in top else np.zeros(3)
    rows = top["points"].items()
    if not rows:
        raise top["points"].error("is empty", "touch some points")
    given = [TOUCH.read(row) for row in rows]
    commanded = np.array([_joints(row["joints"], model, units) for row in given])
    tips = np.array([_xyz(row["tip"], units) for row in given])
    return TouchPoints(robot, at, commanded, tips, tuple(row.line for row in rows))


def _joints(field: Field, model: RobotModel, units: Units) -> list[float]:
    given = field.mapping()
    for name, value in given.items():
        if name not in model.joint_names:
            raise value.error(
                "is not a joint of this robot", did_you_mean(name, model.joint_names)
            )
    for name in model.joint_names:
        if name not in given:
            raise field.error(f"has no {name!r}", "a point needs every joint")
    return [units.si(given[joint.name].number(), joint.type) for joint in model.joints]


def _xyz(field: Field, units: Units) -> Array:
    values = field.items()
    if len(values) != 3:
        raise field.error("must be three numbers, x, y and z")
    return np.array([_metres(value, units) for value in values])


def _metres(field: Field, units: Units) -> float:
    value = units.metres(field.number())
    if abs(value) > units.max_length:
        longest = f"the robot file has none above {units.max_length:g} m (units.max_length)"
        raise field.error(f"is {value:g} m; {longest}", "check the units of this file")
    return value
