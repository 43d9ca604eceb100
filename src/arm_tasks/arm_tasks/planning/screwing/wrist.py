# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Configurations of the arm with the tool on a bolt's axis, and their range of rolls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, shift_z, turn_z, twist_z, wrap
from arm_kinematics.paths.options import PathOptions
from arm_kinematics.paths.planner import follow
from arm_kinematics.paths.shapes import PathShape, screw

from arm_kinematics import Chain
from arm_tasks.planning.tool_path import branches, path_options, tool_path
from arm_tasks.scene.scene import TURN, Bolt
from arm_tasks.task.steps import Tolerance

_FINE = math.radians(0.005)
_SPARE = math.radians(2.0)  # margin at each end of a range of more than half a turn
_SAME = 0.02  # largest difference of joints in the same configuration [rad or m]


@dataclass(frozen=True)
class Place:
    """A tool pose on a bolt's axis, the tool's z along the bolt's."""

    bolt: Bolt
    z: float  # how far the tool is past the bolt's free end [m]
    roll: float  # its roll about the bolt's z, from the bolt's x [rad]

    @property
    def pose(self) -> Array:
        """base_link <- tool0 (4, 4) [m]."""
        return self.bolt.pose @ shift_z(self.z) @ turn_z(self.roll)


def between(start: Place, goal: Place) -> PathShape:
    """Return the path from start to goal on one bolt, roll and depth in proportion."""
    return screw(start.pose, goal.z - start.z, goal.roll - start.roll)


@dataclass(frozen=True)
class Wrist:
    """One configuration of the arm with the tool on a bolt's axis, and its range of rolls.

    Rolls are not wrapped: two of them a full turn apart are different joint positions.
    """

    at: Place  # where the tool is
    joints: Array  # joint positions (n,) there [rad or m]
    low: float  # lowest roll that can be reached without a regrasp [rad]
    high: float  # highest roll [rad]

    def turned(self, chain: Chain, roll: float, tolerance: Tolerance) -> Array:
        """Return the joint positions (n,) after turning to another roll, or raise OutOfReach."""
        goal = Place(self.at.bolt, self.at.z, roll)
        if goal.roll == self.at.roll:
            return self.joints
        options = path_options("full", tolerance)
        path = tool_path(chain, between(self.at, goal), self.joints, options)
        return np.asarray(path.positions[-1])


def wrists(
    chain: Chain, bolt: Bolt, z: float, others: Sequence[float], seed: Array, tolerance: Tolerance
) -> Iterator[Wrist]:
    """Yield the configurations with the tool on a bolt, nearest to the seed first.

    Nothing is assumed about the arm: rolls are tried one after the other, each from the last, at z
    and at the other places [m] of the step; the range is what can be turned at all of them. If the
    tool cannot be at one of these with any roll, it raises OutOfReach.
    """
    found: list[Wrist] = []
    options = path_options("full", tolerance)
    for solution in branches(
        chain, Place(bolt, z, 0.0).pose, seed, path_options("axis", tolerance)
    ):
        roll = twist_z(bolt.pose[:3, :3].T @ chain.fk(solution.q)[:3, :3])
        if any(_turns_to(wrist, chain, roll, solution.q, tolerance) for wrist in found):
            continue
        start = Place(bolt, z, roll)
        first = branches(chain, start.pose, solution.q, options)[0].q
        places = [(start, first)]
        for other in (Place(bolt, z_other, roll) for z_other in others if z_other != z):
            q_other = tool_path(chain, between(start, other), first, options).positions[-1]
            places.append((other, q_other))
        sweeps = [
            (_sweep(chain, at, q, -TURN, options), _sweep(chain, at, q, TURN, options))
            for at, q in places
        ]
        low, high = max(s[0] for s in sweeps), min(s[1] for s in sweeps)
        spare = min(_SPARE, max(high - low - TURN / 2.0, 0.0) / 2.0)
        found.append(Wrist(start, first, low + spare, high - spare))
        yield found[-1]


def _turns_to(wrist: Wrist, chain: Chain, roll: float, q: Array, tolerance: Tolerance) -> bool:
    """Return whether a wrist that turns to a roll comes to q (n,)."""
    for same in (roll - TURN, roll, roll + TURN):
        if wrist.low + _FINE <= same <= wrist.high - _FINE:
            turned = wrist.turned(chain, same, tolerance)
            if np.abs(turned - q).max() < _SAME:
                return True
    return False


def _sweep(chain: Chain, start: Place, q: Array, turn: float, options: PathOptions) -> float:
    """Return the last roll that is feasible in a turn [rad]."""
    done = follow(chain, [screw(start.pose, 0.0, turn)], q, options).fraction
    return start.roll + done * turn


def thread_turn_to_go(bolt: Bolt, roll: float) -> float:
    """Return the turn from a roll at which the thread of a nut catches [rad]."""
    return float(np.mod(bolt.hand * wrap(bolt.start - roll), TURN))
