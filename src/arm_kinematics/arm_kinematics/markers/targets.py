# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What was asked of the inverse kinematics and what came of it; texts, trace and masses."""

from __future__ import annotations

import math

import numpy as np

from arm_kinematics.lie import Array
from arm_kinematics.markers.mark import (
    GREEN,
    INK,
    RED,
    Kind,
    Mark,
    ball,
    faint,
    lines,
    triad,
    words,
)
from arm_kinematics.markers.seen import Seen
from arm_kinematics.markers.trail import PIECES, Piece


def target(seen: Seen) -> list[Mark]:
    """Draw the pose asked for, the pose reached, and what is between them."""
    answer = seen.answer
    if answer is None:
        return []
    size, frame = seen.size, answer.chain.base
    wanted, reached = answer.target[:3, 3], answer.reached[:3, 3]
    colour = GREEN if answer.ok else RED
    marks = [
        triad(frame, answer.target, 0.08 * size, 0.005 * size, 0.9),
        triad(frame, answer.reached, 0.05 * size, 0.003 * size, 0.7),
        ball(frame, wanted, 0.02 * size, faint(colour, 0.6)),
    ]
    if np.linalg.norm(wanted - reached) > 1e-4 * size:
        marks.append(lines(frame, [wanted, reached], 0.006 * size, colour))
    above = wanted + np.array([0.0, 0.0, 0.05 * size])
    said = residual_text(answer.position_error, answer.orientation_error)
    return [*marks, words(frame, above, said, 0.032 * size, colour)]


def residual_text(position: float, orientation: float) -> str:
    """Return residuals [m], [rad] in words for people: mm and degrees."""
    return f"{_short(1e3 * position)} mm, {_short(math.degrees(orientation))}°"


def _short(value: float) -> str:
    return "0" if value < 5e-4 else f"{value:.3g}"


def text(seen: Seen) -> list[Mark]:
    """Write each joint's position beside it, and where the tip is."""
    if not seen.known:
        return []
    size, chain = seen.size, seen.chain
    marks = []
    for axis in seen.axes:
        place = axis.in_child[:3, 3] + 0.06 * size * axis.in_child[:3, 2]
        value = seen.positions[axis.name]
        shown = f"{1e3 * value:.1f} mm" if axis.sliding else f"{math.degrees(value):.1f}°"
        marks.append(words(axis.child, place, f"{axis.name} {shown}", 0.03 * size))
    x, y, z = 1e3 * chain.fk(seen.q)[:3, 3] + 0.0
    place = np.array([0.0, 0.0, 0.06 * size])
    marks.append(words(chain.tip, place, f"{x:.1f}, {y:.1f}, {z:.1f} mm", 0.03 * size))
    return marks


def trace(seen: Seen) -> list[Mark]:
    """Draw the tip's path of the last seconds, from faint and blue to bright and orange."""
    pieces = [piece for piece in seen.trail.pieces if len(piece.points) > 1]
    oldest = len(pieces) - 1
    return [_stretch(seen, piece, oldest - i) for i, piece in enumerate(pieces)]


def _stretch(seen: Seen, piece: Piece, age: int) -> Mark:
    """Draw a piece of the path, whose colours are those of its age in pieces."""
    span = seen.trail.length / PIECES
    since = ((np.array(piece.times) - piece.begun) / span).clip(0.0, 1.0)
    share = (1.0 - (age + 1.0 - since) / PIECES)[:, None].clip(0.0, 1.0)
    old, new = np.array([0.20, 0.45, 0.95, 0.25]), np.array([0.98, 0.55, 0.08, 1.0])
    colours = old + share * (new - old)
    width = (0.006 * seen.size, 0.0, 0.0)
    return Mark(Kind.CURVE, seen.base, np.eye(4), width, INK, np.array(piece.points), colours)


def centres_of_mass(seen: Seen) -> list[Mark]:
    """Draw the centres of mass of the links, by their shares, and of all, with its plumb."""
    heavy = [body for body in seen.bodies if body.mass > 0.0]
    whole = sum(body.mass for body in heavy)
    if not heavy or not all(j in seen.positions for j in seen.robot.joint_names):
        return []
    size = seen.size
    marks = [
        ball(body.link, body.centre, 0.07 * size * (body.mass / whole) ** (1 / 3), faint(INK, 0.8))
        for body in heavy
    ]
    centre = sum((_weighted(seen, b.link, b.centre, b.mass / whole) for b in heavy), np.zeros(3))
    floor = np.array([centre[0], centre[1], 0.0])
    marks.append(ball(seen.base, centre, 0.06 * size, RED))
    marks.append(lines(seen.base, [centre, floor], 0.003 * size, faint(RED, 0.7)))
    return marks


def _weighted(seen: Seen, link: str, centre: tuple[float, float, float], share: float) -> Array:
    pose = seen.robot.link_pose(link, seen.positions)
    return np.asarray(share * (pose[:3, :3] @ centre + pose[:3, 3]))
