# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Recognises arms with a closed form from the screws alone, so that DH and URDF agree.

Two families (see cpp/closed_form/families.hpp), each also for arms that look like it from the tip:

- the last one to three axes meet, and no more than three joints of any kind come before them:
  spherical wrists with any shoulder, SCARA arms, pan and tilt, cylindrical arms, ...
- two or three neighbouring axes are parallel, with at most one joint before and two behind them:
  planar arms, yaw-pitch-pitch, yaw-pitch-pitch-roll, yaw-pitch-pitch-pitch-roll, UR-like arms,
  SO-101 to the tip of its jaw, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_kinematics.ik.closed_form.geometry import (
    ScrewAxes,
    ScrewAxis,
    Subproblem,
    parallel,
    placing,
)
from arm_kinematics.kernels.layout import BOTH, PLAN, Family, Records

_MAX_JOINTS = 6
_APART = 1e-3  # share of the arm's length
_WRISTS = ("no wrist", "one wrist joint", "two axes that meet", "a spherical wrist")


class ClosedForm:
    """The closed form of one chain for one kind of target.

    Attributes:
        name: The kind of geometry, in words.
        plan: The geometry for the kernels, a record of PLAN.
    """

    def __init__(self, name: str, plan: Records) -> None:
        self.name, self.plan = name, plan


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
    return _position_form(axes) if mode == "position" else _axis_form(axes, np.asarray(axis))


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
        centre = axes.meet(wrist) if after > 1 else (wrist[0].a if wrist else axes.tip)
        way = None if centre is None else placing(axes, before, centre)
        if centre is None or way is None:
            continue
        plan = _plan(axes, Family.PLACE_THEN_TURN, (len(before), 0, after), centre, way)
        _wrist(plan, wrist)
        return ClosedForm(f"{_WRISTS[after]} behind {len(before)} joints", plan)
    return None


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
