# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/paths/test_planner.py
"""A Cartesian path: its options, the joint positions as far as it goes, and the reason it ends.

The options are the components of a pose that count, and the sampling density.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array, so3_log
from arm_description.model.units import SHOWN

from arm_kinematics.arguments import one_of, require
from arm_kinematics.chain.chain import Chain
from arm_kinematics.ik.options import MODES
from arm_kinematics.ik.result import IkResult, joint_list, residual_text
from arm_kinematics.kernels.layout import (
    DEFAULT_ORIENTATION_TOLERANCE,
    DEFAULT_POSITION_TOLERANCE,
    Orientation,
)

# Timeout [s] of a search that ends after its first descents, where the reason does not matter.
AT_ONCE = 1e-9
_STEP = 1.0 / 200.0  # share of the arm's length
_DEVIATION = 1.0 / 5000.0  # share of the arm's length
_Z = (0.0, 0.0, 1.0)
_FACTORS = (1.0, 175.0, 350.0, 700.0, 1400.0, 2800.0, 5600.0)
"""Tolerances to try first, in units of the defaults: 175 is 1 degree."""


@dataclass(frozen=True)
class PathOptions:
    """Requirements on a tool path."""

    # "pose", "position" or "position_axis"; this and the next three as in ``Chain.ik``
    mode: str = "pose"
    position_tolerance: float = 1e-5  # largest distance of a sample from the path [m]
    orientation_tolerance: float | Sequence[float] = 1e-4  # largest angle there [rad], or three
    axis: Sequence[float] | None = None  # the tool's axis of mode "position_axis"; None is z
    # largest motion of the tool between two samples [m]; None is 1/200 of the arm's length
    max_step: float | None = None
    max_turn: float = math.radians(2.0)  # largest turn of the tool between two samples [rad]
    # largest motion of a joint between two samples [rad]; a prismatic joint's motion counts as the
    # angle it subtends at the arm's length
    max_joint_step: float = 0.1
    # largest deviation from the path half-way between two samples, beyond that of the samples, if
    # the joints move straight [m]; None is 1/5000 of the arm's length
    max_deviation: float | None = None
    max_tilt: float = 2e-3  # the same for its orientation [rad]

    def narrowed(self) -> list[PathOptions]:
        """Return the options with narrower tolerances, the narrowest first, then as they are.

        The narrower ones are the same whatever the tolerances are.
        """
        narrower = [self._limited(factor, min) for factor in _FACTORS]
        return [*(each for each in narrower if each != self), self]

    def widened(self) -> PathOptions:
        """Return the options with the widest of those tolerances where a tolerance is loose."""
        return self._limited(_FACTORS[-1], lambda value, widest: widest)

    def _limited(self, factor: float, limit: Callable[[float, float], float]) -> PathOptions:
        """Return the options with other finite tolerances where they exceed the defaults."""
        near, small = factor * DEFAULT_POSITION_TOLERANCE, factor * DEFAULT_ORIENTATION_TOLERANCE

        def limited(value: float, least: float, bound: float) -> float:
            return limit(value, bound) if least < value < math.inf else value

        place = limited(self.position_tolerance, DEFAULT_POSITION_TOLERANCE, near)
        turns = np.ravel(self.orientation_tolerance).tolist()
        turns = [limited(turn, DEFAULT_ORIENTATION_TOLERANCE, small) for turn in turns]
        angle = tuple(turns) if len(turns) > 1 else turns[0]
        return replace(self, position_tolerance=place, orientation_tolerance=angle)

    def admits(self, distance: float, angle: float) -> bool:
        """Return True if the tolerances may allow a distance [m] and an angle [rad]."""
        return distance <= self.position_tolerance and angle <= np.max(self.orientation_tolerance)

    def ik_arguments(self) -> dict[str, Any]:
        """Return the corresponding arguments of ``Chain.ik``."""
        arguments: dict[str, Any]
        arguments = {"mode": self.mode, "position_tolerance": self.position_tolerance}
        arguments["prefer"] = "accurate"  # what is nearest would lag behind the path
        if self.turns():
            arguments["orientation_tolerance"] = self.orientation_tolerance
        return arguments if self.axis is None else {**arguments, "axis": tuple(self.axis)}

    def bounds(self, chain: Chain) -> Bounds:
        """Return the bounds for an arm.

        Raises:
            KinematicsError: One of them is not positive.
        """
        length = chain.length
        bounds = Bounds(
            _STEP * length if self.max_step is None else self.max_step,
            self.max_turn,
            self.max_joint_step,
            _DEVIATION * length if self.max_deviation is None else self.max_deviation,
            self.max_tilt,
            np.where(chain.sliding, length, 1.0),
        )
        for name, value in zip(bounds._fields[:5], bounds[:5], strict=True):
            require(0.0 < value < math.inf, f"max_{name}", value, "a positive number")
        return bounds

    def error(self, target: Array, reached: Array) -> tuple[float, float]:
        """Return distance [m] and angle [rad] of two poses (4, 4), over components that count."""
        distance = math.hypot(*(reached[:3, 3] - target[:3, 3]).tolist())
        free = self._free
        if not self.turns() or all(free):
            return distance, 0.0
        R = target[:3, :3].T @ reached[:3, :3]
        if self._part == Orientation.AXIS:
            return distance, _tilt(R, _Z if self.axis is None else self.axis)
        if sum(free) == 1:
            return distance, _tilt(R, free)
        return distance, math.hypot(*(so3_log(R) * self._bound).tolist())

    @cached_property
    def _free(self) -> tuple[bool, ...]:
        """Whether the orientation, or each component of its error, is free."""
        tolerances = np.atleast_1d(np.asarray(self.orientation_tolerance, dtype=np.float64))
        return tuple(np.isinf(tolerances).tolist())

    @cached_property
    def _part(self) -> Orientation:
        """The part of the orientation that counts."""
        one_of(self.mode, "mode", tuple(MODES))
        return MODES[self.mode].orientation

    @cached_property
    def _bound(self) -> Array:
        """0 for each component that is free, else 1."""
        return np.logical_not(self._free).astype(np.float64)

    def turns(self) -> bool:
        """Return whether the orientation counts at all."""
        return self._part != Orientation.NOTHING


class Bounds(NamedTuple):
    """The bounds of PathOptions for one arm; ``units`` (n,) are the equivalents of a radian."""

    step: float
    turn: float
    joint_step: float
    deviation: float
    tilt: float
    units: Array


def _tilt(R: Array, axis: Sequence[float]) -> float:
    """Return the angle [rad] by which R (3, 3) tilts an axis."""
    x, y, z = map(float, axis)
    u, v, w = (R @ (x, y, z)).tolist()
    sine = math.hypot(y * w - z * v, z * u - x * w, x * v - y * u)
    return math.atan2(sine, x * u + y * v + z * w)


class PathStatus(IntEnum):
    """Why a path ends; the values are those of arm_interfaces/srv/PlanPath."""

    SUCCESS = 1
    """It reaches its last pose."""
    UNREACHABLE_POSITION = -1
    """The next position is out of reach."""
    UNREACHABLE_ORIENTATION = -2
    """The next position is within reach, but not with its orientation."""
    JOINT_LIMIT = -3
    """Joint limits stop the path."""
    TIMEOUT = -5
    """Time ran out."""
    SINGULARITY = -9
    """The arm is singular there; joints would have to jump."""
    BRANCH_CHANGE = -10
    """The path continues only in another configuration, which would be a jump."""
    COLLISION = -11
    """The collision check failed."""


@dataclass(frozen=True, eq=False)
class PathResult:
    """A tool path in joint space."""

    status: PathStatus
    message: str  # one sentence for users
    joint_names: tuple[str, ...]
    # (m, n) [rad or m], read-only; the first row is the start. Empty without a start
    positions: Array
    fraction: float  # share of the path that they cover, 0 to 1
    stops: tuple[int, ...] = ()  # indices of the rows where the tool stops at a corner
    limiting_joints: tuple[str, ...] = ()  # the joints that end the path, if any
    position_error: float = 0.0  # largest distance of a row from the path [m]
    orientation_error: float = 0.0  # largest angle of a row from the path [rad]
    missing_distance: float = 0.0  # smallest distance from the end [m] if that is out of reach
    missing_angle: float = 0.0  # the same for its orientation [rad]
    # (m,) share of the path that each row has reached, 0 to 1; empty without a start
    progress: Array = field(default_factory=lambda: np.empty(0))

    @property
    def ok(self) -> bool:
        """True if the path reaches its last pose."""
        return self.status > 0


_AT_LIMIT = 5e-3  # distance from a limit [rad, or units of the joint] that counts as at it
_SINGULAR = 2e-2  # smallest over largest singular value


class PathFailure(NamedTuple):
    """Why a path cannot continue."""

    status: PathStatus
    clause: str  # the reason in words, without a capital and a full stop
    joints: tuple[str, ...] = ()  # the joints that cause it
    position_error: float = 0.0  # smallest distance from the target pose [m]; 0 if reachable
    orientation_error: float = 0.0  # the same for its orientation [rad]


def no_solution(result: IkResult, end: IkResult | None = None) -> PathFailure:
    """Return why the inverse kinematics fails at the next pose.

    The next pose is close to a reached one, so its error is tiny; if the end of the path is out of
    reach too, its result gives the distance.
    """
    worst, target = result, "the target"
    if end is not None and not end.ok:
        worst, target = end, "the end of the path"
    clause = worst.why if worst.status == result.status else result.why
    errors = worst.position_error, worst.orientation_error
    text = f"{clause}; the best found is {residual_text(*errors)} from {target}"
    status = PathStatus(int(result.status))
    return PathFailure(status, text, result.limiting_joints, *errors)


def jump(chain: Chain, options: PathOptions, bounds: Bounds, q: Array, goal: Array) -> PathFailure:
    """Return why the joints (n,) cannot move smoothly from q to goal, the next sample."""
    worst = int(np.argmax(np.abs(goal - q) / bounds.units))
    name, amount = chain.joint_names[worst], _quantity(chain, worst, float(abs(goal - q)[worst]))
    ends = np.minimum(q - chain.lower, chain.upper - q) / bounds.units
    held = [i for i in range(chain.n) if ends[i] < _AT_LIMIT]
    if held:
        names = tuple(chain.joint_names[i] for i in held)
        verb = "is at its limit" if len(held) == 1 else "are at their limits"
        clause = (
            f"{joint_list(names)} {verb}, and to continue {name} would have to jump by {amount}"
        )
        return PathFailure(PathStatus.JOINT_LIMIT, clause, names)
    near = chain.constraints.tightest(q)
    if near and near.amount > -_AT_LIMIT:
        clause = f"{near.sentence}; to continue {name} would have to jump by {amount}"
        return PathFailure(PathStatus.JOINT_LIMIT, clause, (near.joint,))
    if _is_singular(chain, options, bounds, q):
        clause = f"the arm is singular there; {name} would have to jump by {amount}"
        return PathFailure(PathStatus.SINGULARITY, clause, (name,))
    clause = f"to continue, {name} would have to jump by {amount} to another configuration"
    return PathFailure(PathStatus.BRANCH_CHANGE, clause, (name,))


def limit_failure(chain: Chain, q: Array) -> PathFailure | None:
    """Return which joints (n,) are outside their limits; None if none is."""
    excess = np.maximum(chain.lower - q, q - chain.upper)
    out = [i for i in range(chain.n) if excess[i] > 1e-9]
    if not out:
        worst = chain.constraints.worst(q)
        return worst and PathFailure(PathStatus.JOINT_LIMIT, worst.sentence, (worst.joint,))
    names = tuple(chain.joint_names[i] for i in out)
    amounts = [f"{chain.joint_names[i]} is {_quantity(chain, i, excess[i])}" for i in out]
    return PathFailure(PathStatus.JOINT_LIMIT, f"{joint_list(amounts)} beyond the limit", names)


def _is_singular(chain: Chain, options: PathOptions, bounds: Bounds, q: Array) -> bool:
    """Return whether the tool can hardly move in one direction."""
    J = chain.jacobian(q) * bounds.units
    J[:3] /= chain.length
    values = np.linalg.svd(J if options.turns() else J[:3], compute_uv=False)
    return bool(values[-1] < _SINGULAR * values[0])


def _quantity(chain: Chain, joint: int, value: float) -> str:
    return SHOWN.text(value, "prismatic" if chain.sliding[joint] else "revolute", 3)
