# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/ros/test_marker_publisher.py
"""Messages of marks."""

from __future__ import annotations

from collections.abc import Iterable

from arm_common.ros.message_conversions import pose_message
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from arm_kinematics.markers.mark import Kind, Mark, NumberedMark


def marker_array(marks: Iterable[NumberedMark]) -> MarkerArray:
    """Return one message, which deletes removed markers."""
    return MarkerArray(markers=[_marker(*numbered) for numbered in marks])


def _marker(layer: str, number: int, mark: Mark | None) -> Marker:
    message = Marker(ns=layer, id=number, action=Marker.DELETE)
    if mark is None:
        return message
    message.action, message.type = Marker.ADD, getattr(Marker, mark.kind.value)
    message.header.frame_id = mark.frame
    message.frame_locked = True
    message.pose = pose_message(mark.pose)
    x, y, z = map(float, mark.scale)
    message.scale = Vector3(x=x, y=y, z=z)
    r, g, b, a = map(float, mark.colour)
    message.color = ColorRGBA(r=r, g=g, b=b, a=a)
    message.points = [Point(x=x, y=y, z=z) for x, y, z in mark.points.tolist()]
    message.colors = [ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in mark.colours.tolist()]
    if mark.kind is Kind.MESH:
        message.mesh_resource = mark.text
    else:
        message.text = mark.text
    return message
