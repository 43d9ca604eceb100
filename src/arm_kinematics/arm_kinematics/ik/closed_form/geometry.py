# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Geometry of the axes of a chain, and the order in which three joints place a point.

Axes are parallel, meet, or neither, within TOLERANCE: angles in radians, distances as a share of
the arm's length. This is wide enough for files with 1.5708 for a quarter turn; polishing corrects
the rest.

The equations are in cpp/closed_form/subproblems.hpp. A joint *drops out* of one of the two
invariants where its axis is parallel to that of the joint in the middle, or meets it, or, for
sliding joints, where their directions are perpendicular; then the other outer joint is found
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array, inverse

from arm_kinematics.ik.search_model import arm_length
from arm_kinematics.kernels.layout import BOTH

TOLERANCE = 5e-5
_ZERO = np.zeros(3)
_ZERO.setflags(write=False)


@dataclass(frozen=True)
class ScrewAxis:
    """The axis of a joint at q = 0, in the base frame."""

    w: Array  # direction (3,), a unit vector
    a: Array  # point on it (3,) [m]; for a prismatic joint the origin
    slides: bool  # whether the joint is prismatic

    def changes(self, normal: Array) -> bool:
        """Return whether the joint moves points along a unit vector."""
        return not (perpendicular if self.slides else parallel)(self.w, normal)


class ScrewAxes:
    """The axes of a chain, from its screws S (6, n) and its home pose M (4, 4)."""

    def __init__(self, S: Array, M: Array, prismatic: Sequence[bool]) -> None:
        self.all = tuple(map(_axis, S.T, prismatic))
        self.tip, self.tip_axes = M[:3, 3], M[:3, :3]
        self.home_inverse = inverse(M)
        self.length = arm_length(S, M)

    def reversed(self) -> ScrewAxes:
        """Return the axes of the chain read from its tip."""
        other = copy(self)
        other.all = tuple(ScrewAxis(-x.w, x.a, x.slides) for x in reversed(self.all))
        return other

    def passes(self, axis: ScrewAxis, point: Array) -> bool:
        """Return whether an axis passes through a point."""
        return float(np.linalg.norm(np.cross(axis.w, point - axis.a))) < TOLERANCE * self.length

    def meet(self, axes: Sequence[ScrewAxis]) -> Array | None:
        """Return the point (3,) where two or more revolute axes meet; None if there is none."""
        if any(x.slides for x in axes) or all(parallel(axes[0].w, x.w) for x in axes[1:]):
            return None
        across = [np.eye(3) - np.outer(x.w, x.w) for x in axes]
        rhs = sum((P @ x.a for P, x in zip(across, axes, strict=True)), np.zeros(3))
        point = np.asarray(np.linalg.solve(sum(across, np.zeros((3, 3))), rhs), dtype=np.float64)
        return point if all(self.passes(x, point) for x in axes) else None

    def foot(self, on: ScrewAxis, other: ScrewAxis) -> Array:
        """Return the point on one axis that is nearest to another revolute axis."""
        normal = np.cross(on.w, other.w)
        square = float(normal @ normal)
        if other.slides or square < TOLERANCE**2:
            return on.a
        distance = np.cross(other.a - on.a, other.w) @ normal / square
        return on.a + distance * on.w


def parallel(a: Array, b: Array) -> bool:
    """Return whether two unit vectors have the same or opposite directions."""
    return float(np.linalg.norm(np.cross(a, b))) < TOLERANCE


def perpendicular(a: Array, b: Array) -> bool:
    """Return whether two unit vectors are perpendicular."""
    return abs(float(a @ b)) < TOLERANCE


def across(a: Array, b: Array) -> Array:
    """Return a unit vector perpendicular to the unit vector a, and to b if possible."""
    normal = np.cross(a, b)
    size = float(np.linalg.norm(normal))
    if size > TOLERANCE:
        return normal / size
    e = np.zeros(3)
    e[int(np.argmin(np.abs(a)))] = 1.0
    normal = np.cross(a, e)
    return np.asarray(normal / np.linalg.norm(normal))


def _axis(screw: Array, slides: bool) -> ScrewAxis:
    v, w = screw[:3], screw[3:]
    return ScrewAxis(v, np.zeros(3), True) if slides else ScrewAxis(w, np.cross(w, v), False)


class Subproblem(NamedTuple):
    """Fields of a plan, see cpp/closed_form/plan.hpp."""

    first: int = 0
    invariant: int = 0
    pivot: Array = _ZERO
    normal_0: Array = _ZERO
    normal_1: Array = _ZERO


def placing(axes: ScrewAxes, joints: Sequence[ScrewAxis], c: Array) -> Subproblem | None:
    """Return how joints place a point that is at c (3,) at q = 0; None if they cannot."""
    if joints and not joints[-1].slides and axes.passes(joints[-1], c):
        return None
    if len(joints) < 2:
        return Subproblem()
    if len(joints) == 2:
        return _by_two(axes, *joints)
    return next((way for way in _ways(axes, *joints) if _holds(axes, joints, way)), None)


def _by_two(axes: ScrewAxes, one: ScrewAxis, two: ScrewAxis) -> Subproblem | None:
    """Return how two joints place a point: the second by an invariant of the first."""
    if one.slides:
        normal = across(one.w, two.w)
        if two.slides:
            normal = np.cross(normal, one.w)
        way = Subproblem(normal_0=normal, normal_1=np.cross(one.w, normal))
        return way if _changes(axes, two, one, 0, way) else None
    for which in (0, 1):
        way = Subproblem(0, which, axes.foot(one, two), one.w)
        if _changes(axes, two, one, which, way):
            return way
    return None


def _ways(axes: ScrewAxes, one: ScrewAxis, two: ScrewAxis, three: ScrewAxis) -> list[Subproblem]:
    """Return the options: joint 1 or joint 3 alone in an equation, then the quartic."""
    if two.slides:
        return _ways_across(one, two, three)
    ways = []
    for first, other in ((0, three), (2, one)):  # the other one drops out
        if perpendicular(other.w, two.w) if other.slides else parallel(other.w, two.w):
            ways.append(Subproblem(first, 0, axes.foot(two, other), two.w))
    for first, other in ((0, three), (2, one)):
        point = axes.meet([two, other])
        if point is not None:
            ways.append(Subproblem(first, 1, point, two.w))
    return [*ways, Subproblem(BOTH, 0, axes.foot(two, one), two.w)]


def _ways_across(one: ScrewAxis, two: ScrewAxis, three: ScrewAxis) -> list[Subproblem]:
    """Return the same options for a prismatic joint in the middle."""
    ways = []
    for first, other in ((0, three), (2, one)):
        if other.slides:
            normal = across(two.w, other.w)
        elif perpendicular(other.w, two.w):
            normal = across(two.w, np.cross(other.w, two.w))
        else:
            continue
        ways.append(Subproblem(first, 0, normal_0=normal, normal_1=np.cross(two.w, normal)))
    normal = across(two.w, one.w)
    return [*ways, Subproblem(BOTH, 0, normal_0=normal, normal_1=np.cross(two.w, normal))]


def _holds(axes: ScrewAxes, joints: Sequence[ScrewAxis], way: Subproblem) -> bool:
    """Return whether both equations depend on the joint they are solved for."""
    one, two, three = joints
    if way.first == BOTH:
        return _independent(axes, one, two)
    lead, follow = (one, three) if way.first == 0 else (three, one)
    r, s = way.invariant, 1 - way.invariant
    return _changes(axes, lead, two, r, way) and _changes(axes, follow, two, s, way)


def _independent(axes: ScrewAxes, joint: ScrewAxis, middle: ScrewAxis) -> bool:
    """Return whether a joint changes the two invariants independently, so it can be found."""
    if middle.slides:
        return not joint.slides and not perpendicular(joint.w, middle.w)
    if joint.slides:
        return not perpendicular(joint.w, middle.w)
    return not parallel(joint.w, middle.w) and axes.meet([joint, middle]) is None


def _changes(
    axes: ScrewAxes, joint: ScrewAxis, middle: ScrewAxis, which: int, way: Subproblem
) -> bool:
    """Return whether a joint changes an invariant of the middle one."""
    if which == 0 or middle.slides:
        return joint.changes(way.normal_0 if which == 0 else way.normal_1)
    return joint.slides or not axes.passes(joint, way.pivot)
