# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Waypoints -> a tool path -> joints, from a given start or from the best of several."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.lie import Array, transform
from arm_kinematics.paths.follow import Collision, follow
from arm_kinematics.paths.reasons import Obstacle, no_solution
from arm_kinematics.paths.result import PathResult
from arm_kinematics.paths.shapes import Shape, arc, line
from arm_kinematics.paths.wish import PathWish

_STARTS = 32


def plan_path(
    chain: Chain,
    waypoints: Sequence[ArrayLike],
    start: ArrayLike | None = None,
    wish: PathWish | None = None,
    *,
    arc_via: Sequence[bool] = (),
    seed: ArrayLike | None = None,
    collision: Collision | None = None,
    timeout: float | None = None,
) -> PathResult:
    """Move the tool through waypoints on straight lines and arcs, without a jump of the joints.

    Args:
        chain: The arm.
        waypoints: Poses (4, 4) of the tip in the base frame, in this order.
        start: Joint positions (n,) now [rad or m]: the path leads from there to the first
            waypoint. None: it begins at the first waypoint, in the first of all configurations
            from which it can be done.
        wish: What of each pose counts, and how closely; None is all of it, closely.
        arc_via: For each waypoint whether it is the middle of an arc, see ``shapes``.
        seed: Without start: configurations are tried from here outwards; None is mid-range.
        collision: Says for joint positions (n,) what collides, or None.
        timeout: Time allowed for each configuration tried [s].

    Returns:
        The path as far as it goes; of several beginnings, the one that goes farthest.

    Raises:
        KinematicsError: An argument makes no sense.
    """
    wish = wish or PathWish()
    poses = [transform(T, f"waypoint {i}") for i, T in enumerate(waypoints)]
    if not poses:
        raise KinematicsError("there are no waypoints", what="waypoints")
    via = _checked(arc_via, len(poses))
    if start is not None:
        q = np.array(start, dtype=np.float64)
        path = shapes([chain.fk(q), *poses], [False, *via])
        return follow(chain, path, q, wish, collision, timeout)
    path = shapes(poses, via)
    arguments = wish.ik_arguments()
    begins = chain.ik(poses[0], seed, max_solutions=_STARTS, timeout=timeout, **arguments)
    if not begins.ok:
        return _nowhere(chain, no_solution(begins))
    best: PathResult | None = None
    for solution in begins.solutions:
        result = follow(chain, path, solution.q, wish, collision, timeout)
        if result.ok:
            return result
        if best is None or result.fraction > best.fraction:
            best = result
    assert best is not None
    return best


def shapes(poses: Sequence[Array], via: Sequence[bool]) -> list[Shape]:
    """Return the path through poses (4, 4).

    Where via is true the pose's position lies on an arc from the one before to the one after.

    Raises:
        KinematicsError: An arc lacks an end, or there is no such circle.
    """
    if via[0] or via[-1]:
        raise KinematicsError(
            "an arc has to begin and end at a waypoint: the last cannot be its middle, nor the "
            "first without a start before it",
            what="arc_via",
        )
    stations = [i for i, passed in enumerate(via) if not passed]
    path: list[Shape] = []
    for a, b in pairwise(stations):
        if b - a > 2:
            raise KinematicsError(
                f"an arc has one middle, but {b - a - 1} waypoints in a row are marked as such",
                what="arc_via",
            )
        straight = b - a == 1
        path.append(
            line(poses[a], poses[b]) if straight else arc(poses[a], poses[a + 1][:3, 3], poses[b])
        )
    return path


def _checked(arc_via: Sequence[bool], count: int) -> list[bool]:
    if len(arc_via) not in (0, count):
        raise KinematicsError(
            f"arc_via has {len(arc_via)} entries for {count} waypoints; give one each, or none",
            what="arc_via",
            value=arc_via,
        )
    return [bool(passed) for passed in arc_via] or [False] * count


def _nowhere(chain: Chain, obstacle: Obstacle) -> PathResult:
    return PathResult(
        obstacle.status,
        f"The path cannot begin at its first waypoint: {obstacle.clause}.",
        chain.joint_names,
        np.empty((0, chain.n)),
        0.0,
        limiting_joints=obstacle.joints,
        missing_distance=obstacle.position_error,
        missing_angle=obstacle.orientation_error,
    )
