# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the camera stands to see arm and scene, and how large floor, frames and labels are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .extents import corners
from .robot_picture import RobotPicture
from .shapes import Array

FIELD_OF_VIEW = 0.6  # Vertical, rad: narrow enough that parallel edges look parallel.
# From the arm to the camera, root frame: from the side and a little behind, to see what the tool
# is turned to.
DIRECTION = np.array([-0.30, -0.85, 0.42])
ASPECT = 1.2  # Width over height of a page not known yet, beside its panel.
CAPTION = 0.3  # Of the size: how far above all the caption stands; below it is the handle's room.


@dataclass(frozen=True)
class Part:
    """The part of a picture that is to be filled; its edges are at -1 and 1, up is positive."""

    left: float
    right: float
    lower: float
    upper: float


# What is left is for the handle, and for motions to somewhere else.
WIDE = Part(-0.74, 0.74, -0.78, 0.82)
HIGH = Part(-0.80, 0.80, 0.28, 0.90)  # A narrow page's panel covers the lower 60 %.


@dataclass(frozen=True)
class View:
    """A camera and the scale that goes with it. Metres, in the fixed frame, z up.

    Attributes:
        position: (3,), where the camera stands.
        look_at: (3,), the point in the middle of the picture.
        near: Distance of the near clipping plane.
        size: A length that characterises the robot; frames and labels are sized by it.
        caption: (3,), where a line of text stands over all.
    """

    position: Array
    look_at: Array
    near: float
    size: float
    caption: Array


def view_of(
    robot: RobotPicture,
    postures: Sequence[Mapping[str, Array]] = (),
    things: Array | None = None,
    aspect: float = ASPECT,
) -> View:
    """Return the nearest view that holds the arm in all its postures, and the things around it.

    Args:
        robot: The arm; its zero posture is always held.
        postures: Of each further posture link name -> (4, 4), root <- link.
        things: (n, 3) corners of what stands around it.
        aspect: Width over height of the picture; the lower part of a high one is left free.
    """
    points = np.vstack([robot_corners(robot, [robot.zero, *postures]), *_given(things)])
    low, high = points.min(axis=0), points.max(axis=0)
    zero = np.array([pose[:3, 3] for pose in robot.zero.values()])
    span = float(np.linalg.norm(zero.max(axis=0) - zero.min(axis=0)))
    size = max(robot.reach, span, 0.05)
    caption = np.array([*(0.5 * (low + high))[:2], high[2] + CAPTION * size])
    position = _stand(np.vstack([points, caption]), WIDE if aspect >= 1.0 else HIGH, aspect)
    ahead = -DIRECTION / np.linalg.norm(DIRECTION)
    look_at = position + ahead * float((0.5 * (low + high) - position) @ ahead)
    return View(position, look_at, near=0.02 * size, size=size, caption=caption)


def robot_corners(robot: RobotPicture, postures: Sequence[Mapping[str, Array]]) -> Array:
    """Return corners around an arm in some postures (link name -> root <- link), (n, 3)."""
    places = [pose[:3, 3][None] for poses in postures for pose in poses.values()]
    shapes = [
        corners(visual.shape, poses[visual.link] @ visual.pose)
        for poses in postures
        for visual in robot.visuals
        if visual.link in poses
    ]
    return np.vstack([*places, *shapes])


def axes_of(direction: Array) -> tuple[Array, Array, Array]:
    """Return what is right, up and ahead for a camera that stands in a direction, each (3,)."""
    ahead = -direction / np.linalg.norm(direction)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return right, np.cross(right, ahead), ahead


def _stand(points: Array, part: Part, aspect: float) -> Array:
    """Return the nearest place, (3,), from which all points are seen in a part of the picture.

    With x and z a point's coordinates along the picture's width and depth, l and r the part's
    edges as tangents, it is seen between them from (cx, cz) if
    x - r z <= cx - r cz and x - l z >= cx - l cz: the extremes over all points bound cx, and the
    two bounds meet at the largest cz.
    """
    right, up, ahead = axes_of(DIRECTION)
    x, y, z = np.array([right, up, ahead]) @ points.T
    tangent = np.tan(0.5 * FIELD_OF_VIEW)
    bounds = []
    for across, low, high in (
        (x, part.left * tangent * aspect, part.right * tangent * aspect),
        (y, part.lower * tangent, part.upper * tangent),
    ):
        bounds.append(
            (low, high, float(np.min(across - low * z)), float(np.max(across - high * z)))
        )
    depth = min((most - least) / (high - low) for low, high, most, least in bounds)
    cx, cy = (
        0.5 * ((least + high * depth) + (most + low * depth)) for low, high, most, least in bounds
    )
    place: Array = cx * right + cy * up + depth * ahead
    return place


def _given(things: Array | None) -> tuple[Array, ...]:
    return () if things is None else (things,)


def round_length(length: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that is not above the length [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(factor * power for factor in (1, 2, 5) if factor * power <= length * 1.001))
