# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Waypoints -> a tool path -> joint positions, from a given start or from the best of several.

Samples are as dense as needed, each solved from the one before. The step is halved where the
joints move too far or the tool would leave the path between two samples, down to a smallest one:
what still fails there does not depend on density. A jump to another branch stays a jump however
short the step of the tool is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkResult
from arm_kinematics.paths.options import PathOptions
from arm_kinematics.paths.result import (
    PathFailure,
    PathResult,
    PathStatus,
    jump,
    limit_failure,
    no_solution,
)
from arm_kinematics.paths.shapes import PathShape, arc, line

Collision = Callable[[Array], str | None]
"""Says for joint positions (n,) what collides, or None."""

MOST_SAMPLES = 100_000
_SHORTEST = 2.0**-12  # of the largest step
_CORNER = 0.03  # directions that differ by more [rad] make a corner


class _Sample(NamedTuple):
    """Joint positions (n,) at a share of a shape; distance [m] and angle [rad] from it."""

    share: float
    q: Array
    distance: float
    angle: float


def follow(
    chain: Chain,
    shapes: Sequence[PathShape],
    start: Array,
    options: PathOptions,
    collision: Collision | None = None,
    timeout: float | None = None,
) -> PathResult:
    """Return the joint path along shapes, each of which starts where the one before ends.

    The joint positions start (n,) [rad or m] hold the tool at the beginning; the timeout is in
    seconds.

    Raises:
        KinematicsError: An argument makes no sense.
    """
    return _CartesianPathFollower(chain, shapes, options, collision, timeout).run(start)


class _CartesianPathFollower:
    """One walk along a path."""

    def __init__(
        self,
        chain: Chain,
        shapes: Sequence[PathShape],
        options: PathOptions,
        collision: Collision | None,
        timeout: float | None,
    ) -> None:
        self._chain, self._options, self._collision = chain, options, collision
        self._bounds = options.bounds(chain)
        sized = [(shape, self._size(shape)) for shape in shapes]
        self._pieces = [(shape, size) for shape, size in sized if size > 1e-9]
        self._whole = math.fsum(size for _, size in self._pieces)
        if not self._whole < MOST_SAMPLES:
            raise KinematicsError(
                f"the path needs {self._whole:.3g} samples, at most {MOST_SAMPLES} are computed; "
                "allow a larger step, or plan it in parts",
                what="max_step",
            )
        self._arguments = options.ik_arguments()
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._rows: list[Array] = []
        self._stops: list[int] = []
        self._errors = (0.0, 0.0)

    def run(self, start: Array) -> PathResult:
        """Walk as far as it goes."""
        q = np.array(start, dtype=np.float64)
        failure = limit_failure(self._chain, q) or self._colliding(q)
        self._rows.append(q)
        done = 0.0
        for i, (shape, size) in enumerate(self._pieces):
            if failure is not None:
                break
            if i > 0:
                turn = self._direction(self._pieces[i - 1][0], 1.0) - self._direction(shape, 0.0)
                if np.linalg.norm(turn) > _CORNER:
                    self._stops.append(len(self._rows) - 1)
            share, failure = self._along(shape, size)
            done += share * size
        return self._result(failure, done)

    def _along(self, shape: PathShape, size: float) -> tuple[float, PathFailure | None]:
        """Walk along one shape; return the share of it that was done and what stopped it."""
        here = self._sample(0.0, shape.pose(0.0), self._rows[-1])
        longest = step = 1.0 / math.ceil(size - 1e-9)
        while here.share < 1.0 - 1e-12:
            left = 1.0 - here.share
            there = here.share + left / math.ceil(left / step - 1e-9)
            if self._deadline is not None and time.monotonic() > self._deadline:
                return here.share, PathFailure(PathStatus.TIMEOUT, "the time ran out")
            found = self._step(shape, here, there)
            if isinstance(found, _Sample):
                here = found
                self._rows.append(found.q)
                distance, angle = self._errors
                self._errors = max(distance, found.distance), max(angle, found.angle)
                step = min(2.0 * step, longest)
                continue
            step = 0.5 * (there - here.share)
            if step < _SHORTEST * longest:
                return here.share, self._reason(shape, found, here.q)
        return 1.0, None

    def _step(
        self, shape: PathShape, here: _Sample, share: float
    ) -> _Sample | IkResult | PathFailure | Array:
        """Return the sample at a share, or what is in the way, or where a jump would lead."""
        wanted = shape.pose(share)
        result = self._chain.ik(wanted, here.q, **self._arguments)
        if not result.ok:
            return result
        q = result.q
        there = self._sample(share, wanted, q)
        if (np.abs(q - here.q) > self._bounds.joint_step * self._bounds.units).any():
            return q
        half = 0.5 * (here.share + share)
        middle = self._sample(half, shape.pose(half), 0.5 * (here.q + q))
        if (
            middle.distance > max(here.distance, there.distance) + self._bounds.deviation
            or middle.angle > max(here.angle, there.angle) + self._bounds.tilt
        ):
            return q
        return self._colliding(q) or there

    def _sample(self, share: float, wanted: Array, q: Array) -> _Sample:
        return _Sample(share, q, *self._options.error(wanted, self._chain.fk(q)))

    def _reason(
        self, shape: PathShape, found: IkResult | PathFailure | Array, q: Array
    ) -> PathFailure:
        if isinstance(found, PathFailure):
            return found
        if isinstance(found, IkResult):
            return no_solution(found, self._chain.ik(shape.goal, q, **self._arguments))
        return jump(self._chain, self._options, self._bounds, q, found)

    def _colliding(self, q: Array) -> PathFailure | None:
        what = None if self._collision is None else self._collision(q)
        return None if what is None else PathFailure(PathStatus.COLLISION, f"collision: {what}")

    def _size(self, shape: PathShape) -> float:
        """Return the length of a shape in largest steps."""
        turns = shape.angle / self._bounds.turn if self._options.turns() else 0.0
        return max(shape.length / self._bounds.step, turns)

    def _direction(self, shape: PathShape, share: float) -> Array:
        twist = shape.velocity(share)
        twist[:3] /= self._bounds.step
        twist[3:] *= self._options.turns() / self._bounds.turn
        return np.asarray(twist / np.linalg.norm(twist))

    def _result(self, failure: PathFailure | None, done: float) -> PathResult:
        rows = np.array(self._rows)
        rows.setflags(write=False)
        common = (self._chain.joint_names, rows)
        stops = tuple(i for i in self._stops if 0 < i < len(rows) - 1)
        if failure is None:
            message = f"The path is complete: {len(rows)} points."
            return PathResult(PathStatus.SUCCESS, message, *common, 1.0, stops, (), *self._errors)
        share = min(done / self._whole, 1.0) if self._whole else 0.0
        x, y, z = self._chain.fk(rows[-1])[:3, 3]
        message = (
            f"The path ends after {100.0 * share:.3g} % of its length, at ({x:.4g}, {y:.4g}, "
            f"{z:.4g}) m: {failure.clause}."
        )
        errors = *self._errors, failure.position_error, failure.orientation_error
        return PathResult(failure.status, message, *common, share, stops, failure.joints, *errors)


_STARTS = 32


def plan_path(
    chain: Chain,
    waypoints: Sequence[ArrayLike],
    start: ArrayLike | None = None,
    options: PathOptions | None = None,
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
        options: What of each pose counts, and how closely; None is all of it, closely.
        arc_via: For each waypoint whether its position is the middle of an arc from the one before
            to the one after; empty if none is.
        seed: Without start: configurations are tried from here outwards; None is mid-range.
        collision: Says for joint positions (n,) what collides, or None.
        timeout: Time allowed for each configuration tried [s].

    Returns:
        The path as far as it goes; of several beginnings, the one that goes farthest.

    Raises:
        KinematicsError: An argument makes no sense.
    """
    options = options or PathOptions()
    poses = [rigid_transform(T, f"waypoint {i}") for i, T in enumerate(waypoints)]
    if not poses:
        raise KinematicsError("there are no waypoints", what="waypoints")
    via = list(arc_via) or [False] * len(poses)
    if len(via) != len(poses):
        raise KinematicsError(
            f"arc_via has {len(via)} entries for {len(poses)} waypoints; give one each, or none",
            what="arc_via",
            value=arc_via,
        )
    if start is not None:
        q = np.array(start, dtype=np.float64)
        path = _shapes([chain.fk(q), *poses], [False, *via])
        return follow(chain, path, q, options, collision, timeout)
    path = _shapes(poses, via)
    arguments = options.ik_arguments()
    begins = chain.ik(poses[0], seed, max_solutions=_STARTS, timeout=timeout, **arguments)
    if not begins.ok:
        status, clause, joints, *missing = no_solution(begins)
        message = f"The path cannot begin at its first waypoint: {clause}."
        rows, errors = np.empty((0, chain.n)), (0.0, 0.0, *missing)
        return PathResult(status, message, chain.joint_names, rows, 0.0, (), joints, *errors)
    results: list[PathResult] = []
    for solution in begins.solutions:
        results.append(follow(chain, path, solution.q, options, collision, timeout))
        if results[-1].ok:
            return results[-1]
    return max(results, key=lambda result: result.fraction)


def _shapes(poses: Sequence[Array], via: Sequence[bool]) -> list[PathShape]:
    """Return the path through poses (4, 4).

    Where via is true the pose's position lies on an arc from the one before to the one after.
    """
    if via[0] or via[-1]:
        raise KinematicsError(
            "an arc has to begin and end at a waypoint: the last cannot be its middle, nor the "
            "first without a start before it",
            what="arc_via",
        )
    stations = [i for i, passed in enumerate(via) if not passed]
    path: list[PathShape] = []
    for a, b in pairwise(stations):
        if b - a > 2:
            raise KinematicsError(
                f"an arc has one middle, but {b - a - 1} waypoints in a row are marked as such",
                what="arc_via",
            )
        if b - a == 1:
            path.append(line(poses[a], poses[b]))
        else:
            path.append(arc(poses[a], poses[a + 1][:3, 3], poses[b]))
    return path
