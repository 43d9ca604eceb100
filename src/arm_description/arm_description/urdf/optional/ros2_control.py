# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/test_xacro.py
"""The block <ros2_control> of a URDF: the hardware component that a controller_manager loads.

Format: control.ros.org, Hardware Components, "URDF tags"; the parameters of `topic` are those of
joint_state_topic_hardware_interface.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from arm_description.urdf.elements import UrdfJoint

COMMAND, STATES = "position", ("position", "velocity")  # interfaces of each joint


HARDWARE: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "mock": ("mock_components/GenericSystem", {}),
    "topic": (
        "joint_state_topic_hardware_interface/JointStateTopicSystem",
        {"joint_commands_topic": "joint_commands", "joint_states_topic": "joint_states"},
    ),
    "gz": ("gz_ros2_control/GazeboSimSystem", {}),
}
"""Name of a kind of hardware -> the plugin of its component, and the parameters."""


def control_block(name: str, kind: str, joints: Sequence[UrdfJoint]) -> ET.Element:
    """Return the block of a robot; its first element is <hardware>.

    Args:
        name: Name of the component.
        kind: Kind of hardware, one of HARDWARE; "" for none yet.
        joints: All joints; the fixed ones and those that follow another have no interfaces.
    """
    block = ET.Element("ros2_control", name=name, type="system")
    ET.SubElement(block, "hardware").extend(hardware_elements(kind) if kind else ())
    for joint in joints:
        if joint.kind != "fixed" and joint.mimic is None:
            element = ET.SubElement(block, "joint", name=joint.name)
            ET.SubElement(element, "command_interface", name=COMMAND)
            for state in STATES:
                ET.SubElement(element, "state_interface", name=state)
    return block


def hardware_elements(kind: str) -> list[ET.Element]:
    """Return the plugin and the parameters of a kind of hardware."""
    name, parameters = HARDWARE[kind]
    plugin = ET.Element("plugin")
    plugin.text = name
    elements = [plugin]
    for name, value in parameters.items():
        elements.append(ET.Element("param", name=name))
        elements[-1].text = value
    return elements
