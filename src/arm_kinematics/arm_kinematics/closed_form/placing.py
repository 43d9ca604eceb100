# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How up to three joints of any kind bring a point to its place: which is found first, and how.

The equations are in kernels_place.py. A joint *drops out* of one of the two invariants where its
axis is parallel to that of the joint in the middle, or meets it, or, for sliding joints, where
their directions are perpendicular; then the other outer joint is found first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arm_kinematics.closed_form.geometry import Axes, Axis, across, parallel, perpendicular
from arm_kinematics.closed_form.kernels_plan import BOTH
from arm_kinematics.lie import Array


class Placing(NamedTuple):
    """What goes into rows 0 and 2 of a plan, see kernels_plan.py."""

    first: int
    invariant: int
    pivot: Array
    normal_0: Array
    normal_1: Array


def placing(axes: Axes, joints: Sequence[Axis], c: Array) -> Placing | None:
    """Return how joints place the point c (3,), its place at q = 0; None if they cannot."""
    if joints and not joints[-1].slides and axes.passes(joints[-1], c):
        return None
    if len(joints) < 2:
        return Placing(0, 0, np.zeros(3), np.zeros(3), np.zeros(3))
    if len(joints) == 2:
        return _by_two(axes, *joints)
    for way in _ways(axes, *joints):
        if _holds(axes, joints, way):
            return way
    return None


def _by_two(axes: Axes, one: Axis, two: Axis) -> Placing | None:
    """The second joint is found from an invariant of the first that it does change."""
    if one.slides:
        normal = across(one.w, two.w)
        if two.slides:
            normal = np.cross(normal, one.w)
        way = Placing(0, 0, np.zeros(3), normal, np.cross(one.w, normal))
        return way if _changes(axes, two, one, 0, way) else None
    for which in (0, 1):
        way = Placing(0, which, axes.foot(one, two), one.w, np.zeros(3))
        if _changes(axes, two, one, which, way):
            return way
    return None


def _ways(axes: Axes, one: Axis, two: Axis, three: Axis) -> list[Placing]:
    """Return the ways in which joint 1 or joint 3 is alone in an equation, then the quartic."""
    if two.slides:
        return _ways_across(one, two, three)
    ways = []
    for first, other in ((0, three), (2, one)):  # the other one drops out
        if perpendicular(other.w, two.w) if other.slides else parallel(other.w, two.w):
            ways.append(Placing(first, 0, axes.foot(two, other), two.w, np.zeros(3)))
    for first, other in ((0, three), (2, one)):
        point = axes.meet([two, other])
        if point is not None:
            ways.append(Placing(first, 1, point, two.w, np.zeros(3)))
    ways.append(Placing(BOTH, 0, axes.foot(two, one), two.w, np.zeros(3)))
    return ways


def _ways_across(one: Axis, two: Axis, three: Axis) -> list[Placing]:
    """The same for a sliding joint in the middle."""
    ways = []
    for first, other in ((0, three), (2, one)):
        if other.slides:
            normal = across(two.w, other.w)
        elif perpendicular(other.w, two.w):
            normal = across(two.w, np.cross(other.w, two.w))
        else:
            continue
        ways.append(Placing(first, 0, np.zeros(3), normal, np.cross(two.w, normal)))
    normal = across(two.w, one.w)
    ways.append(Placing(BOTH, 0, np.zeros(3), normal, np.cross(two.w, normal)))
    return ways


def _holds(axes: Axes, joints: Sequence[Axis], way: Placing) -> bool:
    """Return whether both equations say something about the joint that they are solved for."""
    one, two, three = joints
    if way.first == BOTH:
        return _independent(axes, one, two)
    lead, follow = (one, three) if way.first == 0 else (three, one)
    r, s = way.invariant, 1 - way.invariant
    return _changes(axes, lead, two, r, way) and _changes(axes, follow, two, s, way)


def _independent(axes: Axes, joint: Axis, middle: Axis) -> bool:
    """Return whether a joint changes the two invariants in two ways, so that it can be found."""
    if middle.slides:
        return not joint.slides and not perpendicular(joint.w, middle.w)
    if joint.slides:
        return not perpendicular(joint.w, middle.w)
    return not parallel(joint.w, middle.w) and axes.meet([joint, middle]) is None


def _changes(axes: Axes, joint: Axis, middle: Axis, which: int, way: Placing) -> bool:
    """Return whether a joint changes an invariant of the middle one."""
    if which == 0 or middle.slides:
        normal = way.normal_0 if which == 0 else way.normal_1
        return (
            not perpendicular(joint.w, normal) if joint.slides else not parallel(joint.w, normal)
        )
    return joint.slides or not axes.passes(joint, way.pivot)
