# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Recognises arms with a closed form from the screws alone, so that DH and URDF agree.

Two families (see cpp/closed_form/branches.hpp), each also for arms that look like it from the tip:

- the last one to three axes meet, and no more than three joints of any kind come before them:
  spherical wrists with any shoulder, SCARA arms, pan and tilt, cylindrical arms, ...
- two or three neighbouring axes are parallel, with at most one joint before and two behind them:
  planar arms, yaw-pitch-pitch, yaw-pitch-pitch-roll, yaw-pitch-pitch-pitch-roll, UR-like arms,
  SO-101 to the tip of its jaw, ...

Axes are parallel, meet, or neither, within TOLERANCE: angles in radians, distances as a share of
the arm's length. This is wide enough for files with 1.5708 for a quarter turn; polishing corrects
the rest.

Three joints place a point in an order of their own; the equations are in
cpp/closed_form/subproblems.hpp. A joint *drops out* of one of the two invariants where its axis is
parallel to that of the joint in the middle, or meets it, or, for sliding joints, where their
directions are perpendicular; then the other outer joint is found first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array, inverse
from numpy.typing import ArrayLike

from arm_kinematics.ik.search_model import arm_length
from arm_kinematics.kernels.layout import BOTH, PLAN, Family, Records

TOLERANCE = 5e-5
_ZERO = np.zeros(3)
_ZERO.setflags(write=False)
_MAX_JOINTS = 6
_APART = 1e-3  # share of the arm's length
_WRISTS = ("no wrist", "one wrist joint", "two axes that meet", "a spherical wrist")


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


@dataclass
class ClosedForm:
    """The closed form of one chain for one kind of target."""

    name: str  # the kind of geometry, in words
    plan: Records  # the geometry for the kernels, a record of PLAN


def recognise(
    S: Array, M: Array, prismatic: Sequence[bool], mode: str = "pose", axis: ArrayLike = (0, 0, 1)
) -> ClosedForm | None:
    """Return the closed form of a chain; None if it has no known one.

    Args:
        S: Screw axes (6, n) [v; w] in the base frame.
        M: Pose (4, 4) of the tip at q = 0.
        prismatic: Which joints are prismatic.
        mode: "pose"; "position", which keeps last joints that do not move the tip at the seed;
            or "position_axis", which keeps a last joint about the tool axis there.
        axis: The tool axis of "position_axis", a unit vector (3,) in the tip's frame.
    """
    axes = ScrewAxes(S, M, prismatic)
    if mode == "pose":
        return _pose_form(axes)
    if mode == "position":
        return _position_form(axes)
    return _axis_form(axes, np.asarray(axis)) if mode == "position_axis" else None


def _pose_form(axes: ScrewAxes) -> ClosedForm | None:
    """Return the closed form of a chain for a full pose; None if there is none."""
    if len(axes.all) > _MAX_JOINTS:
        return None
    form = _parallel_form(axes) or _meeting_form(axes)
    if form is None:
        backwards = axes.reversed()
        form = _parallel_form(backwards) or _meeting_form(backwards)
        if form is not None:
            form.plan["reversed"] = 1.0
            form.name += ", read from the tip"
    return form


def _position_form(axes: ScrewAxes) -> ClosedForm | None:
    """Return the closed form for the tip's position alone, reached by at most three joints.

    Last joints whose axes pass through the tip are kept at the seed.
    """
    if len(axes.all) > _MAX_JOINTS:
        return None
    moving = list(axes.all)
    while moving and not moving[-1].slides and axes.passes(moving[-1], axes.tip):
        moving.pop()
    kept = len(axes.all) - len(moving)
    if not 1 <= len(moving) <= 3:
        return None
    way = placing(axes, moving, axes.tip)
    if way is None:
        return None
    plan = _plan(axes, Family.PLACE_THEN_TURN, (len(moving), 0, 0), axes.tip, way)
    plan["kept"] = kept
    return ClosedForm(f"{len(moving)} joints place the tip", plan)


def _axis_form(axes: ScrewAxes, axis: Array) -> ClosedForm | None:
    """Return the closed form for the position and the direction of a tool axis (3,) of the tip.

    Either the last joint turns about that axis and is kept at the seed, or at most three joints
    place the tip.
    """
    last = axes.all[-1]
    if not last.slides and axes.passes(last, axes.tip) and parallel(last.w, axes.tip_axes @ axis):
        form = _pose_form(axes)
        if form is not None:
            form.plan["kept"] = 1.0
        return form
    form = _position_form(axes)
    return None if form is None or form.plan["kept"] != 0.0 else form


def _parallel_form(axes: ScrewAxes) -> ClosedForm | None:
    """Return the form of an arm with two or three parallel axes; None if it has none."""
    for before, count, after in _splits(len(axes.all)):
        group = axes.all[before : before + count]
        behind = axes.all[before + count :]
        h = group[0].w
        if any(x.slides for x in (*group, *behind)):
            continue
        if not all(parallel(x.w, h) for x in group):
            continue
        if any(axes.passes(x, y.a) for x, y in pairwise(group)):
            continue
        centre = group[-1].a + h * (h @ (group[0].a - group[-1].a))
        turns = [ScrewAxis(h, centre, False), *behind]  # the parallel axes are one turn about h
        if any(parallel(x.w, y.w) for x, y in pairwise(turns)):
            continue
        meet = axes.meet(behind) if len(behind) == 2 else (behind or group)[-1].a
        both = before > 0 and meet is None
        if (before and not axes.all[0].changes(h)) or (both and not _lies_apart(axes, h, *behind)):
            continue
        way = Subproblem(BOTH if both else 0, 1, group[0].a, h)
        plan = _plan(axes, Family.TURN_THEN_PLACE, (before, count, after), centre, way)
        plan["meet"] = np.zeros(3) if meet is None else meet
        senses = [1.0 if axis.w @ h > 0.0 else -1.0 for axis in group]
        plan["joints"]["sense"][before : before + count] = senses
        _wrist(plan, turns)
        return ClosedForm(f"{count} parallel axes", plan)
    return None


def _lies_apart(axes: ScrewAxes, h: Array, five: ScrewAxis, six: ScrewAxis) -> bool:
    """Return whether joint 5 changes two components along h independently.

    They are those of a point of axis 6 and of its direction.
    """
    between, across_5 = six.a - five.a, h - five.w * (five.w @ h)
    moment = abs(float(np.cross(between, six.w) @ five.w))
    return moment * float(across_5 @ across_5) > _APART * axes.length


def _splits(n: int) -> Iterator[tuple[int, int, int]]:
    """Yield the ways to split n joints: before, parallel, behind; most parallel ones first."""
    for count in (3, 2):
        for before in (0, 1):
            if 0 <= n - count - before <= 2:
                yield before, count, n - count - before


def _meeting_form(axes: ScrewAxes) -> ClosedForm | None:
    """Return the form of an arm whose last axes meet; None if they do not."""
    n = len(axes.all)
    for after in range(min(3, n), -1, -1):
        before, wrist = axes.all[: n - after], axes.all[n - after :]
        if len(before) > 3 or any(x.slides for x in wrist):
            continue
        if any(parallel(x.w, y.w) for x, y in pairwise(wrist)):
            continue
        centre = axes.meet(wrist) if after > 1 else _point_to_place(axes, before, wrist)
        way = None if centre is None else placing(axes, before, centre)
        if centre is None or way is None:
            continue
        plan = _plan(axes, Family.PLACE_THEN_TURN, (len(before), 0, after), centre, way)
        _wrist(plan, wrist)
        return ClosedForm(f"{_WRISTS[after]} behind {len(before)} joints", plan)
    return None


def _point_to_place(
    axes: ScrewAxes, before: Sequence[ScrewAxis], wrist: Sequence[ScrewAxis]
) -> Array:
    """Return the tip, or a point of the only wrist axis that few joints leave where it is."""
    if not wrist:
        return axes.tip
    (axis,) = wrist
    points = (axis.a, axis.a + axes.length * axis.w)
    turning = [x for x in before if not x.slides]
    return min(points, key=lambda p: sum(axes.passes(x, p) for x in turning))


def _plan(
    axes: ScrewAxes, family: Family, split: tuple[int, int, int], centre: Array, way: Subproblem
) -> Records:
    plan = np.zeros((), PLAN)
    plan["family"], plan["length"] = family, axes.length
    plan["before"], plan["parallel"], plan["after"] = split
    plan["home_rotation"] = axes.home_inverse[:3, :3]
    plan["home_position"] = axes.home_inverse[:3, 3]
    plan["centre"] = centre
    for name, value in way._asdict().items():
        plan[name] = value
    for joint, axis in zip(plan["joints"], axes.all, strict=False):
        joint["direction"], joint["point"], joint["slides"] = axis.w, axis.a, axis.slides
    return plan


def _wrist(plan: Records, wrist: Sequence[ScrewAxis]) -> None:
    """Fill in where joint 5 brings axis 6 nearest to axis 4, and its angles with both."""
    if len(wrist) < 3:
        return
    w4, w5, w6 = (x.w for x in wrist)
    turn = np.arctan2(w5 @ np.cross(w6, w4), w6 @ w4 - (w5 @ w6) * (w5 @ w4))
    plan["zero"] = turn
    plan["bend_4"], plan["bend_6"] = _angle(w5, w4), _angle(w5, w6)


def _angle(a: Array, b: Array) -> float:
    angle = float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
    return 0.5 * np.pi if abs(angle - 0.5 * np.pi) < 1e-12 else angle
