# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Validates trajectory goals like joint_trajectory_controller, independent of the arm's position.

Every rejection is one sentence that names joint and amount. Nothing is clamped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from arm_common.transforms import Array
from numpy.typing import NDArray

from arm_hardware.calibration.axes import (
    GOAL_TOLERANCE,
    LIMIT_TOLERANCE,
    Axes,
    Axis,
    Coupling,
    check_position,
    check_speed,
)
from arm_hardware.errors import INVALID_JOINTS, OLD_HEADER_TIMESTAMP, CommandError
from arm_hardware.motion.trajectory import constraint_error

_Rows: TypeAlias = Sequence[Sequence[float]]

# [rad/s or m/s] up to which a last velocity is rounding, as in joint_trajectory_controller
END_VELOCITY = float(np.finfo(np.float32).eps)
SHORTEST = 1e-6  # [s] of a trajectory whose first time may be rounding
ROUNDING = 1e-9  # of a time that is computed as 0, over the trajectory's duration
NANOSECOND = 1.001e-9  # [s], the unit of times in messages, with the rounding of their sum
SPEED_MARGIN = 1.01  # factor on the speed limit, at points and for means between them: rounding
GOAL_TIME = 2.0  # [s] after which a missed goal ends


class GoalPoint(NamedTuple):
    """One point of a trajectory goal."""

    time: float  # from the trajectory's start [s]
    positions: Sequence[float]
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()
    effort: Sequence[float] = ()


@dataclass(frozen=True)
class TrajectoryBounds:
    """The largest trajectory that is accepted: checking it takes time, following it memory."""

    points: int = 50_000
    duration: float = 3600.0  # from now to the last point [s]

    def check_points(self, number: int) -> None:
        """Raise CommandError for too many points."""
        if number > self.points:
            raise CommandError(
                f"The trajectory has {number} points, more than the {self.points} of "
                "max_trajectory_points; send it in parts.",
                amount=number - self.points,
            )

    def check_end(self, end: float) -> None:
        """Raise CommandError for a last point too far ahead [s]."""
        if end > self.duration:
            raise CommandError(
                f"The trajectory ends in {end:.6g} s, later than the {self.duration:g} s of "
                "max_trajectory_duration; check its times and its header stamp.",
                amount=end - self.duration,
            )


DEFAULT_BOUNDS = TrajectoryBounds()


@dataclass(frozen=True)
class TrajectoryGoal:
    """A trajectory goal as received."""

    joints: Sequence[str]  # names, in the order of each point's columns
    points: Sequence[GoalPoint]
    start: float | None = None  # from now [s], negative in the past; None means now


@dataclass(frozen=True)
class Tolerances:
    """A goal's tolerances on what servos measure, or on the command of those that do not."""

    # by joint name: largest lag behind the trajectory [rad or m]; absent: no bound
    path: Mapping[str, float] = field(default_factory=dict)
    # by joint name: largest distance from the goal at goal_time [rad or m]; the command of absent
    # joints must be at rest at the goal
    goal: Mapping[str, float] = field(default_factory=dict)
    # by joint name: largest speed at goal_time [rad/s or m/s]; absent: no bound
    stopped: Mapping[str, float] = field(default_factory=dict)
    # [s] after the trajectory's end by which the arm must have arrived; 0 for no bound
    goal_time: float = 0.0


def measured_tolerances(axes: Axes) -> Tolerances:
    """Return the tolerances of goals of an arm whose servos answer."""
    goal = {axis.name: GOAL_TOLERANCE[axis.unit] for axis in axes.arm}
    return Tolerances(goal=goal, goal_time=GOAL_TIME)


@dataclass(frozen=True)
class ValidatedGoal:
    """A goal that passed every check independent of the arm's position."""

    times: Array  # (m,) from the start of the motion [s]; past points are dropped
    positions: Array  # (m, n) as ``axes.arm``; NaN for joints omitted in a partial goal
    velocities: Array | None  # (m, n)
    accelerations: Array | None = None  # (m, n); None if points lack them or velocities

    def repeats(self, other: ValidatedGoal) -> bool:
        """Return whether it is the same goal."""
        pairs = [(getattr(self, each.name), getattr(other, each.name)) for each in fields(self)]
        return all(
            a is b is None or (a is not None and b is not None and _equal(a, b)) for a, b in pairs
        )


def _equal(a: Array, b: Array) -> bool:
    return np.array_equal(a, b, equal_nan=True)


def validate_goal(
    request: TrajectoryGoal,
    axes: Axes,
    allow_partial: bool = False,
    allow_end_velocity: bool = False,
    bounds: TrajectoryBounds = DEFAULT_BOUNDS,
) -> ValidatedGoal:
    """Return a valid request as arrays.

    A start in the future extends the time to the first point and counts towards the bound on
    duration. With ``allow_partial``, omitted joints stay where they are; with
    ``allow_end_velocity``, the last velocities need not be 0, except on an arm whose joints depend
    on each other: where it would come to rest is not on the trajectory.

    Raises:
        CommandError: The goal is invalid; the error has the action's result code.
    """
    bounds.check_points(len(request.points))
    _check_names(request.joints, axes, allow_partial)
    if not request.points:
        raise CommandError("The trajectory has no points.")
    instants, *rows = zip(*request.points, strict=True)
    _check_sizes(rows, len(request.joints))
    times = _check_times(np.array(instants, dtype=float), request.start, bounds)
    columns = [axes.names.index(name) for name in request.joints]
    positions, velocities, accelerations = _tables(rows, columns, axes)
    if velocities is not None:
        velocities[-1, np.abs(velocities[-1]) <= END_VELOCITY] = 0.0
    may_end_moving = allow_end_velocity and axes.coupling is None
    for i in columns:
        _check_column(axes.arm[i], positions[:, i], velocities, i, may_end_moving)
    if axes.coupling is not None:
        _check_constraints(axes.coupling, positions)
    start = request.start or 0.0
    times = times + start
    left = (times > 0.0) | (start >= 0.0)
    left[-1] = True
    rates = (None if table is None else table[left] for table in (velocities, accelerations))
    return ValidatedGoal(times[left], positions[left], *rates)


def _tables(
    rows: Sequence[Sequence[Sequence[float]]], columns: list[int], axes: Axes
) -> tuple[Array, Array | None, Array | None]:
    """Return positions, velocities and accelerations (k, n), None where a goal has none."""
    positions = _table(rows[0], columns, axes, "positions", np.nan)
    velocities = accelerations = None
    if len(rows[1][0]):
        velocities = _table(rows[1], columns, axes, "velocities", 0.0)
        if all(map(len, rows[2])):
            accelerations = _table(rows[2], columns, axes, "accelerations", 0.0)
    return positions, velocities, accelerations


def _check_constraints(coupling: Coupling, positions: Array) -> None:
    """Raise CommandError for a point outside of limits that depend on other joints."""
    amounts = coupling.constraints.violation(positions)  # NaN for partial goals, checked later
    for k in np.flatnonzero(amounts > LIMIT_TOLERANCE)[:1]:
        if error := constraint_error(coupling, positions[k], f" at point {k + 1}"):
            raise error


def single_point_goal(axes: Axes, seconds: float, positions: Sequence[float]) -> ValidatedGoal:
    """Return a goal with one point, as ``axes.arm`` [rad or m]; errors as in validate_goal()."""
    return validate_goal(TrajectoryGoal(axes.names, [GoalPoint(seconds, positions)]), axes)


def _table(rows: _Rows, columns: list[int], axes: Axes, what: str, filling: float) -> Array:
    """Return rows of positions, velocities or accelerations as a table (m, n), as ``axes.arm``."""
    m, n = len(rows), len(columns)
    table = np.full((m, len(axes.arm)), filling)
    values = np.fromiter(chain.from_iterable(rows), float, m * n)
    table[:, columns] = values.reshape(m, n)
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


def _check_sizes(rows: Sequence[_Rows], n: int) -> None:
    """Raise CommandError for a point whose numbers of values do not fit n joints."""
    names = ("positions", "velocities", "accelerations", "effort")
    found = {
        what: np.fromiter(map(len, column), int) for what, column in zip(names, rows, strict=True)
    }
    for what, allowed in (
        ("effort", (0,)),
        ("positions", (n,)),
        ("velocities", (0, n)),
        ("accelerations", (0, n)),
    ):
        k = _first(~np.isin(found[what], allowed))
        if k is not None and what == "effort":
            raise CommandError(f"Point {k + 1} has efforts; servos take positions only.")
        if k is not None:
            raise CommandError(f"Point {k + 1} has {found[what][k]} {what} for {n} joints.")
    with_rates = found["velocities"] > 0
    k = _first(with_rates != with_rates[0])
    if k is not None:
        raise CommandError(f"Point {k + 1} differs from point 1 in having velocities or not.")


def _first(wrong: NDArray[np.bool_]) -> int | None:
    """Return the first index at which something is wrong, None if nowhere."""
    return int(wrong.argmax()) if wrong.any() else None


def _check_times(times: Array, start: float | None, bounds: TrajectoryBounds) -> Array:
    """Return the points' times (m,) from the trajectory's start, or raise CommandError."""
    rounding = max(ROUNDING * times[-1], NANOSECOND)
    if times[-1] > SHORTEST and abs(times[0]) <= rounding < math.inf:
        times[0] = 0.0
    if not np.isfinite(times).all() or times[0] < 0.0:
        raise CommandError("Times from the start must be finite and not negative.")
    k = _first(np.diff(times) <= 0.0)
    if k is not None:
        raise CommandError(
            f"Times must increase strictly: point {k + 2} at {times[k + 1]:.6g} s follows one at "
            f"{times[k]:.6g} s."
        )
    end = float(times[-1]) + (start or 0.0)
    if start is not None and end < 0.0:
        raise CommandError(
            f"The trajectory ended {-end:.3g} s ago; check its header stamp and the clocks.",
            OLD_HEADER_TIMESTAMP,
            amount=-end,
        )
    bounds.check_end(end)
    return times


def _check_column(
    axis: Axis, positions: Array, velocities: Array | None, i: int, allow_end_velocity: bool
) -> None:
    """Check one joint's values at the points."""
    within = (axis.lower - LIMIT_TOLERANCE <= positions) & (
        positions <= axis.upper + LIMIT_TOLERANCE
    )
    for k in np.flatnonzero(~within):
        check_position(axis, float(positions[k]), f" at point {k + 1}")
    if velocities is None:
        return
    check_speed(axis, float(np.abs(velocities[:, i]).max()), SPEED_MARGIN, "at a point")
    last = float(velocities[-1, i])
    if last == 0.0:
        return
    if not allow_end_velocity:
        raise CommandError(
            f"{axis.name}: the last velocity is {last:.4g} {axis.unit}/s, but must be 0 unless "
            "the parameter allow_nonzero_velocity_at_trajectory_end is true.",
            joint=axis.name,
            amount=last,
        )
    stop = float(positions[-1]) + 0.5 * last * abs(last) / axis.acceleration
    check_position(axis, stop, " where it can come to rest after its end")
