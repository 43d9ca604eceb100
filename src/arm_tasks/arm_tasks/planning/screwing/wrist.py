# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/screwing/test_planner.py
"""Arm configurations with the tool on a bolt's axis, and their ranges of roll."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, shift_z, turn_z, twist_z, wrap
from arm_kinematics.paths.cartesian_path import PathOptions, PathStatus
from arm_kinematics.paths.planner import follow
from arm_kinematics.paths.shapes import PathShape, screw

from arm_kinematics import Chain
from arm_tasks.planning.tool_path import OutOfReach, branches, path_options, tool_path
from arm_tasks.scene.scene import TURN, Bolt, Scene
from arm_tasks.task.steps import FindThread, ScrewOn, Tolerance

_RING_SHARE = 0.75  # distance between rings, as a fraction of the offset that the mouth allows
_LEAD = 0.25  # fraction of a ring's time to reach the first ring
_SAMPLES = 400  # to measure the length
MIN_BEFORE = math.radians(15.0)  # least turn of a stroke before the thread catches
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
        first = next(branches(chain, start.pose, solution.q, options)).q
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


def next_wrist(
    chain: Chain, scene: Scene, then: ScrewOn | FindThread, seed: Array
) -> Wrist | None:
    """Return the wrist of a step that presses a nut on a bolt, if that is in reach."""
    z = then.press - scene.require_nut().thickness / 2.0
    try:
        return next(wrists(chain, scene.bolt(then.bolt), z, (), seed, then.tolerance))
    except OutOfReach:
        return None


def too_little(wrist: Wrist) -> OutOfReach:
    """Return the refusal of a wrist whose range is too small to regrasp."""
    span = math.degrees(wrist.high - wrist.low)
    what = f"the wrist can turn by only {span:.0f} deg there, too little to regrasp"
    return OutOfReach(what, reason=PathStatus.JOINT_LIMIT)


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


class Spiral(PathShape):
    """A spiral search in the xy plane: straight out, one ring, and ever smaller rings back.

    Once the tip is found, the overshoot decreases (Jasim, Plapper, Voos, "Position identification
    in force-guided robotic peg-in-hole assembly tasks", Procedia CIRP 23, 2014). Decaying
    oscillations also leave the joints in the middle of their play, as in demagnetization. The
    search starts at its centre, a pose (4, 4), with a first ring of a radius [m], and turns by a
    roll about z [rad] and advances along z [m] meanwhile. The rings are close enough for a nut
    with the given mouth [m].
    """

    def __init__(
        self, start: Array, radius: float, roll: float, mouth: float, advance: float = 0.0
    ) -> None:
        self._radius, self._advance = radius, advance
        self.rings = 1 + max(1, math.ceil(radius / (_RING_SHARE * mouth)))
        super().__init__(start, np.array([0.0, 0.0, roll]), 0.0)
        points = np.array([self._position(i / _SAMPLES) for i in range(_SAMPLES + 1)])
        self.length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def _polar(self, share: float) -> tuple[float, float]:
        """Return distance from the centre [m] and angle [rad]."""
        rings = share * (self.rings + _LEAD) - _LEAD
        ends, distances = (-_LEAD, 0.0, 1.0, self.rings), (0.0, self._radius, self._radius, 0.0)
        return float(np.interp(rings, ends, distances)), TURN * max(rings, 0.0)

    def _position(self, share: float) -> Array:
        r, angle = self._polar(share)
        out = np.array([r * math.cos(angle), r * math.sin(angle), share * self._advance])
        return np.asarray(self.start[:3, 3] + self.start[:3, :3] @ out)

    def _velocity(self, share: float) -> Array:
        r, angle = self._polar(share)
        rate = self.rings + _LEAD
        rings = share * rate - _LEAD
        slope = 1.0 / _LEAD if rings < 0.0 else -1.0 / (self.rings - 1) if rings > 1.0 else 0.0
        dr, dangle = self._radius * rate * slope, 0.0 if rings < 0.0 else TURN * rate
        c, s = math.cos(angle), math.sin(angle)
        moving = np.array([dr * c - r * s * dangle, dr * s + r * c * dangle, self._advance])
        return np.asarray(self.start[:3, :3] @ moving)


def thread_turn_to_go(bolt: Bolt, roll: float) -> float:
    """Return the turn from a roll to the start of the thread [rad], 0 to 2 pi."""
    return float(np.mod(bolt.hand * wrap(bolt.start - roll), TURN))
