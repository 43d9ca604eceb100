# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arm configurations with the tool on a bolt's axis, and their ranges of roll."""

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
_MARGIN = math.radians(2.0)  # margin at each end of a range of more than half a turn
_SAME = 0.02  # largest joint difference within one configuration [rad or m]


@dataclass(frozen=True)
class Place:
    """A tool pose on a bolt's axis, with the tool's z along the bolt's z."""

    bolt: Bolt
    z: float  # depth of the tool past the bolt's free end [m]
    roll: float  # roll about the bolt's z, from the bolt's x [rad]

    @property
    def pose(self) -> Array:
        """base_link <- tool0 (4, 4) [m]."""
        return self.bolt.pose @ shift_z(self.z) @ turn_z(self.roll)


def between(start: Place, goal: Place) -> PathShape:
    """Return the path between two places on one bolt, with roll and depth in proportion."""
    return screw(start.pose, goal.z - start.z, goal.roll - start.roll)


@dataclass(frozen=True)
class Wrist:
    """An arm configuration with the tool on a bolt's axis, and its range of roll.

    Rolls are not wrapped: rolls a full turn apart are different joint positions.
    """

    at: Place  # place of the tool
    joints: Array  # joint positions (n,) there [rad or m]
    low: float  # lowest reachable roll without a regrasp [rad]
    high: float  # highest roll [rad]

    def joints_at(self, chain: Chain, roll: float, tolerance: Tolerance) -> Array:
        """Return the joint positions (n,) after a turn to a roll, or raise OutOfReach."""
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

    Nothing is assumed about the arm: the roll is swept at z and at the other depths [m] of the
    step; the range is the intersection.

    Raises:
        OutOfReach: The tool cannot reach one of these places with any roll.
    """
    found: list[Wrist] = []
    options = path_options("full", tolerance)
    for solution in branches(
        chain, Place(bolt, z, 0.0).pose, seed, path_options("axis", tolerance)
    ):
        roll = twist_z(bolt.pose[:3, :3].T @ chain.fk(solution.q)[:3, :3])
        if any(_reaches(wrist, chain, roll, solution.q, tolerance) for wrist in found):
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
        margin = min(_MARGIN, max(high - low - TURN / 2.0, 0.0) / 2.0)
        found.append(Wrist(start, first, low + margin, high - margin))
        yield found[-1]


def _reaches(wrist: Wrist, chain: Chain, roll: float, q: Array, tolerance: Tolerance) -> bool:
    """Return whether a wrist has joint positions q (n,) at a roll, which is not wrapped."""
    for same in (roll - TURN, roll, roll + TURN):
        if wrist.low + _FINE <= same <= wrist.high - _FINE:
            turned = wrist.joints_at(chain, same, tolerance)
            if np.abs(turned - q).max() < _SAME:
                return True
    return False


def _sweep(chain: Chain, start: Place, q: Array, turn: float, options: PathOptions) -> float:
    """Return the last feasible roll of a turn [rad]."""
    done = follow(chain, [screw(start.pose, 0.0, turn)], q, options).fraction
    return start.roll + done * turn


def thread_turn_to_go(bolt: Bolt, roll: float) -> float:
    """Return the turn from a roll to the start of the thread [rad], 0 to 2 pi."""
    return float(np.mod(bolt.hand * wrap(bolt.start - roll), TURN))
