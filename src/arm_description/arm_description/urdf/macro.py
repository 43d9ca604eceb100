# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/test_xacro.py
"""Write an arm as a macro of xacro, from the same parts as its URDF."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from arm_description.errors import DescriptionError
from arm_description.urdf.assembly import BASE, assemble, dh_frames
from arm_description.urdf.elements import UrdfJoint
from arm_description.urdf.joint_frames import JointFrames
from arm_description.urdf.optional.bars import bar_parts
from arm_description.urdf.optional.constraints import constraint_elements
from arm_description.urdf.optional.ros2_control import HARDWARE, control_block, hardware_elements
from arm_description.urdf.writer import joint_element, part_elements, xml_text

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

XACRO = "http://www.ros.org/wiki/xacro"
# Instructions of xacro, which a macro of the same name does not replace.
_OF_XACRO = (
    *("arg", "attribute", "call", "element", "if", "include", "insert_block", "macro"),
    *("property", "unless"),
)


def robot_macro(model: RobotModel, macro: str) -> str:
    """Return a xacro file that defines an arm as a macro.

    Its parameters are ``prefix``, ``dh_frames`` (true or false), ``parent``, ``xyz`` and ``rpy``
    to mount the arm on an existing link, and ``ros2_control`` (one of HARDWARE, or empty).

    Raises:
        DescriptionError: xacro cannot call a macro of this name.
    """
    if macro in _OF_XACRO or not re.fullmatch(r"[A-Za-z_]\w*", macro, re.ASCII):
        words = f"none of xacro's words {', '.join(_OF_XACRO)}"
        remedy = f"begin with a letter, use letters, digits and _, and {words}"
        raise DescriptionError(f"xacro cannot call a macro named {macro!r}", remedy=remedy)
    ET.register_namespace("xacro", XACRO)
    robot = ET.Element("robot")
    params = "prefix:='' dh_frames:=false parent:='' xyz:='0 0 0' rpy:='0 0 0' ros2_control:=''"
    body = ET.SubElement(robot, f"{{{XACRO}}}macro", name=macro, params=params)
    prefix, frames = "${prefix}", JointFrames(model)
    parts = assemble(model, prefix, frames)
    body.extend(part_elements(parts))
    body.extend(part_elements(bar_parts(model, prefix, frames)))
    optional = ET.SubElement(body, f"{{{XACRO}}}if", value="${dh_frames}")
    optional.extend(part_elements(dh_frames(model, prefix, frames)))
    optional = ET.SubElement(body, f"{{{XACRO}}}if", value="${parent != ''}")
    mount = joint_element(UrdfJoint(f"{prefix}mount", "fixed", "${parent}", prefix + BASE))
    mount[-1].attrib.update(xyz="${xyz}", rpy="${rpy}")
    optional.append(mount)
    body.extend(constraint_elements(model, prefix))
    optional = ET.SubElement(body, f"{{{XACRO}}}if", value="${ros2_control != ''}")
    block = control_block(f"{prefix}{model.name}", "", parts.joints)
    for kind in HARDWARE:
        chosen = ET.SubElement(block[0], f"{{{XACRO}}}if", value=f"${{ros2_control == '{kind}'}}")
        chosen.extend(hardware_elements(kind))
    unknown = f"ros2_control is not one of {', '.join(HARDWARE)}"
    condition = f"${{ros2_control not in {list(HARDWARE)}}}"
    wrong = ET.SubElement(optional, f"{{{XACRO}}}if", value=condition)
    wrong.text = f"${{xacro.fatal('{unknown}')}}"
    optional.append(block)
    return xml_text(robot)
