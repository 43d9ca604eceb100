# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/paths/test_planner.py
"""Shapes of a tool path: a straight line, a screw, an arc of a circle, and rounded corners.

The position moves at constant speed along the shape while the orientation turns at constant speed
about one axis, as in the slerp of quaternions (Shoemake, "Animating rotation with quaternion
curves", SIGGRAPH 1985).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from arm_common.transforms import Array, pose, so3_exp, so3_log
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform, vector
from arm_kinematics.errors import KinematicsError

_STRAIGHT = 1e-6  # sine of the angle below which three points are on one line
_SAME = 1e-12  # distance [m] below which points are the same
_BLEND_SAMPLES = 33  # of a rounded corner, to measure its length
_DELTA = 1e-4  # share of a rounded corner, for its direction


class PathShape(ABC):
    """A segment of a tool path."""

    def __init__(self, start: Array, turn: Array, length: float) -> None:
        self.start = start  # first pose (4, 4)
        # axis times angle (3,) along the axes of start [rad]; more than pi is possible
        self.turn = turn
        self.length = length  # path length of the tool point [m]
        self.angle = float(np.linalg.norm(turn))  # rotation of the tool [rad]

    @property
    def goal(self) -> Array:
        """Last pose (4, 4)."""
        return self.pose(1.0)

    def pose(self, share: float) -> Array:
        """Return the pose (4, 4) at a share of the path, 0 to 1."""
        R = self.start[:3, :3] @ so3_exp(share * self.turn)
        return pose(R, self._position(share))

    def velocity(self, share: float) -> Array:
        """Return the twist [v; w] (6,) along the base axes, per share of the path."""
        return np.concatenate([self._velocity(share), self.start[:3, :3] @ self.turn])

    @abstractmethod
    def _position(self, share: float) -> Array: ...

    @abstractmethod
    def _velocity(self, share: float) -> Array: ...


class LinePath(PathShape):
    """A straight line from start by a displacement (3,) [m] along the base axes."""

    def __init__(self, start: Array, displacement: Array, turn: Array) -> None:
        super().__init__(start, turn, float(np.linalg.norm(displacement)))
        self._displacement = displacement

    def _position(self, share: float) -> Array:
        return np.asarray(self.start[:3, 3] + share * self._displacement)

    def _velocity(self, share: float) -> Array:
        return self._displacement


class ArcPath(PathShape):
    """An arc about ``centre`` (3,) [m] by ``sweep`` (3,): axis times angle [rad]."""

    def __init__(self, start: Array, centre: Array, sweep: Array, turn: Array) -> None:
        self._centre, self._sweep = centre, sweep
        self._spoke = start[:3, 3] - centre
        length = float(np.linalg.norm(sweep) * np.linalg.norm(self._spoke))
        super().__init__(start, turn, length)

    def _position(self, share: float) -> Array:
        return np.asarray(self._centre + so3_exp(share * self._sweep) @ self._spoke)

    def _velocity(self, share: float) -> Array:
        return np.cross(self._sweep, so3_exp(share * self._sweep) @ self._spoke)


class PartPath(PathShape):
    """The part of a path between two shares of it."""

    def __init__(self, whole: PathShape, first: float, last: float) -> None:
        self._whole, self._first, self._share = whole, first, last - first
        super().__init__(whole.pose(first), self._share * whole.turn, self._share * whole.length)

    def _position(self, share: float) -> Array:
        return self._whole._position(self._first + share * self._share)

    def _velocity(self, share: float) -> Array:
        return self._share * self._whole._velocity(self._first + share * self._share)


class BlendPath(PathShape):
    """The way from one path to the next, tangent to both.

    It weights the end of the first with the beginning of the second by a quintic, whose first two
    derivatives vanish at both ends, as MoveIt's Pilz planner does ("Blending in a sequence").
    """

    def __init__(self, end: PathShape, begin: PathShape) -> None:
        self._end, self._begin = end, begin
        super().__init__(end.start, _turn(end.start, begin.goal), 0.0)
        poses = [self.pose(share) for share in np.linspace(0.0, 1.0, _BLEND_SAMPLES)]
        steps = [(np.linalg.norm(b[:3, 3] - a[:3, 3]), _turn(a, b)) for a, b in pairwise(poses)]
        self.length = math.fsum(float(step) for step, _ in steps)
        self.angle = math.fsum(float(np.linalg.norm(turn)) for _, turn in steps)

    def pose(self, share: float) -> Array:
        """Return the pose (4, 4) at a share of the path, 0 to 1."""
        a, b = self._end.pose(share), self._begin.pose(share)
        R = a[:3, :3] @ so3_exp(_quintic(share) * _turn(a, b))
        return pose(R, self._position(share))

    def velocity(self, share: float) -> Array:
        """Return the twist [v; w] (6,) along the base axes, per share, by a difference."""
        first, last = max(share - _DELTA, 0.0), min(share + _DELTA, 1.0)
        a, b = self.pose(first), self.pose(last)
        twist = np.concatenate([b[:3, 3] - a[:3, 3], a[:3, :3] @ _turn(a, b)])
        return np.asarray(twist / (last - first))

    def _position(self, share: float) -> Array:
        a, b = self._end._position(share), self._begin._position(share)
        return np.asarray(a + _quintic(share) * (b - a))

    def _velocity(self, share: float) -> Array:
        return self.velocity(share)[:3]


def _quintic(share: float) -> float:
    return share**3 * (10.0 + share * (6.0 * share - 15.0))


def rounded(shapes: Sequence[PathShape], radii: Sequence[float]) -> list[list[PathShape]]:
    """Return consecutive shapes with their corners rounded.

    The path leaves each shape but the last a radius [m] before its end, and joins the next one as
    far after its beginning; a radius of 0 leaves the corner.

    Returns:
        For each shape the way to it from the one before, if there is one, and what is left of it.

    Raises:
        KinematicsError: The radii at both ends of a shape are longer than the shape; ``what`` is
            "radii", ``value`` the index of the shape.
    """
    before = [0.0, *radii]
    path: list[list[PathShape]] = []
    for i, shape in enumerate(shapes):
        first, last = before[i], (*radii, 0.0)[i]
        if first + last > shape.length:
            raise KinematicsError(
                f"corners rounded over {(first + last) * 1e3:.4g} mm do not fit on a path of "
                f"{shape.length * 1e3:.4g} mm",
                what="radii",
                value=i,
            )
        way: list[PathShape] = []
        if first > 0.0:
            end, length = shapes[i - 1], shapes[i - 1].length
            way.append(
                BlendPath(
                    PartPath(end, 1.0 - first / length, 1.0),
                    PartPath(shape, 0.0, first / shape.length),
                )
            )
        if not shape.length:
            way.append(shape)  # a turn on the spot
        elif first + last < shape.length:
            way.append(PartPath(shape, first / shape.length, 1.0 - last / shape.length))
        path.append(way)
    return path


def line(start: ArrayLike, goal: ArrayLike) -> LinePath:
    """Return the straight line between two poses (4, 4), turning the shorter way round."""
    begin, end = rigid_transform(start, "start"), rigid_transform(goal, "goal")
    return LinePath(begin, end[:3, 3] - begin[:3, 3], _turn(begin, end))


def screw(start: ArrayLike, advance: float, angle: float) -> LinePath:
    """Return the path of a tool that turns about its own z by angle [rad] and moves along it [m].

    The angle may exceed a whole turn.
    """
    begin = rigid_transform(start, "start")
    return LinePath(begin, advance * begin[:3, 2], np.array([0.0, 0.0, angle]))


def arc(start: ArrayLike, via: ArrayLike, goal: ArrayLike) -> PathShape:
    """Return the arc of the circle from a pose (4, 4) through a point (3,) to another pose.

    Three points on one line, in this order, make a straight line.

    Raises:
        KinematicsError: There is no such circle.
    """
    begin, end = rigid_transform(start, "start"), rigid_transform(goal, "goal")
    a = begin[:3, 3]
    u, v = vector(via, 3, "via") - a, end[:3, 3] - a
    normal = np.cross(u, v)
    if np.linalg.norm(v) < _SAME:
        raise KinematicsError(
            "the arc ends where it starts, so its circle is undefined; use two arcs",
            what="goal",
        )
    if np.linalg.norm(normal) <= _STRAIGHT * np.linalg.norm(u) * np.linalg.norm(v):
        if not 0.0 <= u @ v <= v @ v:
            raise KinematicsError(
                "the middle of the arc is on the line through its ends, but not between them",
                what="via",
            )
        return line(begin, end)
    # Centre of the circle through 0, u and v.
    square = normal @ normal
    centre = np.cross((u @ u) * v - (v @ v) * u, normal) / (2.0 * square)
    axis = normal / math.sqrt(square)
    x = -centre
    sweep = math.atan2(float(np.cross(axis, x) @ (v - centre)), float(x @ (v - centre)))
    return ArcPath(begin, a + centre, axis * (sweep % (2.0 * math.pi)), _turn(begin, end))


def _turn(start: Array, goal: Array) -> Array:
    return so3_log(start[:3, :3].T @ goal[:3, :3])
