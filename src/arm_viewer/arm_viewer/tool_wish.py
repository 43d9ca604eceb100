# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is asked of the inverse kinematics, what it answers, and jogging steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from arm_description.transforms import rpy_matrix

from .shapes import Array

MODES = {"Pose": 0, "Position": 1, "Position and axis": 2}  # SolveIK's POSE, POSITION, ..._AXIS
JOGS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Wish:
    """How a pose is to be met.

    Attributes:
        mode: A constant of SolveIK.
        position: Largest accepted position error [m]; 0 for the solver's own.
        orientation: Largest accepted angle error [rad]; 0 for the solver's own.
        count: How many solutions to look for.
    """

    mode: int = 0
    position: float = 0.0
    orientation: float = 0.0
    count: int = 1


@dataclass(frozen=True)
class Solution:
    """One answer.

    Attributes:
        joints: Joint name -> value [rad or m].
        position_error: [m].
        orientation_error: [rad].
        distance: From where the joints were [rad or m].
    """

    joints: Mapping[str, float]
    position_error: float
    orientation_error: float
    distance: float


@dataclass(frozen=True)
class Outcome:
    """What came of a request.

    Attributes:
        ok: Whether the pose is met.
        message: One sentence for a person.
        solutions: The nearest first; if the pose is not met, the best effort alone, or nothing.
    """

    ok: bool
    message: str
    solutions: tuple[Solution, ...] = ()

    @property
    def residual(self) -> str:
        """How far the first solution is off, for people to read; empty if there is none."""
        if not self.solutions:
            return ""
        first = self.solutions[0]
        return (
            f"residual {1e3 * first.position_error:.3f} mm, "
            f"{math.degrees(first.orientation_error):.3f}°"
        )


class Solver(Protocol):
    """Whoever solves inverse kinematics."""

    def ask(self, frame: str, pose: Array, wish: Wish) -> bool:
        """Send a request for a pose (4, 4) in a frame; False if nobody is there to answer."""


def default_mode(arm_joints: int) -> str:
    """Return the mode in which an arm of so many joints can meet what it is asked."""
    if arm_joints >= 6:
        return "Pose"
    return "Position and axis" if arm_joints == 5 else "Position"


def jogged(pose: Array, jog: str, step: float, own_axes: bool) -> Array:
    """Return a pose (4, 4) one step further.

    Args:
        pose: Where it is.
        jog: One of JOGS: along, or turned about, an axis.
        step: [m] or [rad].
        own_axes: Along the tool's own axes, not those of the frame that the pose is given in.
    """
    unit = np.eye(3)["xyz".index(jog[-1])] * step
    motion = np.asarray(
        rpy_matrix(*((np.zeros(3), unit) if jog[0] == "r" else (unit, np.zeros(3))))
    )
    if own_axes:
        return np.asarray(pose @ motion)
    moved = pose.copy()
    moved[:3, :3] = motion[:3, :3] @ pose[:3, :3]
    moved[:3, 3] += motion[:3, 3]
    return moved
