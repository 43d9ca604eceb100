# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/model/test_urdf.py
"""Elements of a URDF as plain data, between the robot model and the XML."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from arm_description.model.elements import NO_MOTION, LinkMass, LookShape, Mesh, Origin, Triple

JointKind: TypeAlias = Literal[
    "revolute", "continuous", "prismatic", "fixed", "floating", "planar"
]
Rgba: TypeAlias = tuple[float, float, float, float]
MOVING: tuple[JointKind, ...] = ("revolute", "continuous", "prismatic")
# Begins the names of frames in which a simulation has the links; tf without it has them as
# commanded. A view draws the robot in the former, and in the latter as a ghost.
TRUE_FRAMES = "ground_truth/"
_DH_FRAME = re.compile(r"(?:^|_|/)dh_\d+$")


def is_dh_frame(link: str) -> bool:
    """Return whether a link is one of the frames dh_0 .. dh_n of a DH table, with any prefix."""
    return _DH_FRAME.search(link) is not None


def shape_folder() -> Path:
    """Return the folder of the meshes of cones, rings and fillets; it may not exist yet."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "arm" / "shapes"
    if home := os.environ.get("HOME"):
        return Path(home) / ".cache" / "arm" / "shapes"
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"arm-{user}" / "shapes"


# Stands for "not given", since a URDF must have an effort [N m or N]; other exporters, such as
# onshape-to-robot, write the same.
NO_EFFORT = 10.0

CONSTRAINTS = "joint_constraints"  # an element of our own: limits that depend on other joints


@dataclass(frozen=True)
class UrdfLimit:
    """Limits of a moving joint."""

    lower: float  # minimum position [rad or m]
    upper: float  # maximum position [rad or m]
    velocity: float  # maximum speed [rad/s or m/s]
    effort: float  # maximum torque or force [N m or N]


@dataclass(frozen=True)
class UrdfMimic:
    """A joint that follows another: position = multiplier * other + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class UrdfJoint:
    """A joint between two links."""

    name: str
    kind: JointKind  # floating and planar joints are read, but not supported otherwise
    parent: str
    child: str
    origin: Origin = NO_MOTION  # parent <- child at position 0
    axis: Triple = (0.0, 0.0, 1.0)  # unit axis in the child's frame
    limit: UrdfLimit | None = None
    mimic: UrdfMimic | None = None  # None for an independent joint


class Drive(NamedTuple):
    """Independent joint that drives another: position = ratio * position of leader + offset."""

    leader: UrdfJoint
    ratio: float
    offset: float


class JointRange(NamedTuple):
    """Limits of a joint [rad or m]; infinite where there are none."""

    lower: float
    upper: float
    velocity: float  # [rad/s or m/s]

    def __str__(self) -> str:
        return f"{self.lower:.6g} to {self.upper:.6g}"


_FIXED = 1e-9  # a smaller range is none [rad or m]


def joint_range(joint: UrdfJoint) -> JointRange:
    """Return the limits of a joint itself."""
    limit = joint.limit
    velocity = (limit.velocity if limit else 0.0) or math.inf
    if limit is None or joint.kind == "continuous":
        return JointRange(-math.inf, math.inf, velocity)
    return JointRange(limit.lower, limit.upper, velocity)


def driving_range(
    leader: UrdfJoint, followers: Iterable[tuple[UrdfJoint, Drive]]
) -> tuple[JointRange, str]:
    """Return limits that keep a joint and those that follow it inside theirs, and what is wrong.

    That is a sentence if a follower leaves its leader no room to move, else "". A follower's
    limits that are both 0 are not given: they are optional.
    """
    lower, upper, velocity = own = joint_range(leader)
    moves, problem = upper - lower >= _FIXED, ""
    for joint, drive in followers:
        limits = joint_range(joint)
        velocity = min(velocity, limits.velocity / abs(drive.ratio))
        if limits[:2] == (0.0, 0.0):
            continue
        first, last = sorted((end - drive.offset) / drive.ratio for end in limits[:2])
        lower, upper = max(lower, first), min(upper, last)
        if not problem and upper - lower < (_FIXED if moves else -_FIXED):
            offset = f" and {drive.offset:+g}" if drive.offset else ""
            problem = (
                f"joint {leader.name!r} ({own}) cannot move where joint {joint.name!r}, which "
                f"follows it ({drive.ratio:g} times{offset}), is inside its limits ({limits})"
            )
    return JointRange(lower, upper, velocity), problem


class Step(NamedTuple):
    """A joint on the path from one link to another."""

    joint: UrdfJoint
    inward: bool  # whether the path leads from its child link to its parent link

    @property
    def link(self) -> str:
        """The link that the step leads to."""
        return self.joint.parent if self.inward else self.joint.child


@dataclass(frozen=True)
class UrdfShape:
    """A visual or collision shape read from a URDF."""

    link: str  # its link
    kind: str  # "box", "cylinder" (along z), "sphere", "mesh"; for a collision also unknown kinds
    # edges of a box, (radius, length) of a cylinder, (radius,) of a sphere [m]; scale of a mesh
    size: tuple[float, ...]
    origin: Origin  # link <- shape; the shape is centred there
    uri: str = ""  # the file of a mesh
    colour: Rgba | None = None  # red, green, blue, alpha, 0 to 1; None if the URDF gives none
    material: str = ""  # name of its material


@dataclass(frozen=True)
class UrdfInertial:
    """Mass of a link and how it is spread."""

    link: str
    mass: float  # [kg]
    origin: Origin  # link <- centre of mass [m]
    # about the centre, by the origin's axes: xx, xy, xz, yy, yz, zz [kg m^2]
    moments: tuple[float, ...] = (0.0,) * 6

    @property
    def centre(self) -> Triple:
        """Centre of mass in the link's frame [m]."""
        return self.origin.xyz


@dataclass(frozen=True)
class UrdfGeometry:
    """A primitive shape of the skeleton."""

    kind: Literal["cylinder", "box"]  # a cylinder is along its z
    size: tuple[float, ...]  # (radius, length) of a cylinder, (x, y, z) of a box [m]
    origin: Origin  # link <- shape; the shape is centred there
    colour: str  # "#rrggbb"

    @property
    def volume(self) -> float:
        """Its volume [m^3]."""
        if self.kind == "box":
            return math.prod(self.size)
        radius, length = self.size
        return math.pi * radius**2 * length


@dataclass(frozen=True)
class UrdfLink:
    """A link; without shapes it is only a frame."""

    name: str
    shapes: tuple[UrdfGeometry, ...] = ()  # visual, collision and inertia
    has_inertia: bool = True  # whether inertia is written
    mass: LinkMass | None = None  # None to estimate it from the volume of the shapes
    mesh: Mesh | None = None  # visual and collision in place of the shapes
    look: tuple[LookShape, ...] | None = None  # visuals in place of those of the shapes
    visible: bool = True  # whether visual and collision are written
    collides: bool = True  # whether collision is written


@dataclass(frozen=True)
class UrdfParts:
    """All links and joints of a robot, the root link first."""

    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]


def duplicate(names: Sequence[str]) -> str:
    """Return the first name that occurs more than once, "" if none does."""
    return next((name for name, count in Counter(names).items() if count > 1), "")
