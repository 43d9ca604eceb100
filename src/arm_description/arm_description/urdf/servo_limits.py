# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/ros/test_description.py
"""Writes the limits that hold, as the driver of an arm knows them.

A driver publishes on arm_hardware/limits (std_msgs/String, latched) a URDF of nothing but joints
with limits, and the element <joint_constraints>. Its elements <width> and <actuator>, whose
attributes are those of <limit>, are for who has the robot file:

    <robot name="my_arm" prefix="left_">
      <joint name="left_elbow"><limit lower="-0.56" upper="0.98" velocity="2" /></joint>
      <width lower="0" upper="0.059" velocity="0.1" acceleration="0.5" />
      <actuator name="elbow_servo" lower="-1" upper="1" velocity="5" acceleration="20" />
    </robot>
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from arm_description.model.elements import ActuatorLimits
from arm_description.robot_model import RobotModel
from arm_description.urdf.optional import OPTIONAL_PARTS

TOPIC = "arm_hardware/limits"
KEYS = ("lower", "upper", "velocity", "acceleration")  # of a <limit>, <width> or <actuator>


def limits_text(model: RobotModel, prefix: str = "") -> str:
    """Return the message of a driver that moves this robot, limited to what its servos allow."""
    root = ET.Element("robot", name=model.name, prefix=prefix)
    for joint in model.joints:
        limits = ActuatorLimits(joint.lower, joint.upper, joint.velocity, joint.acceleration)
        _add_joint(root, prefix + joint.name, limits)
    if (grip := model.gripper) is not None:
        for name in grip.moving:
            _add_joint(root, prefix + name, ActuatorLimits(*grip.travel))
        width = ActuatorLimits(grip.min_width, grip.max_width, grip.velocity, grip.acceleration)
        ET.SubElement(root, "width", _attributes(width))
    for name, limits in model.actuator_limits.items():
        ET.SubElement(root, "actuator", {"name": name, **_attributes(limits)})
    if model.constraints:
        root.extend(OPTIONAL_PARTS.load("written constraints")(model, prefix))
    return ET.tostring(root, encoding="unicode")


def _add_joint(root: ET.Element, name: str, limits: ActuatorLimits) -> None:
    joint = ET.SubElement(root, "joint", name=name)
    ET.SubElement(joint, "limit", _attributes(limits))


def _attributes(limits: ActuatorLimits) -> dict[str, str]:
    """Return the finite limits, as a URDF writes none for others."""
    return {key: repr(value) for key, value in vars(limits).items() if math.isfinite(value)}
