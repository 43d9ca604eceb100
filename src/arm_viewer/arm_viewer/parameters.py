# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The viewer node's parameters: one row each, all fixed at the start."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node


@dataclass(frozen=True)
class Parameters:
    """The values; each field's description is in `DESCRIPTIONS`, the defaults are here."""

    host: str = "127.0.0.1"
    port: int = 8080
    robot: str = ""
    sliders: bool = False
    drive: bool = False
    fixed_frame: str = ""
    tool_frame: str = "tool0"
    marker_topics: tuple[str, ...] = ("scene_markers", "kinematics_markers")
    show_axes: bool = True
    show_labels: bool = False
    show_trace: bool = True


DESCRIPTIONS = {
    "host": "Address to serve at; 127.0.0.1: this machine only, 0.0.0.0: the whole network.",
    "port": "First TCP port to try, then the next free one; 0: any free port.",
    "robot": "Robot whose postures get buttons: a shipped name or the path of a YAML file.",
    "sliders": "Publish joint_states, moved by a slider a joint; only where nothing else does.",
    "drive": "Move the arm through its driver: sliders, handle, jogging, tasks; not with sliders.",
    "fixed_frame": "Frame that stands still in the picture; empty: the robot's root link.",
    "tool_frame": "Frame whose position is written and whose path is drawn.",
    "marker_topics": "Topics of visualization_msgs/MarkerArray to draw.",
    "show_axes": "Whether frames are drawn at first; the panel has a switch.",
    "show_labels": "Whether frames carry their names at first; the panel has a switch.",
    "show_trace": "Whether the tool's path is drawn at first; the panel has a switch.",
}


def declare(node: Node) -> Parameters:
    """Declare all parameters of the viewer and return their values.

    Raises:
        rclpy.exceptions.ParameterException: If one was given a value of another type.
    """
    return Parameters(**{f.name: _declare(node, f.name, f.default) for f in fields(Parameters)})


def _declare(node: Node, name: str, default: Any) -> Any:
    descriptor = ParameterDescriptor(description=DESCRIPTIONS[name], read_only=True)
    if isinstance(default, tuple):
        return tuple(node.declare_parameter(name, list(default), descriptor).value)
    return node.declare_parameter(name, default, descriptor).value
