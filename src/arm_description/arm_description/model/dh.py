# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Denavit-Hartenberg rows and their transforms, in both conventions.

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
from arm_common.transforms import Matrix

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


AXES: dict[Axis, tuple[float, float, float]] = {
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
