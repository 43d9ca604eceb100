# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How the axes of a chain lie to each other: parallel, meeting, or neither.

One rule: what is off by less than TOLERANCE counts as not being off at all, angles in radians,
distances as a share of the arm's length. This is wide enough for files with 1.5708 for a quarter
turn, and what it lets pass is put right when solutions are polished.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from arm_kinematics.constants import arm_length
from arm_kinematics.lie import Array, se3_inverse

TOLERANCE = 5e-5


@dataclass(frozen=True)
class Axis:
    """The axis of a joint at q = 0, in the base frame.

    Attributes:
        w: Direction (3,), a unit vector.
        a: A point on it (3,) [m]; for a sliding joint the origin.
        slides: True for a sliding joint.
    """

    w: Array
    a: Array
    slides: bool


class Axes:
    """The axes of a chain, from its screws S (6, n) and its home pose M (4, 4)."""

    def __init__(self, S: Array, M: Array, prismatic: Sequence[bool]) -> None:
        self.all = tuple(map(_axis, S.T, prismatic))
        self.tip, self.tip_axes = M[:3, 3], M[:3, :3]
        self.home_inverse = se3_inverse(M)
        self.length = arm_length(S, M)

    def reversed(self) -> Axes:
        """Return the axes as seen when the chain is read from its tip."""
        other = copy(self)
        other.all = tuple(Axis(-x.w, x.a, x.slides) for x in reversed(self.all))
        return other

    def passes(self, axis: Axis, point: Array) -> bool:
        """Return whether an axis goes through a point."""
        return float(np.linalg.norm(np.cross(axis.w, point - axis.a))) < TOLERANCE * self.length

    def meet(self, axes: Sequence[Axis]) -> Array | None:
        """Return the one point (3,) where two or more turning axes meet; None if there is none."""
        if any(x.slides for x in axes) or all(parallel(axes[0].w, x.w) for x in axes[1:]):
            return None
        across = [np.eye(3) - np.outer(x.w, x.w) for x in axes]
        rhs = sum((P @ x.a for P, x in zip(across, axes, strict=True)), np.zeros(3))
        point = np.asarray(np.linalg.solve(sum(across, np.zeros((3, 3))), rhs), dtype=np.float64)
        return point if all(self.passes(x, point) for x in axes) else None

    def foot(self, on: Axis, other: Axis) -> Array:
        """Return the point on one axis that is nearest to another turning axis."""
        normal = np.cross(on.w, other.w)
        square = float(normal @ normal)
        if other.slides or square < TOLERANCE**2:
            return on.a
        way = np.cross(other.a - on.a, other.w) @ normal / square
        return on.a + way * on.w


def parallel(a: Array, b: Array) -> bool:
    """Return whether two unit vectors have the same or opposite directions."""
    return float(np.linalg.norm(np.cross(a, b))) < TOLERANCE


def perpendicular(a: Array, b: Array) -> bool:
    """Return whether two unit vectors are perpendicular."""
    return abs(float(a @ b)) < TOLERANCE


def across(a: Array, b: Array) -> Array:
    """Return a unit vector perpendicular to the unit vector a, and to b where that can be."""
    normal = np.cross(a, b)
    size = float(np.linalg.norm(normal))
    if size > TOLERANCE:
        return normal / size
    e = np.zeros(3)
    e[int(np.argmin(np.abs(a)))] = 1.0
    normal = np.cross(a, e)
    return np.asarray(normal / np.linalg.norm(normal))


def _axis(screw: Array, slides: bool) -> Axis:
    v, w = screw[:3], screw[3:]
    if slides:
        return Axis(v.copy(), np.zeros(3), True)
    return Axis(w.copy(), np.cross(w, v), False)
