# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Limits how many servos start or move at once, to avoid overloading the supply."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array

from arm_hardware.errors import CommandError
from arm_hardware.motion.trajectory import Trajectory

MOVES = 1e-9  # [rad or m] beyond which a joint counts as moving
PAUSE = 0.05  # [s] from one group's arrival to the next one's start


@dataclass(frozen=True)
class PowerBudget:
    """The limits of a power supply."""

    joints: int = 0  # that may move at once, 0 for any number
    stagger: float = 0.0  # from one joint's start to the next one's [s]

    @property
    def limited(self) -> bool:
        """Whether anything is limited."""
        return self.joints > 0 or self.stagger > 0.0

    def check(self, points: Array, rates: Array | None) -> None:
        """Raise CommandError if points (m, n) [rad or m] with velocities move too many joints.

        A motion to a single point is divided instead, by staggered_trajectory().
        """
        if self.joints <= 0 or len(points) <= 2:
            return
        moves = np.abs(np.diff(points, axis=0)) > MOVES
        if rates is not None:
            moves |= np.abs(rates[-len(moves) :]) > MOVES
        number = moves.sum(axis=1)
        k = int(np.argmax(number > self.joints))
        if number[k] > self.joints:
            raise CommandError(
                f"The way to point {k + 1} moves {number[k]} joints at once, more than the "
                f"{self.joints} of max_moving_joints; move fewer, or send one point at a time."
            )


UNLIMITED = PowerBudget()


def staggered_trajectory(times: Array, points: Array, power_budget: PowerBudget) -> Trajectory:
    """Return a motion from rest to rest between two points (2, n) at two times [s], the first 0.

    Joints move in groups, each joint once and smoothly: the n-th of a group starts n times
    ``stagger`` after the first one, and a group arrives together; after a pause the next group
    starts.
    """
    offset = points[1] - points[0]
    movers = np.flatnonzero(np.abs(offset) > MOVES)
    size = power_budget.joints or max(1, len(movers))
    groups = max(1, -(-len(movers) // size))
    place = np.arange(len(movers))
    span = max(float(times[1]) / groups, 2.0 * power_budget.stagger * size, 2.0 * PAUSE)
    last = span * groups - PAUSE * (groups > 1)
    starts, ends = np.zeros(len(offset)), np.full(len(offset), last)
    starts[movers] = span * (place // size) + power_budget.stagger * (place % size)
    ends[movers] = span * (place // size + 1) - PAUSE * (groups > 1)
    t = np.unique(np.concatenate([[0.0, last], starts, ends]))
    s = np.clip((t[:, None] - starts) / (ends - starts), 0.0, 1.0)
    return Trajectory(
        t,
        points[0] + offset * s * s * (3.0 - 2.0 * s),
        offset * 6.0 * s * (1.0 - s) / (ends - starts),
    )
