# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What planning a tool path answers: the joint path as far as it goes, and why not farther."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from arm_kinematics.lie import Array


class PathStatus(IntEnum):
    """Why a path ends; the numbers are those of arm_interfaces/srv/PlanPath."""

    SUCCESS = 1
    """It reaches its last pose."""
    UNREACHABLE_POSITION = -1
    """The next position is out of reach."""
    UNREACHABLE_ORIENTATION = -2
    """The next position is within reach, the orientation there is not."""
    JOINT_LIMIT = -3
    """Limits of some joints are in the way."""
    TIMEOUT = -5
    """The time ran out."""
    SINGULARITY = -9
    """The arm is singular there; joints would have to move at once."""
    BRANCH_CHANGE = -10
    """Only another configuration of the arm goes on, which would be a jump."""
    COLLISION = -11
    """The collision check says no."""


@dataclass(frozen=True, eq=False)
class PathResult:
    """A tool path in joints.

    Attributes:
        status: Why it ends.
        message: One sentence for a person.
        joint_names: Names of the joints.
        positions: (m, n) [rad or m], read-only; the first row is the start. Empty if there is
            no start.
        fraction: Share of the path that they cover, 0 to 1.
        stops: Numbers of the rows at which the path has a corner, so that the tool has to stop.
        limiting_joints: The joints to blame for the end, if any.
        position_error: Largest distance of a row from the path [m].
        orientation_error: Largest angle of a row from the path [rad].
        missing_distance: How far from the end of the way the arm has to stay [m], if the path
            ends because it is out of reach.
        missing_angle: The same for its orientation [rad].
    """

    status: PathStatus
    message: str
    joint_names: tuple[str, ...]
    positions: Array
    fraction: float
    stops: tuple[int, ...] = ()
    limiting_joints: tuple[str, ...] = ()
    position_error: float = 0.0
    orientation_error: float = 0.0
    missing_distance: float = 0.0
    missing_angle: float = 0.0

    @property
    def ok(self) -> bool:
        """True if the path reaches its last pose."""
        return self.status > 0
