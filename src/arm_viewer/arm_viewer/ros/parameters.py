# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node arm_viewer."""

from __future__ import annotations

from dataclasses import dataclass

from arm_common.ros.names import prefix_parameter
from arm_common.ros.parameters import parameter

from arm_viewer.browser.server import LAST_PORT


@dataclass(frozen=True)
class ViewerParameters:
    """Parameters of the node."""

    host: str = parameter(
        "127.0.0.1",
        "Address to serve at; 127.0.0.1: this machine only, 0.0.0.0: the whole network.",
    )
    port: int = parameter(
        8080,
        "First TCP port to try, then the next free one; 0: any free port.",
        low=0,
        high=LAST_PORT,
    )
    allowed_hosts: str = parameter(
        "",
        "Names of this computer in the address of the page, separated by spaces, besides its host "
        "name; IP addresses and localhost always work.",
    )
    robot: str = parameter(
        "", "Robot whose postures get buttons: a shipped name or the path of a YAML file."
    )
    mesh_path: str = parameter(
        "",
        "Folders, separated by colons, whose meshes a robot description or a marker may name by "
        "path; others only those of installed packages and in the folder of robot.",
    )
    scene: str = parameter("", "Scene whose file the page edits, name or path.")
    sliders: bool = parameter(
        False,
        "Publish joint_states, moved by a slider for each joint, while no driver does.",
    )
    drive: bool = parameter(
        False,
        "Move the arm through its driver: sliders, handle, jogging, tasks; not with sliders.",
    )
    opened_file: str = parameter(
        "", "File that the view creates when a browser first opens its page; empty: none."
    )
    fixed_frame: str = parameter(
        "", "Frame that is fixed in the picture; empty: the robot's root link."
    )
    prefix: str = prefix_parameter()
    tool_frame: str = parameter(
        "",
        "Frame whose position is written and whose path is drawn; empty: tool0, with the prefix.",
    )
    marker_topics: tuple[str, ...] = parameter(
        ("scene_markers", "task_markers", "kinematics_markers"),
        "Topics of visualization_msgs/MarkerArray to draw.",
    )
    portrait: bool = parameter(False, "Fill the picture with the arm as it stands at first.")
    show_axes: bool = parameter(True, "Whether frames are drawn at first; the panel has a switch.")
    show_labels: bool = parameter(
        False, "Whether frames carry their names at first; the panel has a switch."
    )
    show_trace: bool = parameter(
        True, "Whether the tool's path is drawn at first; the panel has a switch."
    )
