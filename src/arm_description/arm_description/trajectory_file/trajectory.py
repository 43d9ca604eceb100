# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A joint trajectory: who is where when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DescriptionError
from ..transforms import Vector


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Positions of joints in time, between its points a straight line. Immutable.

    Attributes:
        names: names of the n joints.
        times: (m,) strictly rising from 0, read-only [s].
        positions: (m, n) read-only [rad or m].

    Raises:
        DescriptionError: the shapes do not fit, a number is not finite, or the times do not rise.
    """

    names: tuple[str, ...]
    times: Vector
    positions: Vector

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", _frozen(self.times))
        object.__setattr__(self, "positions", _frozen(self.positions))
        m, n = len(self.times), len(self.names)
        if m == 0 or self.times.shape != (m,) or self.positions.shape != (m, n):
            raise DescriptionError(
                f"a trajectory of {n} joints needs times (m,) and positions (m, {n}), "
                f"not {self.times.shape} and {self.positions.shape}"
            )
        if not np.isfinite(self.times).all() or not np.isfinite(self.positions).all():
            raise DescriptionError("a trajectory needs finite times and positions")
        if self.times[0] != 0.0 or not (np.diff(self.times) > 0.0).all():
            raise DescriptionError("the times of a trajectory must rise from 0")

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def reversed(self) -> JointTrajectory:
        """The same way back, at the same pace."""
        times = self.times[-1] - self.times[::-1]
        return JointTrajectory(self.names, times, self.positions[::-1])

    def stretched(self, factor: float) -> JointTrajectory:
        """The same way, taking so many times as long."""
        return JointTrajectory(self.names, self.times * factor, self.positions)


def _frozen(values: ArrayLike) -> Vector:
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array
