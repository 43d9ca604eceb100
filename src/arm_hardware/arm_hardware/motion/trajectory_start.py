# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plans the motion from the current command through a goal's points.

To avoid overloading the supply, options limit how many servos start or move at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array

from arm_hardware.calibration.axes import (
    LIMIT_TOLERANCE,
    START_TOLERANCE,
    Axes,
    check_position,
    check_speed,
)
from arm_hardware.errors import CommandError
from arm_hardware.motion.goal_validation import SPEED_MARGIN, ValidatedGoal
from arm_hardware.motion.options import DEFAULT_MOTION, MotionOptions
from arm_hardware.motion.retiming import Timing, retime
from arm_hardware.motion.trajectory import (
    BLEND_SHARE,
    Trajectory,
    blend_corners,
    concatenate,
    first_violation,
    quintics_as_cubics,
    servo_braking_time,
    with_servos,
)

# Factor on the speed limit for a cubic's peak; the driver keeps the limit and arrives later.
PEAK_MARGIN = 1.25
YIELD_SPEED = 0.3  # share of the speed limits at which a blocked arm goes to where it was measured
YIELD_ACCELERATION = 0.5  # the same of the acceleration limits
_SAMPLES = np.linspace(0.0, 1.0, 33)[:, None]  # places on its way
_APPROACHES = 8  # to limits that depend on other joints, of which the first is exact if linear
_STEP = 1e-6  # [rad or m] of differences
MOVES = 1e-9  # [rad or m] beyond which a joint counts as moving
PAUSE = 0.05  # [s] from one group's arrival to the next one's start
STRETCHES = (1.0, 1.5, 2.25, 3.4)  # factors tried on the time to the first point of a moving arm


@dataclass(frozen=True)
class PlannedMotion:
    """A motion ready for execution."""

    goal: ValidatedGoal
    start: tuple[Array, Array]  # positions and velocities (n,) [rad or m, per second]
    requested: Trajectory  # the trajectory as requested, starting at the current command
    path: Trajectory  # the same with corners blended
    timing: Timing  # the path's own time, delayed where limits require it
    ends_moving: bool = False  # whether the final velocity is not 0
    scaling: float = 1.0  # speed scaling at which it starts

    def starts_at(self, position: Array, velocity: Array, scaling: float) -> bool:
        """Return whether the motion starts at this command; see plan_motion()."""
        return scaling == self.scaling and np.array_equal(self.start, (position, velocity))

    @property
    def duration(self) -> float:
        """Time from start to end at full speed [s]."""
        return self.timing.duration

    def samples(self, times: Array) -> Array:
        """Return the positions (k, n) [rad or m] at times (k,) from the start [s]."""
        return self.path.samples(self.timing.at(times))

    def state(self, time: float) -> tuple[Array, Array, Array]:
        """Return positions, velocities, accelerations (n,) at a time from the start [s]."""
        place = float(self.timing.at(np.array([time]))[0])
        rate, change = self.timing.rate(time)
        positions, velocities, accelerations = self.path.state(place)
        return positions, velocities * rate, accelerations * rate**2 + velocities * change

    def next_reversals(self, time: float) -> list[float | None]:
        """Return the positions [rad or m] at which the joints reverse or rest next, if any."""
        n = len(self.start[0])
        if self.ends_moving:
            return [None] * n
        place = float(self.timing.at(np.array([time]))[0])
        return [self.path.next_reversal(i, place) for i in range(n)]


@np.errstate(all="ignore")  # values beyond computation are found in the result
def plan_motion(
    plan: ValidatedGoal,
    axes: Axes,
    position: Array,
    velocity: Array,
    dt: float,
    options: MotionOptions = DEFAULT_MOTION,
    scaling: float = 1.0,
) -> PlannedMotion:
    """Return the motion from the current command through a goal's points.

    The command is position and velocity (n,) [rad or m, per second]; dt is a tick [s]. If it
    moves at a speed scaling, that and the velocity at scaling 1 are given.

    Raises:
        CommandError: A joint would have to move too fast or leave its limits between points.
    """
    acceleration = np.array([axis.acceleration for axis in axes.arm])
    resting = position + 0.5 * velocity * np.abs(velocity) / acceleration
    points = np.where(np.isnan(plan.positions), resting, plan.positions)
    _check_start(float(plan.times[0]), points[0], axes, position)
    requested = _requested(plan, points, position, velocity)
    _check_between(requested, axes, 1 if plan.times[0] > 0.0 else 0)
    _check_joints_at_once(requested.positions, plan.velocities, options.max_moving_joints)
    moving = bool(np.abs(velocity).max() > 1e-9)
    ends_moving = plan.velocities is not None and bool(np.any(plan.velocities[-1]))
    candidates = _CandidatePaths(plan, points, axes, position, velocity, options)
    path, timing = _first_feasible(candidates, dt, moving, ends_moving)
    _check_path(path, timing, axes, plan.accelerations is not None)
    start = position, velocity
    motion = PlannedMotion(plan, start, requested, path, timing, ends_moving, scaling)
    motion.next_reversals(0.0)  # evaluates what a tick needs, as this takes time
    requested.sample(0.0)
    return motion


def plan_yield(
    axes: Axes, position: Array, measured: Array, dt: float, scaling: float = 1.0
) -> PlannedMotion:
    """Return a slow motion of a resting arm towards where it was measured, within limits.

    It never fails, and is quick enough for a tick.

    Args:
        axes: The arm.
        position: Commanded, (n,) [rad or m].
        measured: The same as measured.
        dt: A tick [s].
        scaling: Speed scaling at which it starts.
    """
    way = position + _SAMPLES * (_nearest_inside(axes, position, measured) - position)
    limits, rows = axes.arm, way
    if axes.coupling is not None:
        amounts = axes.coupling.constraints.violation(way)
        inside = amounts <= max(float(amounts[0]), 0.0) + LIMIT_TOLERANCE
        last = way[-1] if inside.all() else way[int(inside.argmin()) - 1]
        way = position + _SAMPLES * (last - position)
        limits = (*axes.arm, *axes.coupling.actuators)
        rows = np.hstack([way, axes.coupling.drivetrain.to_actuators(way)])
    # By a cubic from rest to rest, the place s on the way has s' <= 1.5 / T and s'' <= 6 / T^2.
    step = float(_SAMPLES[1, 0])
    slope = np.abs(np.diff(rows, axis=0)).max(axis=0) / step
    bend = np.abs(np.diff(rows, 2, axis=0)).max(axis=0) / step**2
    speed = YIELD_SPEED * np.array([axis.velocity for axis in limits])
    acceleration = YIELD_ACCELERATION * np.array([axis.acceleration for axis in limits])
    least = max(
        float((1.5 * slope / speed).max()),
        float(np.sqrt((6.0 * slope + 2.25 * bend) / acceleration).max()),
    )
    times = np.array([0.0, max(least, 5.0 * dt)])
    path = Trajectory(times, way[[0, -1]], np.zeros((2, len(position))))
    goal = ValidatedGoal(times[1:], way[-1:], None)
    start = (position, np.zeros_like(position))
    return PlannedMotion(
        goal, start, path, path, Timing(times, times, np.ones(2)), scaling=scaling
    )


def _nearest_inside(axes: Axes, position: Array, measured: Array) -> Array:
    """Return where a blocked arm no longer pushes: as measured (n,), but within limits.

    The farther a joint is from its command, the less it is moved, as it is what is blocked.
    """
    lower = np.array([axis.lower for axis in axes.arm])
    upper = np.array([axis.upper for axis in axes.arm])
    place = np.clip(measured, lower, upper)
    if axes.coupling is None or not axes.coupling.constraints:
        return place
    ease = 1.0 / (np.square(measured - position) + _STEP)
    around = _STEP * np.vstack([np.zeros_like(place), np.eye(len(place))])
    for _ in range(_APPROACHES):
        amount, *steps = axes.coupling.constraints.violation(place + around)
        gradient = (np.array(steps) - amount) / _STEP
        if amount <= 0.0 or not gradient.any():
            break
        move = ease * gradient
        place = np.clip(place - amount * move / (gradient @ move), lower, upper)
    return place


@dataclass(frozen=True)
class _CandidatePaths:
    """Possible paths from the current command through the points."""

    plan: ValidatedGoal
    points: Array
    axes: Axes
    position: Array
    velocity: Array
    options: MotionOptions

    def paths(self) -> Iterator[Trajectory]:
        """Yield paths for a moving arm: blended over growing times, then braking first."""
        if not (self.options.limits_current and len(self.points) == 1):
            for stretch in STRETCHES:
                yield self.direct(stretch)
        yield self.braked()

    def direct(self, stretch: float) -> Trajectory:
        """Return the path with the time to the first point stretched."""
        return self._through(stretch, self.position, self.velocity)

    def braked(self) -> Trajectory:
        """Return the path that first comes to rest."""
        most = BLEND_SHARE * np.array([axis.acceleration for axis in self.axes.arm])
        took = max(
            float((np.abs(self.velocity) / most).max()),
            servo_braking_time(self.axes, self.position, self.velocity, BLEND_SHARE),
        )
        stop = self.position + 0.5 * took * self.velocity
        rest = np.zeros_like(self.velocity)
        brake = Trajectory(
            np.array([0.0, took]),
            np.vstack([self.position, stop]),
            np.vstack([self.velocity, rest]),
        )
        return concatenate(brake, self._through(1.0, stop, rest))

    def _through(self, stretch: float, position: Array, velocity: Array) -> Trajectory:
        times, points = self.plan.times, self.points
        rates, bends = self.plan.velocities, self.plan.accelerations
        if times[0] > 0.0:
            times = np.concatenate([[0.0], times + (stretch - 1.0) * times[0]])
        elif len(times) > 1:
            points = points[1:]
        else:
            times = np.array([0.0, 1e-3])
        points = np.vstack([position, points])
        missing = len(points) - len(self.points)
        if self.options.limits_current and len(points) == 2 and not np.any(velocity):
            return _staggered(times, points, self.options)
        if rates is None:
            return blend_corners(
                times, points, velocity if np.any(velocity) else None, self.axes.arm
            )
        rates = np.vstack([velocity, rates[1 - missing :]])
        if bends is None:
            return Trajectory(times, points, rates)
        bends = np.vstack([np.zeros_like(velocity), bends[1 - missing :]])
        return quintics_as_cubics(times, points, rates, bends)


def _first_feasible(
    candidates: _CandidatePaths, dt: float, moving: bool, ends_moving: bool
) -> tuple[Trajectory, Timing]:
    """Return the first path within all limits, else the last, and its timing; dt is a tick [s].

    Raises:
        CommandError: The last one is not within those of joints that depend on each other.
    """
    axes = candidates.axes
    for path in candidates.paths() if moving else (candidates.direct(1.0),):
        timing = retime(*with_servos(path, axes), dt, moving, ends_moving)
        if not moving or (timing.feasible and _keeps_limits(path, axes, dt)):
            break
    if axes.coupling is not None and (error := first_violation(path, axes.coupling, dt)):
        raise error
    if axes.coupling is not None and moving and not timing.feasible:
        raise CommandError(
            "The servos cannot leave the present motion for this trajectory within their limits; "
            "wait until the arm rests, or cancel the motion."
        )
    return path, timing


def _requested(plan: ValidatedGoal, points: Array, position: Array, velocity: Array) -> Trajectory:
    """Return the requested trajectory, starting at the current command."""
    times, rates = plan.times, plan.velocities
    if times[0] > 0.0:
        times = np.concatenate([[0.0], times])
        points = np.vstack([position, points])
        rates = None if rates is None else np.vstack([velocity, rates])
    return Trajectory(times, points, rates)


def _keeps_limits(path: Trajectory, axes: Axes, dt: float) -> bool:
    """Return whether a path keeps the position limits at and between its points."""
    low, high = path.extremes()
    if axes.coupling is not None and first_violation(path, axes.coupling, dt) is not None:
        return False
    return all(
        axis.lower - LIMIT_TOLERANCE <= a and b <= axis.upper + LIMIT_TOLERANCE
        for axis, a, b in zip(axes.arm, low, high, strict=True)
    )


def _check_path(path: Trajectory, timing: Timing, axes: Axes, curved: bool) -> None:
    """Raise CommandError for a path that cannot be computed or, if curved, leaves the limits."""
    if not all(np.isfinite(part).all() for part in (path.positions, *timing[:3])):
        raise CommandError(
            "The trajectory cannot be followed: its times are too close or its values too large."
        )
    for axis, low, high in zip(axes.arm, *path.extremes(), strict=True) if curved else ():
        check_position(axis, float(low), " between points, with the given accelerations")
        check_position(axis, float(high), " between points, with the given accelerations")


def _check_start(time: float, first: Array, axes: Axes, position: Array) -> None:
    """Raise CommandError for a first point that the arm cannot reach in time."""
    for axis, target, now in zip(axes.arm, first, position, strict=True):
        distance = abs(float(target) - float(now))
        excess = max(0.0, distance - START_TOLERANCE[axis.unit])
        if excess > 0.0 and time <= 0.0:
            raise CommandError(
                f"{axis.name}: the first point is {axis.text(distance)} from the present "
                "command and leaves no time to get there; start from where the arm is.",
                joint=axis.name,
                amount=distance,
            )
        if excess > 0.0:
            check_speed(axis, excess / time, SPEED_MARGIN, "to the first point")


def _check_between(requested: Trajectory, axes: Axes, first: int) -> None:
    """Raise CommandError for speeds or positions beyond limits from segment ``first`` on."""
    if len(requested.times) - first < 2:
        return
    low, high = requested.extremes(first)
    peak, mean = requested.peak_speeds[first:], requested.mean_speeds()[first:]
    for i, axis in enumerate(axes.arm):
        check_position(axis, float(low[i]), " between points")
        check_position(axis, float(high[i]), " between points")
        k = int(np.argmax(mean[:, i]))
        check_speed(axis, float(mean[k, i]), SPEED_MARGIN, f"on the way to point {k + 2}")
        check_speed(axis, float(peak[:, i].max()), PEAK_MARGIN, "between two points")


def _check_joints_at_once(points: Array, rates: Array | None, most: int) -> None:
    """Raise CommandError if points (m, n) [rad or m] with velocities move too many joints.

    A motion to a single point is divided instead, by _staggered().
    """
    if most <= 0 or len(points) <= 2:
        return
    moves = np.abs(np.diff(points, axis=0)) > MOVES
    if rates is not None:
        moves |= np.abs(rates[-len(moves) :]) > MOVES
    number = moves.sum(axis=1)
    k = int(np.argmax(number > most))
    if number[k] > most:
        raise CommandError(
            f"The way to point {k + 1} moves {number[k]} joints at once, more than the "
            f"{most} of max_moving_joints; move fewer, or send one point at a time."
        )


def _staggered(times: Array, points: Array, options: MotionOptions) -> Trajectory:
    """Return a motion from rest to rest between two points (2, n) at two times [s], the first 0.

    Joints move in groups, each joint once and smoothly: the n-th of a group starts n times
    ``stagger`` after the first one, and a group arrives together; after a pause the next group
    starts.
    """
    offset = points[1] - points[0]
    movers = np.flatnonzero(np.abs(offset) > MOVES)
    size = options.max_moving_joints or max(1, len(movers))
    groups = max(1, -(-len(movers) // size))
    place = np.arange(len(movers))
    span = max(float(times[1]) / groups, 2.0 * options.stagger * size, 2.0 * PAUSE)
    last = span * groups - PAUSE * (groups > 1)
    starts, ends = np.zeros(len(offset)), np.full(len(offset), last)
    starts[movers] = span * (place // size) + options.stagger * (place % size)
    ends[movers] = span * (place // size + 1) - PAUSE * (groups > 1)
    t = np.unique(np.concatenate([[0.0, last], starts, ends]))
    s = np.clip((t[:, None] - starts) / (ends - starts), 0.0, 1.0)
    return Trajectory(
        t,
        points[0] + offset * s * s * (3.0 - 2.0 * s),
        offset * 6.0 * s * (1.0 - s) / (ends - starts),
    )
