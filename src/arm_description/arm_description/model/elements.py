# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a robot is made of: joints, fixed transforms, gripper, colours. In m, rad and s."""

from __future__ import annotations

from dataclasses import dataclass

from arm_common.transforms import Matrix, rpy_matrix

from arm_description.model.dh import (
    AXES,
    Axis,
    Convention,
    DhRow,
    JointType,
    dh_matrix,
    turn_matrix,
)

Triple = tuple[float, float, float]


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
