# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/model/test_dh.py
"""Elements of a robot model: joints with DH rows, fixed transforms, payload, meshes, looks.

Units are m, rad and s. Both Denavit-Hartenberg conventions are supported.

Standard (distal): A_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i), then Ry(beta_i); Spong,
Hutchinson, Vidyasagar, "Robot Modeling and Control", eq. 3.10. Joint i turns about (slides along)
z of frame i-1.

Modified (proximal): A_i = Rx(alpha_i-1) Tx(a_i-1) Rz(theta_i) Tz(d_i); Craig, "Introduction to
Robotics", eq. 3.6. Joint i turns about z of frame i, and row i holds a and alpha of link i-1, as
the tables in that convention are printed.

beta is 0 but between axes that are nearly parallel, whose common normal may be hundreds of metres
away; d is then 0 (Hayati, Mirmirani, "Improving the absolute positioning accuracy of robot
manipulators", J. Robotic Systems 2(4), 1985). It exists in the standard convention only.

A joint may also turn about y or x of the frame whose z is its axis above. Only the parts of
universal and ball joints do so: successive DH rows cannot represent them, as x_i would have to be
parallel to z_i-1 after the last axis of a ball joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from arm_common.transforms import Matrix, matrix_rpy, rpy_matrix

from arm_description.model.constraints import LinearLimits

Triple = tuple[float, float, float]
Convention: TypeAlias = Literal["standard", "modified"]
JointType: TypeAlias = Literal["revolute", "prismatic"]
JOINT_TYPES: tuple[JointType, ...] = get_args(JointType)
Axis: TypeAlias = Literal["z", "y", "x"]
LookKind: TypeAlias = Literal["box", "cylinder", "cone", "sphere", "ring", "fillet"]
Material: TypeAlias = Literal["plastic", "metal", "rubber", "glass"]
MATERIALS: tuple[Material, ...] = ("plastic", "metal", "rubber", "glass")
# What the size of a shape consists of [m]; all but box and sphere turn about their z.
LOOK_SIZES: Mapping[LookKind, tuple[str, ...]] = {
    "box": ("its edges along x", "y", "z"),
    "cylinder": ("radius", "length along z"),
    "cone": ("lower radius", "upper radius", "length along z"),
    "sphere": ("radius",),
    "ring": ("outer radius", "inner radius", "length along z"),
    "fillet": ("radius of a post along z", "radius of the rounding that widens its foot"),
}
RADII_THAT_MAY_BE_0: Mapping[LookKind, int] = {"cone": 2, "fillet": 1}  # the first of its size
DEFAULT_COLOUR = "#9ea6b2"
TOLERANCE_AXES = ("target", "tool")  # along which tolerances and offsets of a target are
CONVENTIONS: tuple[Convention, ...] = ("standard", "modified")
# Nearly parallel axes have their common normal far away.
NEARLY_PARALLEL = 0.02  # [rad]
# A link that is longer than this, and than FAR times the distance of the joints, is none that an
# arm has [m].
LONG_LINK, FAR = 1.0, 10.0
MAX_OFFSET = 1e6  # of axes that are nearly parallel, for digits to be left [m]


@dataclass(frozen=True)
class DhRow:
    """One row of a DH table; theta or d is the offset of the joint variable.

    Attributes:
        theta: rotation about z [rad].
        d: translation along z [m].
        a: translation along x [m].
        alpha: rotation about x [rad].
        beta: rotation about y after it [rad].
    """

    theta: float
    d: float
    a: float
    alpha: float
    beta: float = 0.0

    def at(self, joint_type: JointType, q: float) -> DhRow:
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
    """Return cosine and sine, exact at multiples of a quarter turn (as doubles)."""
    quarter = angle / (math.pi / 2)
    if abs(quarter - round(quarter)) < 1e-15 * max(1.0, abs(quarter)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarter) % 4]
    return math.cos(angle), math.sin(angle)


def dh_matrix(row: DhRow, convention: Convention) -> Matrix:
    """Return frame i-1 <- frame i (4, 4) [m] of a row that includes the joint variable."""
    ct, st = cos_sin(row.theta)
    ca, sa = cos_sin(row.alpha)
    if convention == "standard":
        rows = [
            [ct, -st * ca, st * sa, row.a * ct],
            [st, ct * ca, -ct * sa, row.a * st],
            [0.0, sa, ca, row.d],
        ]
        if row.beta:
            T: Matrix = np.array([*rows, [0.0, 0.0, 0.0, 1.0]]) @ turn_matrix("y", row.beta)
            return T
    else:
        rows = [
            [ct, -st, 0.0, row.a],
            [st * ca, ct * ca, -sa, -sa * row.d],
            [st * sa, ct * sa, ca, ca * row.d],
        ]
    return np.array([*rows, [0.0, 0.0, 0.0, 1.0]])


def parallel_runs(rows: Sequence[DhRow], convention: Convention) -> Iterator[tuple[range, float]]:
    """Yield the indices of successive rows with nearly parallel axes, and the sum of their d.

    A d counts negative in the sum where its axis points against the first one.
    """
    first = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows):
            alpha = rows[end - (convention == "standard")].alpha
            if abs(math.sin(alpha)) < NEARLY_PARALLEL:
                continue
        total, sign = 0.0, 1.0
        for i in range(first, end):
            if i > first:
                sign *= math.copysign(1.0, math.cos(rows[i - (convention == "standard")].alpha))
            total += sign * rows[i].d
        yield range(first, end), total
        first = end


def has_far_frames(rows: Sequence[DhRow], convention: Convention) -> bool:
    """Return whether frames are far from the arm.

    Those of an arm calibrated at a factory are hundreds of metres away where axes are nearly
    parallel; the offsets d of such rows cancel.
    """
    return any(
        max(abs(rows[i].d) for i in run) > max(LONG_LINK, FAR * abs(total))
        for run, total in parallel_runs(rows, convention)
        if len(run) > 1
    )


def turn_matrix(axis: Axis, angle: float) -> Matrix:
    """Return the rotation (4, 4) about an axis of a frame by an angle [rad]."""
    c, s = cos_sin(angle)
    k = "xyz".index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3  # the other two, in cyclic order
    T = np.eye(4)
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


@dataclass(frozen=True)
class Origin:
    """A fixed transform in URDF notation.

    Attributes:
        xyz: position [m].
        rpy: roll, pitch, yaw about fixed axes [rad].
    """

    xyz: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)

    @property
    def matrix(self) -> Matrix:
        """The transform as a matrix (4, 4)."""
        return rpy_matrix(self.xyz, self.rpy)

    @classmethod
    def of(cls, T: Matrix) -> Origin:
        """Return a matrix (4, 4) in URDF notation."""
        (x, y, z), (roll, pitch, yaw) = (map(float, values) for values in matrix_rpy(T))
        return cls((x, y, z), (roll, pitch, yaw))


NO_MOTION = Origin()


@dataclass(frozen=True)
class Joint:
    """One joint with its DH row.

    Attributes:
        name: unique name.
        type: "revolute" or "prismatic".
        row: DH numbers; theta (revolute) or d (prismatic) is the offset added to q.
        lower: minimum position [rad or m].
        upper: maximum position [rad or m], above lower.
        velocity: maximum speed [rad/s or m/s].
        acceleration: maximum acceleration [rad/s^2 or m/s^2].
        effort: torque or force that may be held [N m or N], inf if the file gives none.
        source: origin of the numbers.
        axis: joint axis in the frame whose z is the joint axis of a DH row; y or x only for the
            later parts of a universal or ball joint.
        constraint: limits that depend on other joints; lower and upper enclose them.
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
    constraint: LinearLimits | None = None

    @property
    def has_effort(self) -> bool:
        """Return True if a torque or force limit is given."""
        return math.isfinite(self.effort)

    @property
    def direction(self) -> Triple:
        """The axis as a unit vector."""
        return AXES[self.axis]

    @property
    def rest(self) -> float:
        """Position 0, or the nearest limit [rad or m]."""
        return min(max(0.0, self.lower), self.upper)

    def matrix(self, convention: Convention, q: float) -> Matrix:
        """Return frame i-1 <- frame i (4, 4) with the joint at q [rad or m]."""
        if self.axis == "z":
            return dh_matrix(self.row.at(self.type, q), convention)
        turn, row = turn_matrix(self.axis, q), dh_matrix(self.row, convention)
        T: Matrix = turn @ row if convention == "standard" else row @ turn
        return T


@dataclass(frozen=True)
class DependentJoint(Joint):
    """A joint that follows others: its position is a sum of theirs times factors.

    Its range, speed and acceleration follow from theirs, too.
    """

    # name of each joint that it follows, and its factor; not 0 [rad or m of this joint per rad or
    # m of that one]
    terms: tuple[tuple[str, float], ...] = ()
    index: int = 0  # index of its row in the table

    def position(self, q: Mapping[str, float]) -> float:
        """Return the position [rad or m] at positions by name of the joints that it follows."""
        return sum(factor * q[name] for name, factor in self.terms)


def mimic_names(name: str, terms: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """Return the names of the mimic joints of a dependent joint in the URDF, one for each term.

    A single one has the name of the joint; several are coincident: level_shoulder, level_elbow.
    """
    return (name,) if len(terms) == 1 else tuple(f"{name}_{leader}" for leader, _ in terms)


def dependent_joint(
    name: str,
    joint_type: JointType,
    row: DhRow,
    terms: tuple[tuple[str, float], ...],
    leaders: Mapping[str, Joint],
    index: int,
    source: str = "",
) -> DependentJoint:
    """Return a dependent joint, whose range and rates follow from the joints that it follows."""
    ends = [sorted((f * leaders[n].lower, f * leaders[n].upper)) for n, f in terms]
    rates = [(abs(f) * leaders[n].velocity, abs(f) * leaders[n].acceleration) for n, f in terms]
    return DependentJoint(
        name=name,
        type=joint_type,
        row=row,
        lower=sum(low for low, _ in ends),
        upper=sum(high for _, high in ends),
        velocity=sum(velocity for velocity, _ in rates),
        acceleration=sum(acceleration for _, acceleration in rates),
        effort=max(leaders[n].effort for n, _ in terms),
        source=source,
        terms=terms,
        index=index,
    )


@dataclass(frozen=True)
class ActuatorLimits:
    """Limits of an actuator, infinite where not given."""

    lower: float = -math.inf  # smallest position [rad or m]
    upper: float = math.inf  # largest position [rad or m]
    velocity: float = math.inf  # largest speed [rad/s or m/s]
    acceleration: float = math.inf  # largest acceleration [rad/s^2 or m/s^2]


@dataclass(frozen=True)
class Bar:
    """A bar of a linkage, parallel to a link of the arm and held at levers of equal length.

    It is drawn only; what it does is in the table and the transmissions.
    """

    name: str  # unique name
    beside: str  # the joint whose link it is parallel to
    levers: str  # the joint whose link the levers turn with
    at: Triple  # end of the lever from the axis of `beside`, in its link with all joints at 0 [m]


@dataclass(frozen=True)
class Payload:
    """Load carried by the tool."""

    mass: float  # [kg]
    centre: Triple  # centre of mass in tool0 [m]
    size: Triple | None = None  # of the box drawn around it [m], None for no box
    source: str = ""  # origin of the numbers


@dataclass(frozen=True)
class LinkMass:
    """Mass of a link and how it is spread, by default like the link's skeleton."""

    mass: float  # mass [kg], 0 for none
    centre: Triple | None = None  # centre of mass in the link's frame [m]
    # moments about the centre, along the link's axes: xx, xy, xz, yy, yz, zz [kg m^2]
    inertia: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Mesh:
    """Mesh of a link, in place of its skeleton."""

    visual: str  # URI of the visual mesh, file:// or package://
    collision: str  # URI of the collision mesh
    scale: Triple = (1.0, 1.0, 1.0)  # metres per unit of the mesh, along its axes
    origin: Origin = NO_MOTION  # link <- mesh
    source: str = ""  # origin of the mesh


@dataclass(frozen=True)
class LookShape:
    """One shape of a link's look; it is seen, but has no mass and touches nothing."""

    kind: LookKind
    size: tuple[float, ...]  # as in LOOK_SIZES [m]
    # link <- shape; the shape is centred there, but a fillet stands on it
    origin: Origin = NO_MOTION
    colour: str = DEFAULT_COLOUR  # "#rrggbb", or "#rrggbbaa" with an opacity
    material: Material = "plastic"  # what its surface is made of


@dataclass(frozen=True)
class Colours:
    """Colours of the skeleton, "#rrggbb", or "#rrggbbaa" with an opacity."""

    base: str = "#3b4252"  # the foot
    # rods, one colour per link, repeated cyclically
    links: tuple[str, ...] = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2")
    joints: str = "#5b6475"  # bodies at the joints
    gripper: str = "#3b4252"  # palm
    fingers: str = "#eeca3b"
