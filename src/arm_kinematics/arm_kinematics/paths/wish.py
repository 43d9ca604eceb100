# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is asked of a tool path: what of each pose counts, and how closely it is checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from arm_kinematics.chain import Chain
from arm_kinematics.constants import arm_length
from arm_kinematics.errors import KinematicsError
from arm_kinematics.lie import Array, so3_log

_STEP = 1.0 / 200.0  # of the arm's length
_DEVIATION = 1.0 / 5000.0  # of the arm's length
_Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class PathWish:
    """What is asked of a tool path.

    Attributes:
        mode: "pose", "position" or "position_axis", as in ``Chain.ik``; so are the next three.
        position_tolerance: Largest distance of a sample from the path [m].
        orientation_tolerance: Largest angle there [rad], or three.
        axis: The tool's axis of mode "position_axis"; None is z.
        max_step: Largest way of the tool between two samples [m]; None is 1/200 of the arm.
        max_turn: Largest turn of the tool between two samples [rad].
        max_joint_step: Largest way of a joint between two samples [rad]; a sliding joint's way
            counts as the angle that it would be at the arm's length.
        max_deviation: How much farther from the path than the samples beside it the tool may be
            half way between them, if the joints move straight [m]; None is 1/5000 of the arm.
        max_tilt: The same for its orientation [rad].
    """

    mode: str = "pose"
    position_tolerance: float = 1e-5
    orientation_tolerance: float | Sequence[float] = 1e-4
    axis: Sequence[float] | None = None
    max_step: float | None = None
    max_turn: float = math.radians(2.0)
    max_joint_step: float = 0.1
    max_deviation: float | None = None
    max_tilt: float = 2e-3

    def ik_arguments(self) -> dict[str, Any]:
        """Return the arguments of ``Chain.ik`` that say the same."""
        arguments = {
            "mode": self.mode,
            "position_tolerance": self.position_tolerance,
            "orientation_tolerance": self.orientation_tolerance,
        }
        return arguments if self.axis is None else {**arguments, "axis": tuple(self.axis)}

    def bounds(self, chain: Chain) -> Bounds:
        """Return the numbers for an arm.

        Raises:
            KinematicsError: One of them is not positive.
        """
        length = arm_length(chain.S, chain.M)
        step = _STEP * length if self.max_step is None else self.max_step
        deviation = _DEVIATION * length if self.max_deviation is None else self.max_deviation
        values = {
            "max_step": step,
            "max_turn": self.max_turn,
            "max_joint_step": self.max_joint_step,
            "max_deviation": deviation,
            "max_tilt": self.max_tilt,
        }
        for what, value in values.items():
            if not (value > 0.0 and math.isfinite(value)):
                raise KinematicsError(
                    f"{what} is {value!r}; expected a positive number", what=what, value=value
                )
        units = np.where(sliding(chain), length, 1.0)
        return Bounds(
            step, self.max_turn, self.max_joint_step, deviation, self.max_tilt, units, length
        )

    def error(self, wanted: Array, reached: Array) -> tuple[float, float]:
        """Return distance [m] and angle [rad] between two poses (4, 4), of what counts."""
        offset = reached[:3, 3] - wanted[:3, 3]
        distance = math.sqrt(offset @ offset)
        tolerances = np.atleast_1d(np.asarray(self.orientation_tolerance, dtype=np.float64))
        free = np.isinf(tolerances)
        if self.mode == "position" or free.all():
            return distance, 0.0
        R = wanted[:3, :3].T @ reached[:3, :3]
        if self.mode == "position_axis" or free.sum() == 1:
            axis = np.asarray(_Z if self.axis is None else self.axis, dtype=np.float64)
            if self.mode == "pose":
                axis = free.astype(np.float64)
            turned = R @ axis
            sine = np.cross(axis, turned)
            return distance, math.atan2(math.sqrt(sine @ sine), axis @ turned)
        vector = np.where(free, 0.0, so3_log(R))
        return distance, math.sqrt(vector @ vector)

    def turns(self) -> bool:
        """Return whether the orientation counts at all."""
        return self.mode != "position"


class Bounds(NamedTuple):
    """The numbers of a wish for one arm; ``units`` (n,) are what a radian is compared with."""

    step: float
    turn: float
    joint_step: float
    deviation: float
    tilt: float
    units: Array
    length: float


def sliding(chain: Chain) -> list[bool]:
    """Return for each joint of a chain whether it slides."""
    owners = range(chain.n) if chain.gearing is None else chain.gearing.owners
    return [chain.prismatic[i] for i in owners]
