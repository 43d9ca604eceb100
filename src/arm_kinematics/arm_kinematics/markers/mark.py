# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/markers/test_layers.py
"""A marker in a frame, without ROS, and the shapes that the layers consist of.

Sizes have the meaning of visualization_msgs/Marker: full diameters and edge lengths [m].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array, pose
from numpy.typing import ArrayLike

Colour = tuple[float, float, float, float]

RED: Colour = (0.86, 0.20, 0.18, 1.0)
GREEN: Colour = (0.16, 0.62, 0.28, 1.0)
BLUE: Colour = (0.15, 0.39, 0.92, 1.0)
ORANGE: Colour = (0.95, 0.55, 0.10, 1.0)
VIOLET: Colour = (0.55, 0.30, 0.75, 1.0)
INK: Colour = (0.12, 0.14, 0.18, 1.0)
_SPACE_WIDTH = 0.35  # of the height of letters


class Kind(Enum):
    """Type of a mark: the name of the constant in visualization_msgs/Marker."""

    BOX = "CUBE"
    SPHERE = "SPHERE"
    CYLINDER = "CYLINDER"
    LINES = "LINE_LIST"
    CURVE = "LINE_STRIP"
    TRIANGLES = "TRIANGLE_LIST"
    TEXT = "TEXT_VIEW_FACING"
    MESH = "MESH_RESOURCE"


@dataclass(frozen=True, eq=False)
class Mark:
    """One mark, which moves with its frame."""

    kind: Kind
    frame: str  # link that carries it
    pose: Array  # (4, 4) frame <- mark [m]
    # sizes along its x, y, z [m]; x is the width of lines and of a text's space, z the height of
    # its letters
    scale: tuple[float, float, float]
    colour: Colour  # red, green, blue, opacity
    # (k, 3) of lines, curves and triangles [m]
    points: Array = field(default_factory=lambda: np.empty((0, 3)))
    # (k, 4) of the points; empty for a single colour
    colours: Array = field(default_factory=lambda: np.empty((0, 4)))
    text: str = ""  # the text, or the URI of a mesh


class NumberedMark(NamedTuple):
    """A mark with its layer and number; None if it was removed."""

    layer: str
    number: int
    mark: Mark | None


def alike(one: Mark, other: Mark) -> bool:
    """Return whether two marks look the same."""
    if one is other:
        return True
    plain = (one.kind, one.frame, one.scale, one.colour, one.text)
    return plain == (other.kind, other.frame, other.scale, other.colour, other.text) and (
        np.array_equal(one.pose, other.pose)
        and np.array_equal(one.points, other.points)
        and np.array_equal(one.colours, other.colours)
    )


def faint(colour: Colour, opacity: float) -> Colour:
    """Return a colour with another opacity."""
    return (*colour[:3], opacity)


def lines(
    frame: str, points: ArrayLike, width: float, colour: Colour, at: Array | None = None
) -> Mark:
    """Return straight lines between pairs of points (k, 2, 3) or (2 k, 3) [m].

    ``at`` is the pose (4, 4) of their frame in the link's; None is the link's own.
    """
    through = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    T = np.eye(4) if at is None else at
    return Mark(Kind.LINES, frame, T, (width, 0.0, 0.0), colour, through)


def curve(frame: str, points: ArrayLike, width: float, colour: Colour, at: Array) -> Mark:
    """Return a line through points (k, 3) [m] in a frame at (4, 4)."""
    return replace(lines(frame, points, width, colour, at), kind=Kind.CURVE)


def circle(radius: float, start: float, end: float, step: float) -> Array:
    """Return points (k, 3) of an arc [m] about z between two angles, about a step apart [rad]."""
    a = np.linspace(start, end, max(2, math.ceil((end - start) / step) + 1))
    return radius * np.column_stack([np.cos(a), np.sin(a), np.zeros(len(a))])


def text_mark(
    frame: str, position: ArrayLike, text: str, height: float, colour: Colour = INK
) -> Mark:
    """Return text facing the camera, centred at a position (3,) [m].

    RViz takes scale.x as the width of a space [m]; with 0 it is that of a letter 1 m high, and
    only the first word is in sight (ros2/rviz issue 1336).
    """
    scale = (_SPACE_WIDTH * height, 0.0, height)
    return Mark(Kind.TEXT, frame, pose(p=position), scale, colour, text=text)


def ball(frame: str, position: ArrayLike, diameter: float, colour: Colour) -> Mark:
    """Return a ball at a position (3,) [m]."""
    return Mark(Kind.SPHERE, frame, pose(p=position), (diameter,) * 3, colour)


def triad(frame: str, T: Array, length: float, width: float, opacity: float = 1.0) -> Mark:
    """Return the axes x, y, z of a frame at T (4, 4) as a red, a green and a blue line."""
    ends = np.stack([np.tile(T[:3, 3], (3, 1)), T[:3, 3] + length * T[:3, :3].T], axis=1)
    colours = np.repeat([faint(c, opacity) for c in (RED, GREEN, BLUE)], 2, axis=0)
    return replace(lines(frame, ends, width, faint(INK, opacity)), colours=colours)
