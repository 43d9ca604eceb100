# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Why a tool path cannot be gone on with."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arm_kinematics.chain import Chain
from arm_kinematics.lie import Array
from arm_kinematics.paths.result import PathStatus
from arm_kinematics.paths.wish import Bounds, PathWish, sliding
from arm_kinematics.result import IkResult, apart, joint_list

_AT_LIMIT = 5e-3  # so near to a limit [rad, or units of the joint] a joint is stopped by it
_SINGULAR = 2e-2  # smallest over largest singular value


class Obstacle(NamedTuple):
    """What is in the way.

    Attributes:
        status: Its kind.
        clause: The same in words, without a capital and a full stop.
        joints: The joints to blame.
        position_error: How far from a wanted pose the arm has to stay [m]; 0 if it could be met.
        orientation_error: The same for its orientation [rad].
    """

    status: PathStatus
    clause: str
    joints: tuple[str, ...] = ()
    position_error: float = 0.0
    orientation_error: float = 0.0


def no_solution(result: IkResult, end: IkResult | None = None) -> Obstacle:
    """Return what the inverse kinematics says of the next pose.

    Args:
        result: Its answer to that pose.
        end: Its answer to the end of the way. If that is out of reach too, it tells by how much;
            the next pose, being next to one that was met, is missed by next to nothing.
    """
    worst, where = (result, "the target")
    if end is not None and not end.ok:
        worst, where = end, "the end of the way"
    clause = worst.why if worst.status == result.status else result.why
    errors = worst.position_error, worst.orientation_error
    text = f"{clause}; the best found is {apart(*errors)} from {where}"
    status = PathStatus(int(result.status))
    return Obstacle(status, text, result.limiting_joints, *errors)


def jump(chain: Chain, wish: PathWish, bounds: Bounds, q: Array, goal: Array) -> Obstacle:
    """Return why the joints (n,) cannot go smoothly from q to goal, where the path goes on."""
    moved = np.abs(goal - q) / bounds.units
    worst = int(np.argmax(moved))
    name, amount = chain.joint_names[worst], quantity(chain, worst, float(abs(goal - q)[worst]))
    ends = np.minimum(q - chain.lower, chain.upper - q) / bounds.units
    held = [i for i in range(chain.n) if ends[i] < _AT_LIMIT]
    if held:
        names = tuple(chain.joint_names[i] for i in held)
        verb = "is at its limit" if len(held) == 1 else "are at their limits"
        clause = f"{joint_list(names)} {verb}, and to go on {name} would have to jump by {amount}"
        return Obstacle(PathStatus.JOINT_LIMIT, clause, names)
    if is_singular(chain, wish, bounds, q):
        clause = f"the arm is singular there, {name} would have to move by {amount} at once"
        return Obstacle(PathStatus.SINGULARITY, clause, (name,))
    clause = f"to go on, {name} would have to jump by {amount} to another configuration"
    return Obstacle(PathStatus.BRANCH_CHANGE, clause, (name,))


def beyond(chain: Chain, q: Array) -> Obstacle | None:
    """Return which joints (n,) are outside their limits, None if none."""
    excess = np.maximum(chain.lower - q, q - chain.upper)
    out = [i for i in range(chain.n) if excess[i] > 1e-9]
    if not out:
        return None
    names = tuple(chain.joint_names[i] for i in out)
    amounts = [f"{chain.joint_names[i]} is {quantity(chain, i, excess[i])}" for i in out]
    return Obstacle(PathStatus.JOINT_LIMIT, f"{joint_list(amounts)} beyond the limit", names)


def is_singular(chain: Chain, wish: PathWish, bounds: Bounds, q: Array) -> bool:
    """Return whether the tool can hardly move in some direction that the arm has elsewhere."""
    J = chain.jacobian(q) * bounds.units
    rows = J[:3] / bounds.length
    if wish.turns():
        rows = np.vstack([rows, J[3:]])
    values = np.linalg.svd(rows, compute_uv=False)
    return bool(values[-1] < _SINGULAR * values[0])


def quantity(chain: Chain, joint: int, value: float) -> str:
    """Return the way of a joint for a person: 3.2 mm or 20 deg."""
    return f"{1e3 * value:.3g} mm" if sliding(chain)[joint] else f"{math.degrees(value):.3g} deg"
