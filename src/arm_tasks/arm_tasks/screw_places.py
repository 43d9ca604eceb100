# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool poses on a bolt's axis, and how far the arm can turn the tool there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from arm_kinematics import Chain
from arm_tasks.geometry import Array, shift_z, turn_z, twist_z, wrap
from arm_tasks.scene import Bolt
from arm_tasks.task_steps import Tolerance
from arm_tasks.thread import TURN
from arm_tasks.tool_path import STEP_ANGLE, STEP_LENGTH, OutOfReach, branches, follow, reach

_SWEEP = math.radians(5.0)
_FINE = math.radians(0.005)
_MOST_SWEEP = TURN
_SAME = 0.02  # joint positions nearer than this are the same way of holding [rad or m]


@dataclass(frozen=True)
class Place:
    """A tool pose on a bolt's axis, the tool's z along the bolt's.

    Attributes:
        bolt: The bolt.
        z: How far the tool is past the bolt's free end [m].
        roll: Its roll about the bolt's z, from the bolt's x [rad].
    """

    bolt: Bolt
    z: float
    roll: float

    @property
    def pose(self) -> Array:
        """base_link <- tool0 (4, 4) [m]."""
        return self.bolt.pose @ shift_z(self.z) @ turn_z(self.roll)


def between(start: Place, goal: Place) -> list[Array]:
    """Return the poses from start (left out) to goal, roll and depth in step, dense enough."""
    way, turn = goal.z - start.z, goal.roll - start.roll
    count = max(1, math.ceil(max(abs(way) / STEP_LENGTH, abs(turn) / STEP_ANGLE) - 1e-9))
    return [
        Place(start.bolt, start.z + way * i / count, start.roll + turn * i / count).pose
        for i in range(1, count + 1)
    ]


@dataclass(frozen=True)
class Wrist:
    """One way for the arm to hold the tool on a bolt's axis, and how far it can turn it there.

    Rolls are not wrapped: two of them a full turn apart are different joint positions.

    Attributes:
        at: Where the tool is.
        joints: Joint positions (n,) there [rad or m].
        low: Lowest roll that can be turned to without letting go [rad].
        high: Highest roll [rad].
    """

    at: Place
    joints: Array
    low: float
    high: float

    def turned(self, chain: Chain, roll: float, tolerance: Tolerance) -> Array:
        """Return the joint positions (n,) after turning to another roll within the span.

        Raises:
            OutOfReach: It is not within the span.
        """
        goal = Place(self.at.bolt, self.at.z, roll)
        if goal.roll == self.at.roll:
            return self.joints
        poses = between(self.at, goal)
        return np.asarray(follow(chain, poses, self.joints, "full", tolerance).joints[-1])


def wrists(
    chain: Chain, bolt: Bolt, z: float, z_end: float, seed: Array, tolerance: Tolerance
) -> Iterator[Wrist]:
    """Yield the ways to hold the tool on a bolt, nearest to the seed first.

    Nothing is assumed of the arm: rolls are tried one after the other, each from the last, both at
    z and at z_end [m]; the span is what can be turned at both.

    Raises:
        OutOfReach: The tool cannot be there with any roll, or not at z_end.
    """
    found: list[Wrist] = []
    for way in branches(chain, Place(bolt, z, 0.0).pose, seed, "axis", tolerance):
        free = way.joints[0]
        roll = twist_z(bolt.pose[:3, :3].T @ chain.fk(free)[:3, :3])
        if any(_turns_to(wrist, chain, roll, free, tolerance) for wrist in found):
            continue
        start, end = Place(bolt, z, roll), Place(bolt, z_end, roll)
        first = reach(chain, start.pose, free, "full", tolerance).joints[0]
        last = follow(chain, between(start, end), first, "full", tolerance).joints[-1]
        sweeps = [
            (_sweep(chain, at, q, -1.0, tolerance), _sweep(chain, at, q, 1.0, tolerance))
            for at, q in ((start, first), (end, last))
        ]
        found.append(Wrist(start, first, max(s[0] for s in sweeps), min(s[1] for s in sweeps)))
        yield found[-1]


def _turns_to(wrist: Wrist, chain: Chain, roll: float, q: Array, tolerance: Tolerance) -> bool:
    """Return whether q (n,) at a roll is what this wrist comes to when it turns there."""
    for same in (roll - TURN, roll, roll + TURN):
        if wrist.low + _FINE <= same <= wrist.high - _FINE:
            there = wrist.turned(chain, same, tolerance)
            if np.abs(there - q).max() < _SAME:
                return True
    return False


def _sweep(chain: Chain, start: Place, q: Array, direction: float, tolerance: Tolerance) -> float:
    roll, step = start.roll, _SWEEP
    while step > _FINE and abs(roll - start.roll) < _MOST_SWEEP:
        ahead = Place(start.bolt, start.z, roll + direction * step)
        here = Place(start.bolt, start.z, roll)
        try:
            q = follow(chain, between(here, ahead), q, "full", tolerance).joints[-1]
        except OutOfReach:
            step /= 2.0
        else:
            roll = ahead.roll
    return roll


def thread_turn_to_go(bolt: Bolt, roll: float) -> float:
    """Return how far a nut must be turned on, from a roll, before its thread catches [rad]."""
    return float(np.mod(bolt.hand * wrap(bolt.start - roll), TURN))
