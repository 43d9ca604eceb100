# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a robot is made of: joints with their DH rows, fixed transforms, gripper, colours.

In m, rad and s. The transforms of Denavit-Hartenberg rows are those of both conventions.

Standard (distal): A_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i); Spong, Hutchinson, Vidyasagar,
"Robot Modeling and Control", eq. 3.10. Joint i turns about (slides along) z of frame i-1.

Modified (proximal): A_i = Rx(alpha_i-1) Tx(a_i-1) Rz(theta_i) Tz(d_i); Craig, "Introduction to
Robotics", eq. 3.6. Joint i turns about z of frame i, and row i holds a and alpha of link i-1, as
the tables in that convention are printed.

A joint may also turn about y or x of the frame whose z is meant above. Only the parts of universal
and ball joints do: rows of four numbers cannot follow one another so, as x_i would have to be
parallel to z_i-1 behind the last axis of a ball joint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from arm_common.transforms import Matrix, rpy_matrix

Triple = tuple[float, float, float]
Convention: TypeAlias = Literal["standard", "modified"]
JointType: TypeAlias = Literal["revolute", "prismatic"]
Axis: TypeAlias = Literal["z", "y", "x"]
CONVENTIONS: tuple[Convention, ...] = ("standard", "modified")


@dataclass(frozen=True)
class DhRow:
    """One row of a table; of the joint's own variable (theta or d) it holds the offset.

    Attributes:
        theta: turn about z [rad].
        d: shift along z [m].
        a: shift along x [m].
        alpha: turn about x [rad].
    """

    theta: float
    d: float
    a: float
    alpha: float

    def moved(self, joint_type: JointType, q: float) -> DhRow:
        """Return the row with the joint at q [rad or m]."""
        if joint_type == "revolute":
            return replace(self, theta=self.theta + q)
        return replace(self, d=self.d + q)


AXES: dict[Axis, Triple] = {
    "z": (0.0, 0.0, 1.0),
    "y": (0.0, 1.0, 0.0),
    "x": (1.0, 0.0, 0.0),
}


def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine [-], exact at multiples of a quarter turn as doubles can write them."""
    quarter = angle / (math.pi / 2)
    if abs(quarter - round(quarter)) < 1e-15 * max(1.0, abs(quarter)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarter) % 4]
    return math.cos(angle), math.sin(angle)


def dh_matrix(row: DhRow, convention: Convention) -> Matrix:
    """Return frame i-1 <- frame i (4, 4) [m] of one row, joint variable included."""
    ct, st = cos_sin(row.theta)
    ca, sa = cos_sin(row.alpha)
    if convention == "standard":
        rows = [
            [ct, -st * ca, st * sa, row.a * ct],
            [st, ct * ca, -ct * sa, row.a * st],
            [0.0, sa, ca, row.d],
        ]
    else:
        rows = [
            [ct, -st, 0.0, row.a],
            [st * ca, ct * ca, -sa, -sa * row.d],
            [st * sa, ct * sa, ca, ca * row.d],
        ]
    return np.array([*rows, [0.0, 0.0, 0.0, 1.0]])


def turn_matrix(axis: Axis, angle: float) -> Matrix:
    """Return the turn (4, 4) about an axis of a frame by an angle [rad]."""
    c, s = cos_sin(angle)
    k = "xyz".index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3  # the other two, in cyclic order
    T = np.eye(4)
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


@dataclass(frozen=True)
class Origin:
    """A fixed transform as URDF writes it.

    Attributes:
        xyz: position [m].
        rpy: roll, pitch, yaw about fixed axes [rad].
    """

    xyz: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)

    @property
    def matrix(self) -> Matrix:
        """The same as (4, 4)."""
        return rpy_matrix(self.xyz, self.rpy)


NO_MOTION = Origin()


@dataclass(frozen=True)
class Joint:
    """One joint with its row of the table.

    Attributes:
        name: name, unique in the robot.
        type: "revolute" or "prismatic".
        row: DH numbers; theta (revolute) or d (prismatic) is the offset added to q.
        lower: lowest position [rad or m].
        upper: highest position [rad or m], above lower.
        velocity: highest speed [rad/s or m/s].
        acceleration: highest acceleration [rad/s^2 or m/s^2].
        effort: highest torque or force [N m or N].
        source: where the numbers come from.
        axis: what it moves along or about, of the frame whose z is the joint axis of a DH row; not
            z only in the later parts of a universal or ball joint.
    """

    name: str
    type: JointType
    row: DhRow
    lower: float
    upper: float
    velocity: float
    acceleration: float
    effort: float
    source: str = ""
    axis: Axis = "z"

    @property
    def direction(self) -> Triple:
        """The axis as a unit vector."""
        return AXES[self.axis]

    @property
    def rest(self) -> float:
        """Position 0, or the limit next to it [rad or m]."""
        return min(max(0.0, self.lower), self.upper)

    def matrix(self, convention: Convention, q: float) -> Matrix:
        """Transform frame i-1 <- frame i with the joint at q [rad or m], (4, 4)."""
        if self.axis == "z":
            return dh_matrix(self.row.moved(self.type, q), convention)
        turn, row = turn_matrix(self.axis, q), dh_matrix(self.row, convention)
        moved: Matrix = turn @ row if convention == "standard" else row @ turn
        return moved


@dataclass(frozen=True)
class FingerShape:
    """Box of one finger, for pictures and collision."""

    length: float  # along the tool's z [m]
    width: float  # along the tool's x [m]
    thickness: float  # along the opening [m]
    overhang: float  # how far the finger reaches beyond the grasp point [m]


@dataclass(frozen=True)
class Gripper:
    """A gripper of two fingers that open symmetrically along the tool's y.

    Attributes:
        joints: names of the left (towards -y) and right (towards +y) finger joint; the position
            of each is half the width [m].
        min_width: closed [m].
        max_width: open [m].
        velocity: highest speed of the width [m/s].
        acceleration: highest acceleration of the width [m/s^2].
        finger: shape of a finger.
        palm: box of the palm: along z, along y, along x [m].
        source: where the numbers come from.
    """

    joints: tuple[str, str]
    min_width: float
    max_width: float
    velocity: float
    acceleration: float
    finger: FingerShape
    palm: Triple
    source: str = ""


@dataclass(frozen=True)
class Payload:
    """What the tool carries."""

    mass: float  # [kg]
    centre: Triple  # centre of mass along the axes of tool0 [m]
    size: Triple | None = None  # of the box drawn around it [m], None if nothing is drawn
    source: str = ""  # where the numbers come from


@dataclass(frozen=True)
class Mesh:
    """The look of a link instead of the skeleton's."""

    visual: str  # URI of what is drawn, file:// or package://
    collision: str  # URI of what collides
    scale: Triple = (1.0, 1.0, 1.0)  # metres in one unit of the mesh, along its axes
    origin: Origin = NO_MOTION  # link <- mesh
    source: str = ""  # where it comes from


@dataclass(frozen=True)
class Colours:
    """Colours of the skeleton, "#rrggbb"."""

    base: str = "#3b4252"  # the foot
    # rods, one colour a link, repeated from the first when there are more links
    links: tuple[str, ...] = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2")
    joints: str = "#5b6475"  # bodies at the joints
    gripper: str = "#3b4252"  # palm
    fingers: str = "#eeca3b"


def rgb(colour: str) -> Triple:
    """Return red, green, blue, 0 .. 1, of "#rrggbb"."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return (red, green, blue)
