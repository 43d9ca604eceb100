# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Options of a tool path: what of each pose counts, and how closely the path is checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array, so3_log

from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.search_model import arm_length

_STEP = 1.0 / 200.0  # of the arm's length
_DEVIATION = 1.0 / 5000.0  # of the arm's length
_Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class PathOptions:
    """What is asked of a tool path."""

    # "pose", "position" or "position_axis"; this and the next three are as in ``Chain.ik``
    mode: str = "pose"
    position_tolerance: float = 1e-5  # largest distance of a sample from the path [m]
    orientation_tolerance: float | Sequence[float] = 1e-4  # largest angle there [rad], or three
    axis: Sequence[float] | None = None  # the tool's axis of mode "position_axis"; None is z
    # largest way of the tool between two samples [m]; None is 1/200 of the arm
    max_step: float | None = None
    max_turn: float = math.radians(2.0)  # largest turn of the tool between two samples [rad]
    # largest way of a joint between two samples [rad]; a sliding joint's way counts as the angle
    # that it would be at the arm's length
    max_joint_step: float = 0.1
    # how much farther from the path than the samples beside it the tool may be half way between
    # them, if the joints move straight [m]; None is 1/5000 of the arm
    max_deviation: float | None = None
    max_tilt: float = 2e-3  # the same for its orientation [rad]

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
        bounds = Bounds(
            _STEP * length if self.max_step is None else self.max_step,
            self.max_turn,
            self.max_joint_step,
            _DEVIATION * length if self.max_deviation is None else self.max_deviation,
            self.max_tilt,
            np.where(sliding(chain), length, 1.0),
            length,
        )
        for name, value in zip(bounds._fields[:5], bounds[:5], strict=True):
            if not 0.0 < value < math.inf:
                raise KinematicsError(
                    f"max_{name} is {value!r}; expected a positive number",
                    what=f"max_{name}",
                    value=value,
                )
        return bounds

    def error(self, wanted: Array, reached: Array) -> tuple[float, float]:
        """Return distance [m] and angle [rad] between two poses (4, 4), of what counts."""
        distance = math.hypot(*(reached[:3, 3] - wanted[:3, 3]).tolist())
        free = self._free
        if self.mode == "position" or all(free):
            return distance, 0.0
        R = wanted[:3, :3].T @ reached[:3, :3]
        if self.mode == "position_axis" or sum(free) == 1:
            axis = free if self.mode == "pose" else _Z if self.axis is None else self.axis
            return distance, _tilt(R, axis)
        return distance, math.hypot(*np.where(free, 0.0, so3_log(R)).tolist())

    @cached_property
    def _free(self) -> tuple[bool, ...]:
        """Whether the orientation, or each component of its error, may be any."""
        tolerances = np.atleast_1d(np.asarray(self.orientation_tolerance, dtype=np.float64))
        return tuple(np.isinf(tolerances).tolist())

    def turns(self) -> bool:
        """Return whether the orientation counts at all."""
        return self.mode != "position"


class Bounds(NamedTuple):
    """The bounds of PathOptions for one arm; ``units`` (n,) are what a radian is compared with."""

    step: float
    turn: float
    joint_step: float
    deviation: float
    tilt: float
    units: Array
    length: float


def _tilt(R: Array, axis: Sequence[float]) -> float:
    """Return the angle [rad] between an axis and where R (3, 3) turns it."""
    x, y, z = map(float, axis)
    u, v, w = (R @ (x, y, z)).tolist()
    sine = math.hypot(y * w - z * v, z * u - x * w, x * v - y * u)
    return math.atan2(sine, x * u + y * v + z * w)


def sliding(chain: Chain) -> list[bool]:
    """Return for each joint of a chain whether it slides."""
    owners = range(chain.n) if chain.gearing is None else chain.gearing.owners
    return [chain.prismatic[i] for i in owners]
