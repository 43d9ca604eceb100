# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Bars of linkages: links of the URDF that follow the arm by mimic joints.

A bar stays parallel to a link of the arm while its two levers turn with another link. From that
link, a lever turns by the angle between both, the bar back by the same, the second lever forth
again. An angle that is the sum of two joints takes two coincident mimic joints, as everywhere.
Bars have a visual and inertia, but no collision: the skeleton's thickness says nothing about
the gap between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from arm_description.model.elements import (
    NO_MOTION,
    Bar,
    DependentJoint,
    DhRow,
    Origin,
    Triple,
    dependent_joint,
    mimic_names,
)
from arm_description.urdf.appearance import Skeleton, rods
from arm_description.urdf.assembly import mimic_parts, weighed
from arm_description.urdf.elements import UrdfLink, UrdfParts
from arm_description.urdf.joint_frames import JointFrames

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

Terms: TypeAlias = tuple[tuple[str, float], ...]
ENDS = ("_near", "", "_far")  # after the bar's name: its lever, itself, the lever at its other end
_RADIUS = 0.01  # relative to the size at the joint
_ON_AXIS = DhRow(0.0, 0.0, 0.0, 0.0)


def bar_parts(model: RobotModel, prefix: str = "", frames: JointFrames | None = None) -> UrdfParts:
    """Return the links and mimic joints of all bars."""
    frames = frames or JointFrames(model)
    parts = [part for bar in model.bars for part in _parts(model, bar, prefix, frames)]
    links = tuple(weighed(model, link, prefix) for part in parts for link in part.links)
    return UrdfParts(links, tuple(joint for part in parts for joint in part.joints))


def lever_terms(model: RobotModel, bar: Bar) -> Terms:
    """Return the angle of the levers from the link beside the bar, as a sum of joints."""
    names = [row.name for row in model.rows]
    beside, levers = names.index(bar.beside), names.index(bar.levers)
    first, last, sign = (beside + 1, levers, 1) if levers > beside else (levers + 1, beside, -1)
    factors: dict[str, float] = {}
    for row in model.rows[first : last + 1]:
        terms = row.terms if isinstance(row, DependentJoint) else ((row.name, 1.0),)
        for name, factor in terms:
            factors[name] = factors.get(name, 0.0) + sign * factor
    return tuple((name, factor) for name, factor in factors.items() if factor)


def bar_links(model: RobotModel) -> Iterator[str]:
    """Yield the names of the links of all bars."""
    for bar in model.bars:
        for end in ENDS:
            name = f"{bar.name}{end}"
            yield from (f"{n}_link" for n in mimic_names(name, lever_terms(model, bar))[:-1])
            yield f"{name}_link"


def _parts(model: RobotModel, bar: Bar, prefix: str, frames: JointFrames) -> Iterator[UrdfParts]:
    index = [row.name for row in model.rows].index(bar.beside)
    forth = lever_terms(model, bar)
    back = tuple((name, -factor) for name, factor in forth)
    (x, y, z), far = bar.at, frames.joints[index + 1].xyz
    lever: tuple[Triple, Triple] = ((0.0, 0.0, z), (x, y, z))
    moves: tuple[tuple[Terms, Origin, tuple[Triple, Triple]], ...] = (
        (forth, NO_MOTION, lever),
        (back, Origin(bar.at), ((0.0, 0.0, 0.0), far)),
        (forth, Origin(far), ((0.0, 0.0, 0.0), (-x, -y, 0.0))),
    )
    radius = _RADIUS * Skeleton(model, frames).size_at(index)
    colour = model.colours.links[index % len(model.colours.links)]
    parent = f"{prefix}{bar.beside}_link"
    leaders = {joint.name: joint for joint in model.joints}
    for end, (terms, origin, corners) in zip(ENDS, moves, strict=True):
        joint = dependent_joint(f"{bar.name}{end}", "revolute", _ON_AXIS, terms, leaders, 0)
        parts = mimic_parts(model, joint, origin, parent, prefix)
        parent = parts.joints[-1].child
        shapes = tuple(rods(corners, radius, colour))
        yield UrdfParts((*parts.links, UrdfLink(parent, shapes, collides=False)), parts.joints)
