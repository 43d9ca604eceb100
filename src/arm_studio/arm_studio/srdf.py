# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Write the SRDF of a robot, and read postures from the group states of any SRDF.

The format: https://wiki.ros.org/srdf/review, as MoveIt's srdfdom reads it. Links whose shapes
overlap in every posture are excluded from collision checks. As in MoveIt's Setup Assistant they
are found by sampling random postures; two shapes overlap if a grid point of one is inside the
other, which suffices for bodies that share a joint.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from types import MappingProxyType

import numpy as np
from arm_common.errors import InputError, finite_number
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Matrix, inverse
from arm_description.errors import DescriptionError
from arm_description.model.constraints import SLACK
from arm_description.model.elements import mimic_names
from arm_description.robot_file.robot_keys import GRIPPER_KEY
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import BASE, PALM, TOOL, assemble
from arm_description.urdf.elements import UrdfGeometry, UrdfJoint, UrdfLink, UrdfParts
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.optional.bars import bar_parts
from arm_description.urdf.reader import attribute, parse_xml
from arm_description.urdf.writer import check_prefix, number, xml_text
from arm_kinematics.model.chain_model import one_turn

Posture = Mapping[str, float]
ARM = "arm"
_POSTURES, _SEED = 64, 20
_ALONG = np.linspace(-1.0, 1.0, 7)  # a grid along each axis of a shape, in half sizes


def read_srdf_postures(text: str, model: RobotModel, prefix: str = "") -> Mapping[str, Posture]:
    """Read the group states of an SRDF as postures of a robot.

    States with the same name in several groups form one posture. A state of the fingers alone is
    not a posture of the arm and is ignored.

    Args:
        text: the XML.
        model: the robot.
        prefix: prefix of the joint names in the SRDF.

    Returns:
        Posture name -> joint name -> position [rad or m]; "gripper" is a width [m].

    Raises:
        DescriptionError: it is not an SRDF; a joint is unknown, missing, given twice or outside
            its limits; the fingers are not opened equally.
    """
    states: dict[str, dict[str, float]] = {}
    for state in parse_xml(text, "SRDF").findall("group_state"):
        name = attribute(state, "name", "a group_state")
        joints = states.setdefault(name, {})
        for joint, value in _values(state, name, model, prefix):
            if joints.setdefault(joint, value) != value:
                raise DescriptionError(
                    f"group_state {name!r} has joint {joint!r} at {joints[joint]:.6g} and "
                    f"{value:.6g}",
                    remedy="delete one",
                )
    arm = set(model.joint_names)
    return MappingProxyType(
        {name: _posture(name, j, model) for name, j in states.items() if arm & j.keys()}
    )


def _values(
    state: ET.Element, name: str, model: RobotModel, prefix: str
) -> Iterator[tuple[str, float]]:
    known = (*model.joint_names, *(model.gripper.moving if model.gripper else ()))
    for element in state.findall("joint"):
        written = attribute(element, "name", f"a joint of group_state {name!r}")
        joint, text = written.removeprefix(prefix), element.get("value", "")
        if joint not in known or not written.startswith(prefix):
            raise DescriptionError(
                f"group_state {name!r}: {model.name} has no joint {written!r}",
                remedy=did_you_mean(written, [prefix + other for other in known]),
            )
        try:
            yield joint, finite_number(text)
        except InputError:
            raise DescriptionError(
                f"group_state {name!r}: joint {joint!r} has {text!r}, which is not a finite "
                "number",
                remedy="give one number in rad or m",
            ) from None


def _posture(name: str, joints: Mapping[str, float], model: RobotModel) -> Posture:
    ranges, values = {j.name: (j.lower, j.upper) for j in model.joints}, dict(joints)
    for joint in ranges:
        if joint not in joints:
            raise DescriptionError(
                f"group_state {name!r} has no joint {joint!r}",
                remedy="give a position for every joint of the arm",
            )
    if model.gripper and any(finger in joints for finger in model.gripper.moving):
        moving = [joints.get(finger, math.nan) for finger in model.gripper.moving]
        if not all(abs(value - moving[0]) <= SLACK for value in moving):
            found = " and ".join(f"{value:.6g}" for value in moving)
            equal = "the same angle" if model.gripper.claw else "half the width"
            raise DescriptionError(
                f"group_state {name!r} has the fingers at {found}", remedy=f"give both {equal}"
            )
        ranges[GRIPPER_KEY] = (model.gripper.min_width, model.gripper.max_width)
        values[GRIPPER_KEY] = model.gripper.width_of(joints)
    for joint, (lower, upper) in ranges.items():
        if not lower - SLACK <= values[joint] <= upper + SLACK:
            raise DescriptionError(
                f"group_state {name!r}: {joint} at {values[joint]:.6g} is outside its limits "
                f"{lower:.6g} .. {upper:.6g} (in rad or m)",
                remedy="change it or the limits in the robot file",
            )
    if violation := model.constraint_set.worst([values[j] for j in model.joint_names]):
        raise DescriptionError(
            f"group_state {name!r} is outside the limits ({violation.sentence})",
            remedy="change it or the limits in the robot file",
        )
    return MappingProxyType({j: min(max(values[j], low), up) for j, (low, up) in ranges.items()})


def always_overlapping(parts: UrdfParts) -> list[tuple[str, str]]:
    """Return the pairs of links whose shapes overlap in every sampled posture."""
    solid = [link for link in parts.links if link.shapes and link.visible and link.mesh is None]
    points = {link.name: np.hstack([_points(shape) for shape in link.shapes]) for link in solid}
    pairs = list(combinations(solid, 2))
    random = np.random.default_rng(_SEED)
    for _ in range(_POSTURES):
        free = (joint for joint in parts.joints if joint.mimic is None)
        values = {joint.name: _position(joint, random) for joint in free}
        poses = link_poses(parts.links[0].name, parts.joints, values)
        pairs = [pair for pair in pairs if _overlap(*pair, points, poses)]
    return [(one.name, other.name) for one, other in pairs]


def _position(joint: UrdfJoint, random: np.random.Generator) -> float:
    if joint.limit is None:
        return 0.0
    limits = one_turn(joint.limit.lower, joint.limit.upper, joint.kind == "prismatic")
    return float(random.uniform(*limits))


def _overlap(
    one: UrdfLink, other: UrdfLink, points: Mapping[str, Matrix], poses: Mapping[str, Matrix]
) -> bool:
    for a, b in ((one, other), (other, one)):
        seen = inverse(poses[a.name]) @ poses[b.name] @ points[b.name]
        for shape in a.shapes:
            local = (inverse(shape.origin.matrix) @ seen)[:3] / _half_size(shape)
            if _within(shape, local).any():
                return True
    return False


def _points(shape: UrdfGeometry) -> Matrix:
    """Return a grid of points (4, k) in and on a shape, in the frame of its link."""
    grid = np.array(list(product(_ALONG, repeat=3))).T
    grid = grid[:, _within(shape, grid)]
    points = np.vstack([grid * _half_size(shape), np.ones(grid.shape[1])])
    return np.asarray(shape.origin.matrix @ points)


def _half_size(shape: UrdfGeometry) -> Matrix:
    """Return half the extent of a shape along its axes (3, 1) [m]."""
    x, y, z = shape.size if shape.kind == "box" else (2 * shape.size[0],) * 2 + shape.size[1:]
    return np.array([[0.5 * x], [0.5 * y], [0.5 * z]])


def _within(shape: UrdfGeometry, points: Matrix) -> Matrix:
    """Return which points (3, k), in units of the half extents, are inside a shape (k,)."""
    x, y, z = np.abs(points)
    across = np.hypot(x, y) if shape.kind == "cylinder" else np.maximum(x, y)
    return np.asarray((across <= 1.0) & (z <= 1.0))


def to_srdf(model: RobotModel, prefix: str = "") -> str:
    """Return the SRDF of an arm: groups ``arm`` and ``gripper``, group states, end effector.

    The prefix is prepended to every link and joint name, as in the URDF.

    Raises:
        DescriptionError: the prefix cannot be part of a name.
    """
    check_prefix(prefix)
    robot = ET.Element("robot", name=model.name)
    group = ET.SubElement(robot, "group", name=ARM)
    ET.SubElement(group, "chain", base_link=prefix + BASE, tip_link=prefix + TOOL)
    if model.gripper:
        group = ET.SubElement(robot, "group", name=GRIPPER_KEY)
        ET.SubElement(group, "link", name=prefix + PALM)
        for finger in model.gripper.moving:
            ET.SubElement(group, "joint", name=prefix + finger)
    for name, posture in model.postures.items():
        _state(robot, name, ARM, {j: posture[j] for j in model.joint_names}, prefix)
        if model.gripper and GRIPPER_KEY in posture:
            fingers = model.gripper.positions(posture[GRIPPER_KEY])
            _state(robot, name, GRIPPER_KEY, fingers, prefix)
    if model.gripper:
        end = {"name": GRIPPER_KEY, "parent_link": prefix + TOOL}
        ET.SubElement(robot, "end_effector", end, group=GRIPPER_KEY, parent_group=ARM)
    for joint in model.dependents:
        for name in mimic_names(joint.name, joint.terms):
            ET.SubElement(robot, "passive_joint", name=prefix + name)
    for follower in bar_parts(model, prefix).joints:
        ET.SubElement(robot, "passive_joint", name=follower.name)
    _exempt_pairs(robot, model, prefix)
    return xml_text(robot)


def _state(
    robot: ET.Element, name: str, group: str, values: Mapping[str, float], prefix: str
) -> None:
    state = ET.SubElement(robot, "group_state", name=name, group=group)
    for joint, value in values.items():
        ET.SubElement(state, "joint", name=prefix + joint, value=number(value))


def _exempt_pairs(robot: ET.Element, model: RobotModel, prefix: str) -> None:
    parts = assemble(model, prefix)
    pairs = dict.fromkeys(adjacent(parts), "Adjacent")
    for pair in always_overlapping(parts):
        pairs.setdefault(pair, "Always")
    if model.gripper:  # closed, they meet
        left, right = (f"{prefix}{finger}_link" for finger in model.gripper.joints)
        pairs.setdefault((left, right), "Default")
    for (one, other), reason in pairs.items():
        ET.SubElement(robot, "disable_collisions", link1=one, link2=other, reason=reason)


def adjacent(parts: UrdfParts) -> Iterator[tuple[str, str]]:
    """Yield the pairs of links with shapes that have no other link with a shape in between."""
    solid = {link.name for link in parts.links if link.shapes and link.visible}
    neighbours: dict[str, list[str]] = {link.name: [] for link in parts.links}
    for joint in parts.joints:
        neighbours[joint.parent].append(joint.child)
        neighbours[joint.child].append(joint.parent)

    def around(link: str, behind: str) -> Iterator[str]:
        """Yield the nearest links with a shape, skipping links without."""
        for other in neighbours[link]:
            if other in solid:
                yield other
            elif other != behind:
                yield from around(other, link)

    for i, one in enumerate(order := list(neighbours)):
        if one in solid:
            near = set(around(one, ""))
            yield from ((one, other) for other in order[i + 1 :] if other in near)
