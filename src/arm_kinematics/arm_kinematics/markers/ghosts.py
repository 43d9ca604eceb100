# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Postures other than the present one, as faint robots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arm_description.urdf.bodies import Solid

from arm_kinematics.errors import KinematicsError
from arm_kinematics.lie import Array
from arm_kinematics.markers.mark import BLUE, VIOLET, Colour, Kind, Mark, faint
from arm_kinematics.markers.seen import Seen

_MOST_BRANCHES = 8


def goal(seen: Seen) -> list[Mark]:
    """Draw the robot where it is going to, until it is there."""
    if seen.at_goal:
        return []
    return ghost(seen, seen.goal, faint(BLUE, 0.28))


def branches(seen: Seen) -> list[Mark]:
    """Draw the other solutions of the last request that asked for more than one."""
    if seen.answer is None or not seen.answer.ok:
        return []
    names = seen.answer.chain.joint_names
    others = seen.answer.solutions[1 : 1 + _MOST_BRANCHES]
    ghosts = [ghost(seen, dict(zip(names, q, strict=True)), faint(VIOLET, 0.16)) for q in others]
    return [mark for marks in ghosts for mark in marks]


def ghost(seen: Seen, joints: Mapping[str, float], colour: Colour) -> list[Mark]:
    """Draw the robot with some joints elsewhere; links that no joint moves are left out."""
    positions = {**seen.positions, **joints}
    marks: list[Mark] = []
    for body in seen.bodies:
        pose = _pose(seen, body.link, positions) if body.solids else None
        if pose is not None:
            marks += [_mark(seen.base, pose, solid, colour) for solid in body.solids]
    return marks


def _pose(seen: Seen, link: str, positions: Mapping[str, float]) -> Array | None:
    """Return base <- link (4, 4), or None for links that stand still or are not known."""
    if not seen.robot.moves(link):
        return None
    try:
        return seen.robot.link_pose(link, positions)
    except KinematicsError:
        return None


def _mark(frame: str, pose: Array, solid: Solid, colour: Colour) -> Mark:
    kind, scale = _form(solid.kind, solid.size)
    return Mark(kind, frame, pose @ solid.origin.matrix, scale, colour, text=solid.uri)


def _form(kind: str, size: Sequence[float]) -> tuple[Kind, tuple[float, float, float]]:
    if kind == "cylinder":
        return Kind.CYLINDER, (2.0 * size[0], 2.0 * size[0], size[1])
    if kind == "sphere":
        return Kind.SPHERE, (2.0 * size[0],) * 3
    x, y, z = size
    return (Kind.BOX if kind == "box" else Kind.MESH), (x, y, z)
