# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Postures of a robot from the group states of an SRDF, whoever wrote it."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..errors import DescriptionError
from ..model import RobotModel
from ..nearest import nearest
from ..robot_file.postures import GRIPPER, SLACK
from ..urdf.joint_reader import attribute
from ..urdf.reader import parse_xml

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
                remedy=nearest(written, [prefix + other for other in known]),
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
        posture[GRIPPER] = _width(name, joints, model)
    return MappingProxyType(posture)


def _width(name: str, joints: Mapping[str, float], model: RobotModel) -> float:
    assert model.gripper is not None
    left, right = (joints.get(finger, math.nan) for finger in model.gripper.joints)
    if not abs(left - right) <= SLACK:
        raise DescriptionError(
            f"group_state {name!r} has the fingers at {left:.6g} and {right:.6g} m",
            remedy="give both the same, half the width",
        )
    width = {GRIPPER: left + right}
    return _inside(name, GRIPPER, width, model.gripper.min_width, model.gripper.max_width)


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
