# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes of a tool path: a straight line, a screw, an arc of a circle.

The position moves at constant speed along the shape while the orientation turns at constant speed
about one axis, as in the slerp of quaternions (Shoemake, "Animating rotation with quaternion
curves", SIGGRAPH 1985).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from arm_common.transforms import Array, pose, so3_exp, so3_log
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform, vector
from arm_kinematics.errors import KinematicsError

_STRAIGHT = 1e-6  # sine of the angle below which three points are on one line
_SAME = 1e-12  # distance [m] below which points are the same


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
