# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Validates trajectory goals like joint_trajectory_controller, independent of the arm's position.

Every rejection is one sentence that names joint and amount. Nothing is clamped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array

from arm_hardware.calibration.axes import Axes, Axis, check_position, check_speed
from arm_hardware.errors import INVALID_JOINTS, OLD_HEADER_TIMESTAMP, CommandError

SPEED_MARGIN = 1.01  # factor on the speed limit, at points and for means between them: rounding


@dataclass(frozen=True)
class GoalPoint:
    """One point of a trajectory goal."""

    time: float  # from the trajectory's start [s]
    positions: Sequence[float]
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()
    effort: Sequence[float] = ()


@dataclass(frozen=True)
class TrajectoryGoal:
    """A trajectory goal as received."""

    joints: Sequence[str]  # names, in the order of each point's columns
    points: Sequence[GoalPoint]
    start: float | None = None  # from now [s], negative in the past; None means now


@dataclass(frozen=True)
class ValidatedGoal:
    """A goal that passed every check independent of the arm's position."""

    times: Array  # (m,) from the start of the motion [s]; past points are dropped
    positions: Array  # (m, n) as ``axes.arm``; NaN for joints omitted in a partial goal
    velocities: Array | None  # (m, n)
    accelerations: Array | None = None  # (m, n); None if points lack them or velocities


def validate_goal(
    request: TrajectoryGoal,
    axes: Axes,
    allow_partial: bool = False,
    allow_end_velocity: bool = False,
) -> ValidatedGoal:
    """Return a valid request as arrays.

    A start in the future extends the time to the first point. With ``allow_partial``, omitted
    joints stay where they are; with ``allow_end_velocity``, the last velocities need not be 0.

    Raises:
        CommandError: The goal is invalid; the error has the action's result code.
    """
    _check_names(request.joints, axes, allow_partial)
    _check_sizes(request)
    times = _check_times(request)
    columns = [axes.names.index(name) for name in request.joints]
    positions = _table(request, columns, axes, "positions", np.nan)
    velocities = accelerations = None
    if request.points[0].velocities:
        velocities = _table(request, columns, axes, "velocities", 0.0)
        if all(point.accelerations for point in request.points):
            accelerations = _table(request, columns, axes, "accelerations", 0.0)
    for i in columns:
        _check_column(axes.arm[i], positions[:, i], velocities, i, allow_end_velocity)
    start = request.start or 0.0
    times = times + start
    left = (times > 0.0) | (start >= 0.0)
    left[-1] = True
    rates = (None if table is None else table[left] for table in (velocities, accelerations))
    return ValidatedGoal(times[left], positions[left], *rates)


def single_point_goal(axes: Axes, seconds: float, positions: Sequence[float]) -> ValidatedGoal:
    """Return a goal with one point, as ``axes.arm`` [rad or m]; errors as in validate_goal()."""
    return validate_goal(TrajectoryGoal(axes.names, [GoalPoint(seconds, positions)]), axes)


def _table(
    request: TrajectoryGoal, columns: list[int], axes: Axes, what: str, filling: float
) -> Array:
    """Return the points' positions, velocities or accelerations (m, n), as ``axes.arm``."""
    table = np.full((len(request.points), len(axes.arm)), filling)
    table[:, columns] = np.array([getattr(p, what) for p in request.points], dtype=float)
    if filling == 0.0 and not np.isfinite(table).all():
        name = axes.names[int(np.argwhere(~np.isfinite(table))[0][1])]
        raise CommandError(f"{name}: one of its {what} is not a finite number.", joint=name)
    return table


def _check_names(joints: Sequence[str], axes: Axes, allow_partial: bool) -> None:
    known = ", ".join(axes.names)
    for name in joints:
        if name not in axes.names:
            raise CommandError(f"Joint '{name}' is not one of {known}.", INVALID_JOINTS, name)
        if list(joints).count(name) > 1:
            raise CommandError(f"Joint '{name}' is named twice.", INVALID_JOINTS, name)
    missing = [name for name in axes.names if name not in joints]
    if missing and not (allow_partial and joints):
        raise CommandError(
            f"Joint '{missing[0]}' is missing; a trajectory names all of {known}.",
            INVALID_JOINTS,
            missing[0],
        )


def _check_sizes(request: TrajectoryGoal) -> None:
    if not request.points:
        raise CommandError("The trajectory has no points.")
    n, with_rates = len(request.joints), bool(request.points[0].velocities)
    for k, point in enumerate(request.points):
        if point.effort:
            raise CommandError(f"Point {k} has efforts; servos take positions only.")
        if len(point.positions) != n:
            raise CommandError(f"Point {k} has {len(point.positions)} positions for {n} joints.")
        if bool(point.velocities) != with_rates:
            raise CommandError(f"Point {k} differs from point 0 in having velocities or not.")
        for what in ("velocities", "accelerations"):
            found = len(getattr(point, what))
            if found not in (0, n):
                raise CommandError(f"Point {k} has {found} {what} for {n} joints.")


def _check_times(request: TrajectoryGoal) -> Array:
    times = np.array([p.time for p in request.points], dtype=float)
    if not np.isfinite(times).all() or times[0] < 0.0:
        raise CommandError("Times from the start must be finite and not negative.")
    for k in range(1, len(times)):
        if times[k] <= times[k - 1]:
            raise CommandError(
                f"Times must increase strictly: point {k} at {times[k]:.6g} s follows one at "
                f"{times[k - 1]:.6g} s."
            )
    if request.start is not None and request.start + times[-1] < 0.0:
        late = -(request.start + float(times[-1]))
        raise CommandError(
            f"The trajectory ended {late:.3g} s ago; check its header stamp and the clocks.",
            OLD_HEADER_TIMESTAMP,
            amount=late,
        )
    return times


def _check_column(
    axis: Axis, positions: Array, velocities: Array | None, i: int, allow_end_velocity: bool
) -> None:
    """Check one joint's values at the points."""
    for k, value in enumerate(positions):
        check_position(axis, float(value), f" at point {k}")
    if velocities is None:
        return
    check_speed(axis, float(np.abs(velocities[:, i]).max()), SPEED_MARGIN, "at a point")
    last = float(velocities[-1, i])
    if last == 0.0:
        return
    if not allow_end_velocity:
        raise CommandError(
            f"{axis.name}: the last velocity is {last:.4g} {axis.unit}/s, but must be 0.",
            joint=axis.name,
            amount=last,
        )
    stop = float(positions[-1]) + 0.5 * last * abs(last) / axis.acceleration
    check_position(axis, stop, " where it can come to rest after its end")
