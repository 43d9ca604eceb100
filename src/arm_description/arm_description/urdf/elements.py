# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The parts of a URDF as plain data, between the robot and the XML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from arm_description.model.elements import NO_MOTION, Mesh, Origin, Triple

JointKind: TypeAlias = Literal[
    "revolute", "continuous", "prismatic", "fixed", "floating", "planar"
]
Rgba: TypeAlias = tuple[float, float, float, float]
MOVING: tuple[JointKind, ...] = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class UrdfLimit:
    """Limits of a moving joint.

    Attributes:
        lower: lowest position [rad or m].
        upper: highest position [rad or m].
        velocity: highest speed [rad/s or m/s].
        effort: highest torque or force [N m or N].
    """

    lower: float
    upper: float
    velocity: float
    effort: float


@dataclass(frozen=True)
class UrdfMimic:
    """A joint that follows another: position = multiplier * other + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class UrdfJoint:
    """A joint between two links.

    Attributes:
        name: name of the joint.
        kind: one of MOVING, or fixed, or floating or planar, which nothing here can move.
        parent: name of the parent link.
        child: name of the child link.
        origin: parent <- child at position 0.
        axis: unit axis in the child's frame.
        limit: limits, None if it has none.
        mimic: what it follows, None if it moves on its own.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    origin: Origin = NO_MOTION
    axis: Triple = (0.0, 0.0, 1.0)
    limit: UrdfLimit | None = None
    mimic: UrdfMimic | None = None


class Drive(NamedTuple):
    """What moves a joint: position = ratio * position of the leader + offset."""

    leader: UrdfJoint
    ratio: float
    offset: float


@dataclass(frozen=True)
class UrdfShape:
    """A visual or collision shape that was read from a URDF.

    Attributes:
        link: the link it belongs to.
        kind: "box", "cylinder" (along its z), "sphere" or "mesh"; of a collision shape possibly
            another word.
        size: edges of a box, (radius, length) of a cylinder, (radius,) of a sphere [m]; factors
            of a mesh; empty for other kinds.
        origin: link <- shape; the shape is centred there.
        uri: the file of a mesh.
        colour: red, green, blue, alpha, 0 to 1; None if the URDF gives none.
    """

    link: str
    kind: str
    size: tuple[float, ...]
    origin: Origin
    uri: str = ""
    colour: Rgba | None = None


@dataclass(frozen=True)
class UrdfInertial:
    """Mass of a link [kg] and its centre in the link's frame [m]."""

    link: str
    mass: float
    centre: Triple


@dataclass(frozen=True)
class UrdfGeometry:
    """A primitive of the skeleton.

    Attributes:
        kind: "cylinder" (along its z) or "box".
        size: (radius, length) of a cylinder, (x, y, z) of a box [m].
        origin: link <- shape; the shape is centred there.
        colour: "#rrggbb".
    """

    kind: Literal["cylinder", "box"]
    size: tuple[float, ...]
    origin: Origin
    colour: str


@dataclass(frozen=True)
class UrdfLink:
    """A link; without shapes it is a mere frame.

    Attributes:
        name: name of the link.
        shapes: what is drawn, what collides and, if it has inertia, what weighs.
        weighs: whether inertia is written.
        mass: of the shapes [kg], None to estimate it from their volume.
        mesh: what is drawn and collides instead of the shapes, None for the shapes.
        seen: whether anything is drawn and collides.
    """

    name: str
    shapes: tuple[UrdfGeometry, ...] = ()
    weighs: bool = True
    mass: float | None = None
    mesh: Mesh | None = None
    seen: bool = True


@dataclass(frozen=True)
class UrdfParts:
    """All links and joints of a robot, the root link first."""

    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]
