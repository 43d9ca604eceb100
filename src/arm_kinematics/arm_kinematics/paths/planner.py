# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Planner of Cartesian paths: joint positions along waypoints, from a given or the best start.

Samples are as dense as needed, each solved from the one before. The step is halved where the
joints move too far or the tool would leave the path between two samples, down to a smallest one:
a failure there does not depend on the density. A jump to another branch stays a jump however
short the step of the tool is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkResult
from arm_kinematics.paths.cartesian_path import (
    AT_ONCE,
    PathFailure,
    PathOptions,
    PathResult,
    PathStatus,
    jump,
    limit_failure,
    no_solution,
)
from arm_kinematics.paths.shapes import PathShape, arc, line

Collision = Callable[[Array], str | None]
"""Function of joint positions (n,) that returns what collides, or None."""

MAX_SAMPLES = 100_000
_MIN_STEP = 2.0**-12  # share of the largest step
_CORNER = 0.03  # directions that differ by more [rad] make a corner
_STARTS = 32
_DESCENTS = 3  # until a posture is as accurate as it gets, at most
_SAME = 1e-3  # postures that differ by less in every joint are the same [rad or m]


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
    """Return the joint path along consecutive shapes.

    The joint positions start (n,) [rad or m] place the tool at the beginning; the timeout is in
    seconds.

    Raises:
        KinematicsError: An argument is invalid.
    """
    return _CartesianPathFollower(chain, shapes, options, collision, timeout).run(start)


class _CartesianPathFollower:
    """Follower of one path."""

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
        self._joint_steps = self._bounds.joint_step * self._bounds.units
        sized = [(shape, self._size(shape)) for shape in shapes]
        self._pieces = [(shape, size) for shape, size in sized if size > 1e-9]
        self._total = math.fsum(size for _, size in self._pieces)
        if not self._total < MAX_SAMPLES:
            raise KinematicsError(
                f"the path needs {self._total:.3g} samples, at most {MAX_SAMPLES} are allowed; "
                "allow a larger step, or plan it in parts",
                what="max_step",
            )
        # The path goes on with the first of these that allow it: wider ones change nothing then.
        self._tolerances = options.narrowed()
        self._widened = options.widened().ik_arguments()
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._rows: list[Array] = []
        self._progress: list[float] = []  # of each row, in units of the largest step
        self._stops: list[int] = []
        self._errors = (0.0, 0.0)

    def run(self, start: Array) -> PathResult:
        """Follow the path as far as possible."""
        q = np.array(start, dtype=np.float64)
        failure = limit_failure(self._chain, q) or self._collision_failure(q)
        self._rows.append(q)
        self._progress.append(0.0)
        done = 0.0
        for i, (shape, size) in enumerate(self._pieces):
            if failure is not None:
                break
            if i > 0:
                turn = self._direction(self._pieces[i - 1][0], 1.0) - self._direction(shape, 0.0)
                if np.linalg.norm(turn) > _CORNER:
                    self._stops.append(len(self._rows) - 1)
            share, failure = self._follow_shape(shape, size, done)
            done += share * size
        return self._result(failure, done)

    def _follow_shape(
        self, shape: PathShape, size: float, done: float
    ) -> tuple[float, PathFailure | None]:
        """Follow one shape after a done part; return the completed share and any failure."""
        last = self._sample(0.0, shape.pose(0.0), self._rows[-1])
        longest = step = 1.0 / math.ceil(size - 1e-9)
        timeout: float | None = AT_ONCE
        while last.share < 1.0 - 1e-12:
            left = 1.0 - last.share
            share = last.share + left / math.ceil(left / step - 1e-9)
            if self._deadline is not None and time.monotonic() > self._deadline:
                return last.share, PathFailure(PathStatus.TIMEOUT, "time ran out")
            found = self._step(shape, last, share, timeout)
            if isinstance(found, _Sample):
                last = found
                self._rows.append(found.q)
                self._progress.append(done + found.share * size)
                distance, angle = self._errors
                self._errors = max(distance, found.distance), max(angle, found.angle)
                step = min(2.0 * step, longest)
                continue
            is_short = 0.5 * (share - last.share) < _MIN_STEP * longest
            if len(self._tolerances) > 1 and (is_short or isinstance(found, IkResult)):
                del self._tolerances[0]
                self._skip_tolerances(shape.pose(share), last.q)
                step = longest
            elif not is_short:
                step = 0.5 * (share - last.share)
            elif timeout is not None:
                timeout = None  # search longer before the path ends here
            else:
                return last.share, self._failure(shape, found, last.q)
        return 1.0, None

    def _skip_tolerances(self, target: Array, q: Array) -> None:
        """Skip those that are narrower than the error of a descent from q (n,) to the target."""
        if len(self._tolerances) == 1:
            return
        result = self._chain.ik(target, q, timeout=AT_ONCE, **self._widened)
        error = result.position_error, result.orientation_error
        while len(self._tolerances) > 1 and not (result.ok and self._tolerances[0].admits(*error)):
            del self._tolerances[0]

    def _step(
        self, shape: PathShape, last: _Sample, share: float, timeout: float | None
    ) -> _Sample | IkResult | PathFailure | Array:
        """Return the sample at a share, or a failure, or joint positions (n,) after a jump."""
        target = shape.pose(share)
        result = self._chain.ik(
            target, last.q, timeout=timeout, **self._tolerances[0].ik_arguments()
        )
        if not result.ok:
            return result
        q = result.q
        sample = self._sample(share, target, q)
        if (np.abs(q - last.q) > self._joint_steps).any():
            return q
        half = 0.5 * (last.share + share)
        middle = self._sample(half, shape.pose(half), 0.5 * (last.q + q))
        if (
            middle.distance > max(last.distance, sample.distance) + self._bounds.deviation
            or middle.angle > max(last.angle, sample.angle) + self._bounds.tilt
        ):
            return q
        return self._collision_failure(q) or sample

    def _sample(self, share: float, target: Array, q: Array) -> _Sample:
        return _Sample(share, q, *self._options.error(target, self._chain.fk(q)))

    def _failure(
        self, shape: PathShape, found: IkResult | PathFailure | Array, q: Array
    ) -> PathFailure:
        if isinstance(found, PathFailure):
            return found
        if isinstance(found, IkResult):
            return no_solution(
                found, self._chain.ik(shape.goal, q, **self._options.ik_arguments())
            )
        return jump(self._chain, self._options, self._bounds, q, found)

    def _collision_failure(self, q: Array) -> PathFailure | None:
        what = None if self._collision is None else self._collision(q)
        return None if what is None else PathFailure(PathStatus.COLLISION, f"collision: {what}")

    def _size(self, shape: PathShape) -> float:
        """Return the length of a shape in units of the largest step."""
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
        progress = np.array(self._progress) / (self._total or 1.0)
        stops = tuple(i for i in self._stops if 0 < i < len(rows) - 1)
        share, status, missing = 1.0, PathStatus.SUCCESS, (0.0, 0.0)
        message = f"The path is complete: {len(rows)} points."
        if failure is not None:
            share = min(done / self._total, 1.0) if self._total else 0.0
            status, missing = failure.status, (failure.position_error, failure.orientation_error)
            x, y, z = self._chain.fk(rows[-1])[:3, 3]
            message = (
                f"The path ends after {100.0 * share:.3g} % of its length, at ({x:.4g}, {y:.4g}, "
                f"{z:.4g}) m: {failure.clause}."
            )
        joints, names = failure.joints if failure else (), self._chain.joint_names
        errors = *self._errors, *missing
        return PathResult(status, message, names, rows, share, stops, joints, *errors, progress)


def path_starts(
    chain: Chain,
    T: Array,
    seed: ArrayLike | None,
    options: PathOptions,
    count: int,
    timeout: float | None = None,
) -> Iterator[IkResult]:
    """Yield postures with the tool at a pose (4, 4), of each tolerance the nearest to the seed.

    Those of narrower tolerances come first, up to a count of each, so that a wider tolerance only
    adds some. From a posture that is only just within a wide one, the first step would be a leap.

    Args:
        chain: The arm.
        T: The pose of the tip in the base frame.
        seed: Joint positions (n,) [rad or m]; None is mid-range.
        options: Components that count, and tolerances.
        count: Of postures at one tolerance, at most.
        timeout: Time limit of the search at the widest tolerance [s].

    Yields:
        A result with one solution each; if there are none, one result with the reason.

    Raises:
        KinematicsError: An argument is invalid.
    """
    postures: list[Array] = []
    tolerances = options.narrowed()
    for each in tolerances:
        arguments = each.ik_arguments()
        limit = timeout if each is tolerances[-1] else AT_ONCE
        result = chain.ik(T, seed, max_solutions=count, timeout=limit, **arguments)
        for q in result.every_q if result.ok else ():
            settled = _settled(chain, T, q, arguments)
            if settled.ok and not any(_are_same(settled.q, other) for other in postures):
                postures.append(settled.q)
                yield settled
    if not postures:
        yield result


def _settled(chain: Chain, T: Array, q: Array, arguments: Mapping[str, Any]) -> IkResult:
    """Return the result of descents from joint positions (n,) until they lead no farther."""
    result = chain.ik(T, q, **arguments)
    for _ in range(_DESCENTS):
        if _are_same(result.q, q):
            break
        q, result = result.q, chain.ik(T, result.q, **arguments)
    return result


def _are_same(q: Array, other: Array) -> bool:
    return bool(np.abs(q - other).max() < _SAME)


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
    """Move the tool through waypoints on straight lines and arcs, without joint jumps.

    Args:
        chain: The arm.
        waypoints: Poses (4, 4) of the tip in the base frame, in order.
        start: Current joint positions (n,) [rad or m]: the path leads from there to the first
            waypoint. None: it begins at the first waypoint, in the first configuration from which
            the path can be completed.
        options: Components of each pose that count, and tolerances; None is the full pose.
        arc_via: For each waypoint whether its position is the middle of an arc from the one before
            to the one after; empty if none is.
        seed: Without start: of equally accurate configurations the nearest to here are tried
            first; None is mid-range.
        collision: Returns what collides at joint positions (n,), or None.
        timeout: Time limit for each configuration tried [s].

    Returns:
        The path as far as it goes; of several starts, the one that goes farthest.

    Raises:
        KinematicsError: An argument is invalid.
    """
    options = options or PathOptions()
    poses = [rigid_transform(T, f"waypoint {i}") for i, T in enumerate(waypoints, 1)]
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
    results: list[PathResult] = []
    for begin in path_starts(chain, poses[0], seed, options, _STARTS, timeout):
        if not begin.ok:
            return _without_start(chain, begin)
        results.append(follow(chain, path, begin.q, options, collision, timeout))
        if results[-1].ok:
            return results[-1]
    return max(results, key=lambda result: result.fraction)


def _without_start(chain: Chain, begin: IkResult) -> PathResult:
    status, clause, joints, *missing = no_solution(begin)
    return PathResult(
        status,
        f"The path cannot start at its first waypoint: {clause}.",
        chain.joint_names,
        np.empty((0, chain.n)),
        0.0,
        limiting_joints=joints,
        missing_distance=missing[0],
        missing_angle=missing[1],
    )


def _shapes(poses: Sequence[Array], via: Sequence[bool]) -> list[PathShape]:
    """Return the path through poses (4, 4).

    Where via is true, the position lies on an arc from the pose before to the pose after.
    """
    if via[0] or via[-1]:
        raise KinematicsError(
            "an arc must begin and end at a waypoint: the last one cannot be its middle, nor the "
            "first one without a start before it",
            what="arc_via",
        )
    ends = [i for i, is_middle in enumerate(via) if not is_middle]
    path: list[PathShape] = []
    for a, b in pairwise(ends):
        if b - a > 2:
            raise KinematicsError(
                f"an arc has one middle, but {b - a - 1} consecutive waypoints are marked as such",
                what="arc_via",
            )
        if b - a == 1:
            path.append(line(poses[a], poses[b]))
        else:
            path.append(arc(poses[a], poses[a + 1][:3, 3], poses[b]))
    return path
