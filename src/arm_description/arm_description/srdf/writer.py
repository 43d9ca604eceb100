# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A robot's groups, postures and links that need no collision check, as SRDF.

The format: https://wiki.ros.org/srdf/review, as MoveIt's srdfdom reads it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

from ..model import RobotModel
from ..robot_file.postures import GRIPPER
from ..urdf.assembly import BASE, PALM, TOOL, assemble
from ..urdf.parts import UrdfParts
from ..urdf.writer import check_prefix, number
from .touching import always_touching

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
        if model.gripper and GRIPPER in posture:
            fingers = dict.fromkeys(model.gripper.joints, 0.5 * posture[GRIPPER])
            _state(robot, name, GRIPPER, fingers, prefix)
    if model.gripper:
        ET.SubElement(
            robot,
            "end_effector",
            {"name": GRIPPER, "parent_link": prefix + TOOL, "group": GRIPPER, "parent_group": ARM},
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
    group = ET.SubElement(robot, "group", name=GRIPPER)
    ET.SubElement(group, "link", name=prefix + PALM)
    for finger in fingers:
        ET.SubElement(group, "joint", name=prefix + finger)


def _state(
    robot: ET.Element, name: str, group: str, values: Mapping[str, float], prefix: str
) -> None:
    state = ET.SubElement(robot, "group_state", name=name, group=group)
    for joint, value in values.items():
        ET.SubElement(state, "joint", name=prefix + joint, value=number(value))
