# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Parts of a URDF that few robots have; most readers and writers of it never import them."""

from arm_common.plugins import PluginGroup

OPTIONAL_PARTS = PluginGroup(
    group="arm_description.urdf_parts",
    kind="part of a URDF",
    shipped={
        "bars": "arm_description.urdf.optional.bars:bar_parts",
        "ros2_control": "arm_description.urdf.optional.ros2_control:control_block",
        "shape meshes": "arm_description.urdf.optional.shape_meshes:mesh_file",
        "written constraints": "arm_description.urdf.optional.constraints:constraint_elements",
        "read constraints": "arm_description.urdf.optional.constraints:read_constraints",
    },
)
"""What reads and writes parts that few robots have, imported for these alone."""
