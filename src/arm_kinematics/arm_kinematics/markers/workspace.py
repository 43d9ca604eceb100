# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/markers/test_layers.py
"""Markers of the workspace: a slice through it, and the reach circles of a planar arm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Array, inverse, pose

from arm_kinematics.chain.chain import Chain
from arm_kinematics.markers.mark import Kind, Mark, circle, curve, faint, lines
from arm_kinematics.markers.state import DrawnJoint, MarkerInputs

if TYPE_CHECKING:
    from arm_kinematics.dexterity.workspace import SliceOutline

CELLS = 40  # approximate number across the larger side of a slice
_TEAL = (0.10, 0.60, 0.60, 1.0)
_PARALLEL = 1e-9
_STEP = math.radians(3.75)  # between points of a circle
_OFF_AXIS = 1e-3  # of the arm's length: nearer to its axis, a joint moves nothing visibly


def is_planar(chain: Chain) -> bool:
    """Return whether all joints are revolute with parallel axes, so the tip stays in a plane."""
    turns = chain.S[3:].T
    return not any(chain.prismatic) and all(
        np.linalg.norm(np.cross(turns[0], turn)) < _PARALLEL for turn in turns
    )


def slice_plane(chain: Chain) -> Array:
    """Return base <- slice (4, 4): the plane of a planar arm, otherwise one through axis 1.

    Its origin is on the first joint's axis. Except for planar arms, y lies along that axis and x
    points towards the tip at position 0; a prismatic first joint gives the base's x-z plane.
    """
    tip = chain.M[:3, 3]
    if chain.prismatic[0]:
        return pose(np.column_stack([[1, 0, 0], [0, 0, 1], [0, -1, 0]]).astype(float))
    axis = chain.S[3:, 0]
    foot = np.cross(axis, chain.S[:3, 0])
    out = tip - foot - axis * (axis @ (tip - foot))
    if np.linalg.norm(out) < 1e-6:
        out = np.eye(3)[int(np.argmin(np.abs(axis)))]
        out = out - axis * (axis @ out)
    x = out / np.linalg.norm(out)
    if is_planar(chain):
        R = np.column_stack([x, np.cross(axis, x), axis])
        return pose(R, foot + axis * (axis @ (tip - foot)))
    return pose(np.column_stack([x, axis, np.cross(x, axis)]), foot)


def find_slice(chain: Chain) -> SliceOutline:
    """Outline what the tip reaches of that plane, in any orientation; takes a second."""
    T = slice_plane(chain)
    # Imported here, since scipy costs 35 MB in nodes that only draw other marks.
    from arm_kinematics.dexterity.workspace import bounding_box, slice_map, slice_outline

    box = np.array(np.meshgrid(*np.transpose(bounding_box(chain)))).reshape(3, -1).T
    corners = (box - T[:3, 3]) @ T[:3, :3]
    low, high = corners.min(axis=0), corners.max(axis=0)
    cell = float(max(high[:2] - low[:2])) / CELLS
    low, high = low - cell, high + cell
    extent = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
    return slice_outline(chain, slice_map(chain, T, extent, cell))


def reach(inputs: MarkerInputs) -> list[Mark]:
    """Draw the reachable slice: its surface and its border."""
    region = inputs.region
    if region is None or not len(region.surface):
        return []
    frame, scale = inputs.chain.base, (1.0, 1.0, 1.0)
    corners, colour = region.surface.reshape(-1, 3), faint(_TEAL, 0.18)
    surface = Mark(Kind.TRIANGLES, frame, region.T, scale, colour, corners)
    return [surface, lines(frame, region.border, 0.004 * inputs.size, _TEAL, region.T)]


def reach_circles(inputs: MarkerInputs) -> list[Mark]:
    """Draw the inner and outer reach of a planar arm without joint limits."""
    if not is_planar(inputs.chain):
        return []
    T, width = slice_plane(inputs.chain), 0.005 * inputs.size
    unit_circle = circle(1.0, 0.0, 2.0 * math.pi, _STEP)
    return [
        curve(inputs.chain.base, radius * unit_circle, width, _TEAL, T)
        for radius in radii(inputs.chain)
    ]


def joint_circles(inputs: MarkerInputs) -> list[Mark]:
    """Draw the circle on which each revolute joint carries what follows, faint outside limits.

    What follows is the nearest later joint, or the tip, that is not on the joint's axis.
    """
    if not inputs.known:
        return []
    ends = [_axis_origin(inputs, axis) for axis in inputs.axes]
    ends.append(inputs.chain.fk(inputs.q)[:3, 3])
    return [
        mark
        for i, axis in enumerate(inputs.axes)
        if not axis.sliding
        for mark in _circle_of(inputs, axis, ends[i + 1 :])
    ]


def _axis_origin(inputs: MarkerInputs, axis: DrawnJoint) -> Array:
    """Return the origin of a joint's axis, (3,) in the base [m]."""
    T = inputs.robot.link_pose(axis.child, inputs.positions) @ axis.in_child
    return (inverse(inputs.robot.link_pose(inputs.chain.base, inputs.positions)) @ T)[:3, 3]


def _circle_of(inputs: MarkerInputs, axis: DrawnJoint, ends: list[Array]) -> list[Mark]:
    """Draw the circle of one joint through the first of the ends, (3,) each, off its axis."""
    robot, size = inputs.robot, inputs.size
    parent = robot.link_pose(axis.parent, inputs.positions) @ axis.in_parent
    base = inverse(robot.link_pose(inputs.chain.base, inputs.positions))
    for end in ends:
        x, y, z, _ = inverse(base @ parent) @ [*end, 1.0]
        if (radius := math.hypot(x, y)) > _OFF_AXIS * size:
            break
    else:
        return []
    turned = inverse(parent) @ robot.link_pose(axis.child, inputs.positions) @ axis.in_child
    zero = math.atan2(y, x) - math.atan2(turned[1, 0], turned[0, 0])
    low = axis.lower if math.isfinite(axis.lower) else -math.pi
    high = min(axis.upper, low + 2.0 * math.pi)
    above = np.array([0.0, 0.0, z])
    allowed = circle(radius, zero + low, zero + high, _STEP) + above
    marks = [curve(axis.parent, allowed, 0.005 * size, _TEAL, axis.in_parent)]
    if high - low < 2.0 * math.pi:
        rest = circle(radius, zero + high, zero + low + 2.0 * math.pi, _STEP) + above
        marks.append(curve(axis.parent, rest, 0.003 * size, faint(_TEAL, 0.3), axis.in_parent))
    return marks


def radii(chain: Chain) -> tuple[float, ...]:
    """Return the smallest, unless it is 0, and the largest distance [m] of a planar arm's tip.

    The largest is the sum of the links; the smallest is the longest link less all others.
    """
    axis = chain.S[3:, 0]
    points = [np.cross(s[3:], s[:3]) for s in chain.S.T]  # on the axes, in the plane through 0
    points.append(chain.M[:3, 3] - axis * (axis @ chain.M[:3, 3]))
    links = np.linalg.norm(np.diff(points, axis=0), axis=1)
    inner, outer = 2.0 * links.max() - links.sum(), float(links.sum())
    return (float(inner), outer) if inner > 1e-9 else (outer,)
