# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Write the SRDF of a robot, and read postures from the group states of any SRDF.

The format: https://wiki.ros.org/srdf/review, as MoveIt's srdfdom reads it. Links that overlap in
every posture, because they are drawn so, are exempt from collision checks. As in MoveIt's Setup
Assistant they are found by trying random postures; two shapes overlap if a grid point of one is
inside the other, which is enough for bodies that share a joint.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from types import MappingProxyType

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Matrix, inverse

from arm_description.errors import DescriptionError
from arm_description.robot_file.sections import GRIPPER_KEY, SLACK
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import BASE, PALM, TOOL, assemble
from arm_description.urdf.elements import UrdfGeometry, UrdfJoint, UrdfLink, UrdfParts
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import attribute, parse_xml
from arm_description.urdf.writer import check_prefix, number

Posture = Mapping[str, float]


def read_srdf_postures(text: str, model: RobotModel, prefix: str = "") -> Mapping[str, Posture]:
    """Read the group states of an SRDF as postures of a robot.

    States of one name in several groups are one posture. A state of the fingers alone is none of
    the arm, and is left out.

    Args:
        text: the XML.
        model: the robot.
        prefix: what stands before the joints' names in the SRDF.

    Returns:
        Posture name -> joint name -> position [rad or m]; "gripper" is a width [m].

    Raises:
        DescriptionError: it is no SRDF; a joint is unknown, missing, given twice or outside its
            limits; the fingers are not opened alike.
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
    known = (*model.joint_names, *(model.gripper.joints if model.gripper else ()))
    for element in state.findall("joint"):
        written = attribute(element, "name", f"a joint of group_state {name!r}")
        joint = written.removeprefix(prefix)
        if joint not in known or not written.startswith(prefix):
            raise DescriptionError(
                f"group_state {name!r}: {model.name} has no joint {written!r}",
                remedy=did_you_mean(written, [prefix + other for other in known]),
            )
        yield joint, _number(element.get("value", ""), name, joint)


def _number(text: str, state: str, joint: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DescriptionError(
            f"group_state {state!r}: joint {joint!r} has {text!r}, which is not a finite number",
            remedy="give one number in rad or m",
        )
    return value


def _posture(name: str, joints: Mapping[str, float], model: RobotModel) -> Posture:
    posture = {}
    for joint in model.joints:
        if joint.name not in joints:
            raise DescriptionError(
                f"group_state {name!r} has no joint {joint.name!r}",
                remedy="a posture has a position for every joint of the arm",
            )
        posture[joint.name] = _inside(name, joint.name, joints, joint.lower, joint.upper)
    if model.gripper and any(finger in joints for finger in model.gripper.joints):
        posture[GRIPPER_KEY] = _width(name, joints, model)
    return MappingProxyType(posture)


def _width(name: str, joints: Mapping[str, float], model: RobotModel) -> float:
    assert model.gripper is not None
    left, right = (joints.get(finger, math.nan) for finger in model.gripper.joints)
    if not abs(left - right) <= SLACK:
        raise DescriptionError(
            f"group_state {name!r} has the fingers at {left:.6g} and {right:.6g} m",
            remedy="give both the same, half the width",
        )
    width = {GRIPPER_KEY: left + right}
    return _inside(name, GRIPPER_KEY, width, model.gripper.min_width, model.gripper.max_width)


def _inside(
    state: str, joint: str, values: Mapping[str, float], lower: float, upper: float
) -> float:
    value = values[joint]
    if not lower - SLACK <= value <= upper + SLACK:
        raise DescriptionError(
            f"group_state {state!r}: {joint} at {value:.6g} is outside its limits {lower:.6g} .. "
            f"{upper:.6g} (in rad or m)",
            remedy="change it, or the limits in the robot file",
        )
    return min(max(value, lower), upper)


_POSTURES = 64
_SEED = 20
_ALONG = np.linspace(-1.0, 1.0, 7)  # a grid along each axis of a shape, in half sizes


def always_touching(parts: UrdfParts) -> list[tuple[str, str]]:
    """Return the pairs of links whose shapes overlap in every posture that was tried."""
    solid = [link for link in parts.links if link.shapes and link.seen and link.mesh is None]
    points = {link.name: np.hstack([_points(shape) for shape in link.shapes]) for link in solid}
    pairs = list(combinations(solid, 2))
    random = np.random.default_rng(_SEED)
    for _ in range(_POSTURES):
        poses = _poses(parts, random)
        pairs = [pair for pair in pairs if _touch(*pair, points, poses)]
    return [(one.name, other.name) for one, other in pairs]


def _poses(parts: UrdfParts, random: np.random.Generator) -> Mapping[str, Matrix]:
    """Return root <- link (4, 4) of each link in a random posture within the limits."""
    values = {joint.name: _position(joint, random) for joint in parts.joints}
    return link_poses(parts.links[0].name, parts.joints, values)


def _position(joint: UrdfJoint, random: np.random.Generator) -> float:
    if joint.limit is None:
        return 0.0
    lower, upper = max(joint.limit.lower, -math.pi), min(joint.limit.upper, math.pi)
    return float(random.uniform(lower, upper))


def _points(shape: UrdfGeometry) -> Matrix:
    """Return a grid of points of a shape (4, k) in the frame of its link, its surface included."""
    grid = np.array(list(product(_ALONG, repeat=3))).T
    if shape.kind == "cylinder":
        radius, length = shape.size
        grid = grid[:, np.hypot(grid[0], grid[1]) <= 1.0]
        half = np.array((radius, radius, 0.5 * length))
    else:
        half = 0.5 * np.array(shape.size)
    points = np.vstack([grid * half[:, None], np.ones(grid.shape[1])])
    return np.asarray(shape.origin.matrix @ points)


def _touch(
    one: UrdfLink, other: UrdfLink, points: Mapping[str, Matrix], poses: Mapping[str, Matrix]
) -> bool:
    return any(
        _touching_inside(shape, inverse(poses[a.name]) @ poses[b.name] @ points[b.name])
        for a, b in ((one, other), (other, one))
        for shape in a.shapes
    )


def _touching_inside(shape: UrdfGeometry, points: Matrix) -> bool:
    """Return whether one of some points (4, k), in the frame of a link, is inside its shape."""
    x, y, z, _ = inverse(shape.origin.matrix) @ points
    if shape.kind == "cylinder":
        radius, length = shape.size
        return bool(np.any((np.hypot(x, y) <= radius) & (np.abs(z) <= 0.5 * length)))
    half = 0.5 * np.array(shape.size)
    return bool(np.any(np.all(np.abs([x, y, z]) <= half[:, None], axis=0)))


ARM = "arm"


def to_srdf(model: RobotModel, prefix: str = "") -> str:
    """SRDF of an arm: groups ``arm`` and ``gripper``, postures as group states, end effector.

    Args:
        model: the arm.
        prefix: put before every link and joint name, as in the URDF.

    Returns:
        XML text.

    Raises:
        DescriptionError: the prefix cannot be part of a name.
    """
    check_prefix(prefix)
    robot = ET.Element("robot", name=model.name)
    group = ET.SubElement(robot, "group", name=ARM)
    ET.SubElement(group, "chain", base_link=prefix + BASE, tip_link=prefix + TOOL)
    if model.gripper:
        _gripper_group(robot, model.gripper.joints, prefix)
    for name, posture in model.postures.items():
        arm = {joint: posture[joint] for joint in model.joint_names}
        _state(robot, name, ARM, arm, prefix)
        if model.gripper and GRIPPER_KEY in posture:
            fingers = dict.fromkeys(model.gripper.joints, 0.5 * posture[GRIPPER_KEY])
            _state(robot, name, GRIPPER_KEY, fingers, prefix)
    if model.gripper:
        ET.SubElement(
            robot,
            "end_effector",
            name=GRIPPER_KEY,
            parent_link=prefix + TOOL,
            group=GRIPPER_KEY,
            parent_group=ARM,
        )
    parts = assemble(model, prefix)
    near = list(adjacent(parts))
    for pair in near:
        _disable(robot, *pair, "Adjacent")
    for pair in always_touching(parts):
        if pair not in near:
            _disable(robot, *pair, "Always")
    if model.gripper:  # closed, they meet
        left, right = (f"{prefix}{finger}_link" for finger in model.gripper.joints)
        _disable(robot, left, right, "Default")
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


def _disable(robot: ET.Element, one: str, other: str, reason: str) -> None:
    ET.SubElement(robot, "disable_collisions", link1=one, link2=other, reason=reason)


def adjacent(parts: UrdfParts) -> Iterator[tuple[str, str]]:
    """Give the pairs of links with a shape that no other link with a shape lies between."""
    solid = {link.name for link in parts.links if link.shapes}
    neighbours: dict[str, list[str]] = {link.name: [] for link in parts.links}
    for joint in parts.joints:
        neighbours[joint.parent].append(joint.child)
        neighbours[joint.child].append(joint.parent)
    order = [link.name for link in parts.links]
    for one in order:
        if one in solid:
            near = _solid_around(one, neighbours, solid)
            yield from ((one, o) for o in order if o in near and order.index(o) > order.index(one))


def _solid_around(link: str, neighbours: Mapping[str, list[str]], solid: set[str]) -> set[str]:
    """The nearest links with a shape in all directions, through mere frames."""
    found, passed, front = set[str](), {link}, [link]
    while front:
        for other in neighbours[front.pop()]:
            if other in passed:
                continue
            passed.add(other)
            if other in solid:
                found.add(other)
            else:
                front.append(other)
    return found


def _gripper_group(robot: ET.Element, fingers: tuple[str, ...], prefix: str) -> None:
    group = ET.SubElement(robot, "group", name=GRIPPER_KEY)
    ET.SubElement(group, "link", name=prefix + PALM)
    for finger in fingers:
        ET.SubElement(group, "joint", name=prefix + finger)


def _state(
    robot: ET.Element, name: str, group: str, values: Mapping[str, float], prefix: str
) -> None:
    state = ET.SubElement(robot, "group_state", name=name, group=group)
    for joint, value in values.items():
        ET.SubElement(state, "joint", name=prefix + joint, value=number(value))
