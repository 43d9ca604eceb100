# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot file: YAML text to a validated RobotModel, and back."""

from arm_common.plugins import PluginGroup

_FILES = "arm_description.robot_file"
SECTIONS = PluginGroup(
    group="arm_description.robot_file_sections",
    kind="section of a robot file",
    shipped={
        "related joints": f"{_FILES}.relations:related_joints",
        "far frames": f"{_FILES}.sections.screws:table_near_the_arm",
        "home": f"{_FILES}.sections.screws:read_screws",
        "tool": f"{_FILES}.sections.attachments:read_attachment",
        "transmissions": f"{_FILES}.sections.transmissions:with_transmissions",
        "bars": f"{_FILES}.sections.links:with_bars",
        "payload": f"{_FILES}.sections.attachments:with_payload",
        "meshes": f"{_FILES}.sections.links:with_meshes",
        "masses": f"{_FILES}.sections.links:with_masses",
    },
)
"""Readers by the key, or the case, that only few files have; imported for these alone."""
