# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Marks -> visualization_msgs markers."""

from __future__ import annotations

from collections.abc import Iterable

from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from arm_kinematics.lie import quaternion
from arm_kinematics.markers import Kind, Mark, Numbered


def marker_array(marks: Iterable[Numbered]) -> MarkerArray:
    """Return one message; what is gone is deleted in it."""
    return MarkerArray(markers=[_marker(*numbered) for numbered in marks])


def _marker(layer: str, number: int, mark: Mark | None) -> Marker:
    message = Marker(ns=layer, id=number, action=Marker.DELETE)
    if mark is None:
        return message
    message.action, message.type = Marker.ADD, getattr(Marker, mark.kind.value)
    message.header.frame_id = mark.frame
    message.frame_locked = True
    p, o, s = message.pose.position, message.pose.orientation, message.scale
    p.x, p.y, p.z = mark.pose[:3, 3].tolist()
    o.x, o.y, o.z, o.w = quaternion(mark.pose[:3, :3])
    s.x, s.y, s.z = map(float, mark.scale)
    r, g, b, a = map(float, mark.colour)
    message.color = ColorRGBA(r=r, g=g, b=b, a=a)
    message.points = [Point(x=x, y=y, z=z) for x, y, z in mark.points.tolist()]
    message.colors = [ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in mark.colours.tolist()]
    if mark.kind is Kind.MESH:
        message.mesh_resource = mark.text
    else:
        message.text = mark.text
    return message
