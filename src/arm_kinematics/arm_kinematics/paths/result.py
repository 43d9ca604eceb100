# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The result of a tool path: joint positions as far as it goes, and the reason it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import SHOWN

from arm_kinematics.chain.chain import Chain
from arm_kinematics.ik.result import IkResult, joint_list, residual_text
from arm_kinematics.paths.options import Bounds, PathOptions


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
    J[:3] /= bounds.length
    values = np.linalg.svd(J if options.turns() else J[:3], compute_uv=False)
    return bool(values[-1] < _SINGULAR * values[0])


def _quantity(chain: Chain, joint: int, value: float) -> str:
    return SHOWN.text(value, "prismatic" if chain.sliding[joint] else "revolute", 3)
