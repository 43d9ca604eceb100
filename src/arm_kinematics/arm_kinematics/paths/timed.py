# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""When to be where: tool paths and motions from point to point, within the joints' limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.lie import Array
from arm_kinematics.paths.reasons import beyond
from arm_kinematics.paths.result import PathResult
from arm_kinematics.timing import TimedPath, time_path


def time_result(
    result: PathResult, velocity: ArrayLike, acceleration: ArrayLike, scaling: float = 1.0
) -> TimedPath:
    """Time a tool path as fast as the limits allow, at rest at its ends and at its corners.

    Only by stopping can a corner be passed without leaving the path.

    Args:
        result: The path; an empty one gives an empty trajectory.
        velocity: Speed limits (n,), positive [rad/s or m/s].
        acceleration: Acceleration limits (n,), positive [rad/s^2 or m/s^2].
        scaling: Share of the speed limits to use, above 0 up to 1.

    Raises:
        KinematicsError: An argument makes no sense.
    """
    rows = result.positions
    if not len(rows):
        return TimedPath(np.empty(0), rows, rows)
    ends = [0, *result.stops, len(rows) - 1]
    whole = [
        time_path(rows[a : b + 1], velocity, acceleration, scaling) for a, b in pairwise(ends)
    ]
    moving = [part for part in whole if len(part.times) > 1]
    return _joined(moving) if moving else whole[0]


def point_to_point(
    chain: Chain,
    start: ArrayLike,
    goal: ArrayLike,
    scaling: float = 1.0,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> TimedPath:
    """Move all joints straight from start to goal (n,), so that they start and arrive together.

    The joint that needs longest takes the time it needs; the others keep its pace.

    Args:
        chain: The arm.
        start: Joint positions now (n,) [rad or m].
        goal: Where to go, within the limits.
        scaling: Share of the speed limits to use, above 0 up to 1.
        velocity: Speed limits (n,); None is the chain's.
        acceleration: Acceleration limits (n,); None is the chain's.

    Raises:
        KinematicsError: An argument makes no sense, or the goal is beyond a limit.
    """
    ends = [_positions(chain, start, "start"), _positions(chain, goal, "goal")]
    if obstacle := beyond(chain, ends[1]):
        raise KinematicsError(f"goal: {obstacle.clause}", what="goal", value=goal)
    fast = chain.velocity if velocity is None else velocity
    strong = chain.acceleration if acceleration is None else acceleration
    return time_path(ends, fast, strong, scaling)


def _joined(parts: list[TimedPath]) -> TimedPath:
    """Return trajectories one after the other; each begins where the one before ends."""
    times = [parts[0].times]
    for part in parts[1:]:
        times.append(part.times[1:] + times[-1][-1])
    positions = [part.positions[i > 0 :] for i, part in enumerate(parts)]
    velocities = [part.velocities[i > 0 :] for i, part in enumerate(parts)]
    return TimedPath(np.concatenate(times), np.vstack(positions), np.vstack(velocities))


def _positions(chain: Chain, q: ArrayLike, what: str) -> Array:
    row = np.asarray(q, dtype=np.float64)
    if row.shape != (chain.n,) or not np.isfinite(row).all():
        raise KinematicsError(
            f"{what}: expected {chain.n} finite numbers in the order "
            f"{', '.join(chain.joint_names)}, got {q!r}",
            what=what,
            value=q,
        )
    return row
