# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/trajectories/test_files.py
"""Joint trajectories within the limits of a robot, made from the points of a file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from arm_common.files.access import shipped_files
from arm_common.suggestions import did_you_mean, program
from arm_common.transforms import Matrix, Vector

from arm_description.errors import DescriptionError
from arm_description.model.constraints import SLACK
from arm_description.model.units import SHOWN, SI
from arm_description.robot_file.robot_keys import GRIPPER_KEY
from arm_description.robot_model import RobotModel, read_only

ENDINGS = (".csv", ".yaml", ".yml", ".txt")  # of files of the joints
_ROUNDING = 1e-9  # of a first time that is computed as 0, over the duration


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Joint positions over time, linear between the points. Immutable.

    Raises:
        DescriptionError: the shapes do not match, a number is not finite, or the times do not
            increase.
    """

    names: tuple[str, ...]  # names of the n joints
    times: Vector  # (m,) strictly increasing from 0, read-only [s]
    positions: Vector  # (m, n) read-only [rad or m]

    def __post_init__(self) -> None:
        times = np.array(self.times, dtype=float)
        if times.size > 1 and abs(times.flat[0]) <= _ROUNDING * times.flat[-1]:
            times.flat[0] = 0.0
        object.__setattr__(self, "times", read_only(times))
        object.__setattr__(self, "positions", read_only(self.positions))
        m, n = len(self.times), len(self.names)
        if m == 0 or self.times.shape != (m,) or self.positions.shape != (m, n):
            raise DescriptionError(
                f"a trajectory of {n} joints needs times (m,) and positions (m, {n}), "
                f"not {self.times.shape} and {self.positions.shape}"
            )
        if not np.isfinite(self.times).all() or not np.isfinite(self.positions).all():
            raise DescriptionError("a trajectory needs finite times and positions")
        if self.times[0] != 0.0 or not (np.diff(self.times) > 0.0).all():
            raise DescriptionError("the times of a trajectory must increase from 0")

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def reversed(self) -> JointTrajectory:
        """Return the trajectory in reverse, at the same speed."""
        times = self.times[-1] - self.times[::-1]
        return JointTrajectory(self.names, times, self.positions[::-1])

    def stretched(self, factor: float) -> JointTrajectory:
        """Return the trajectory with all times multiplied by a factor."""
        return JointTrajectory(self.names, self.times * factor, self.positions)


# What of a pose is specified: "position_axis" leaves the roll about the tool's z free. The names
# are those of the modes of inverse kinematics.
Specified: TypeAlias = Literal["pose", "position_axis", "position"]


@dataclass(frozen=True, eq=False)
class ToolTrajectory:
    """Poses of the tool over time or arc length; straight between the points. Immutable."""

    poses: Vector  # (m, 4, 4) frame <- tool0, read-only [m]
    times: Vector | None  # (m,) strictly increasing from 0 [s], None if the file has arc lengths
    lengths: Vector | None  # (m,) strictly increasing from 0 [m], None if the file has times
    orientation: Specified  # the rest of a pose is arbitrary

    def reversed(self) -> ToolTrajectory:
        """Return the trajectory in reverse."""
        times, lengths = (
            None if at is None else at[-1] - at[::-1] for at in (self.times, self.lengths)
        )
        return ToolTrajectory(self.poses[::-1], times, lengths, self.orientation)

    def moved(self, frame: Matrix) -> ToolTrajectory:
        """Return it in another frame, by other <- frame (4, 4) [m]."""
        return replace(self, poses=frame @ self.poses)

    def times_at(self, speed: float | None) -> Vector | None:
        """Return its times, or those of a speed along it [m/s]; None if neither is known."""
        if self.times is not None or self.lengths is None or speed is None:
            return self.times
        return np.asarray(self.lengths / speed)


MAX_POINTS = 100_000
SHORTEST = 1e-6  # between two points [s], or [m] over arc length
LONGEST = 86_400.0  # from the first point to the last [s]
SPEED_SLACK = 1e-6
_TURN = 2.0 * np.pi
_SMALL_STEP = 0.1  # [rad]
# Minimum time between rows without times: 50 rows per second [s].
MIN_STEP = 0.02


@dataclass(frozen=True)
class TrajectoryPoints:
    """Points of a file, in SI units and the joint order of the robot."""

    file: str  # name of the file
    times: Vector | None  # (m,) [s], None if the file has none
    positions: Vector  # (m, n) [rad or m]
    point_lines: Sequence[int] = ()  # line of each point, () if a line is not that of a point
    joint_lines: Sequence[int] = ()  # line of each joint, () if a line is not that of a joint
    no_units: bool = False  # the file names no units, so they are rad and m

    def error(self, problem: str, remedy: str, point: int, joint: int = 0) -> DescriptionError:
        """Return an error that names the line of a point or a joint."""
        lines, index = (self.point_lines, point) if self.point_lines else (self.joint_lines, joint)
        line = lines[index] if lines else None
        return DescriptionError(problem, remedy=remedy, file=self.file, line=line)


def validated(points: TrajectoryPoints, model: RobotModel, fit: bool) -> JointTrajectory:
    """Return the trajectory through points, within the limits of the robot.

    With `fit` the times are stretched to keep the speed limits, in place of an error.

    Raises:
        DescriptionError: times do not increase, a position is outside the limits, or a joint is
            too fast, or would go the long way round where positions jump by a whole turn.
    """
    positions = _inside(points, model)
    if points.times is None:
        times = _fastest_times(positions, model)
    else:
        times = _increasing(points, points.times)
    trajectory = JointTrajectory(model.joint_names, times, positions)
    factor, k, j = slowdown(trajectory, model)
    wrap = _wrap(trajectory, model, timed=points.times is not None)
    if points.times is None and wrap and wrap.can_turn_on:
        problem = f"joint {model.joint_names[wrap.joint]!r} steps by almost whole turns"
        raise points.error(problem, wrap.remedy, wrap.interval + 1, wrap.joint)
    if factor <= 1.0 + SPEED_SLACK:
        return trajectory
    if fit and not (wrap and wrap.can_turn_on):
        return trajectory.stretched(factor)
    if wrap:
        k, j = wrap.interval, wrap.joint
    joint, span = model.joints[j], times[k + 1] - times[k]
    speed = abs(positions[k + 1, j] - positions[k, j]) / span
    raise points.error(
        f"joint {joint.name!r} moves at {model.units.text(speed, joint.type)}/s after "
        f"{times[k]:.6g} s, above its limit {model.units.text(joint.velocity, joint.type)}/s",
        wrap.remedy if wrap else f"stretch the times by {factor:.4g}, or let --fit do it",
        k + 1,
        j,
    )


@dataclass(frozen=True)
class _Wrap:
    """A step of a joint that looks like a jump by whole turns."""

    interval: int
    joint: int
    can_turn_on: bool  # its limits allow the short way
    remedy: str


def _wrap(trajectory: JointTrajectory, model: RobotModel, timed: bool) -> _Wrap | None:
    """Return the first step that is small, or slow enough, without whole turns; else None."""
    q, steps = trajectory.positions, np.diff(trajectory.positions, axis=0)
    turning = np.array([joint.type == "revolute" for joint in model.joints])
    turns = np.round(steps / _TURN) * turning
    spans = np.diff(trajectory.times)[:, None]
    reach = np.maximum(model.velocity * spans if timed else 0.0, _SMALL_STEP)
    found = np.argwhere((turns != 0.0) & (np.abs(steps - _TURN * turns) <= reach))
    if not len(found):
        return None
    k, j = (int(index) for index in found[0])
    joint, on = model.joints[j], float(q[k + 1, j] - _TURN * turns[k, j])
    can_turn_on = joint.lower - SLACK <= on <= joint.upper + SLACK
    before, after, short = (model.units.text(x, joint.type) for x in (q[k, j], q[k + 1, j], on))
    remedy = (
        f"this looks like a wrap at half a turn: to turn on from {before}, write {short} in place "
        f"of {after}, and add the same turn to the later points of the joint"
    )
    more = "to go the long way round, write a point between"
    if not can_turn_on:
        more = "its limits do not allow that, so stretch the times, or let --fit do it"
    return _Wrap(k, j, can_turn_on, f"{remedy}; {more}")


def slowdown(trajectory: JointTrajectory, model: RobotModel) -> tuple[float, int, int]:
    """Return the factor by which to stretch a trajectory to keep the speed limits.

    It is at most 1 if the limits are kept; the deciding interval and joint are returned, too.
    """
    if len(trajectory.times) < 2:
        return 0.0, 0, 0
    speeds = np.abs(np.diff(trajectory.positions, axis=0)) / np.diff(trajectory.times)[:, None]
    shares = speeds / model.velocity
    k, j = np.unravel_index(int(np.argmax(shares)), shares.shape)
    return float(shares[k, j]), int(k), int(j)


def _inside(points: TrajectoryPoints, model: RobotModel) -> Vector:
    """Return the positions, clipped to the limits by no more than rounding."""
    q = points.positions
    if not len(q):
        raise DescriptionError("has no points", remedy="write at least one", file=points.file)
    if len(q) > MAX_POINTS:
        problem = f"has {len(q)} points, at most {MAX_POINTS} are supported"
        raise DescriptionError(problem, file=points.file)
    beyond = np.maximum(q - model.upper, model.lower - q)
    k, j = np.unravel_index(int(np.argmax(beyond)), q.shape)
    if beyond[k, j] > SLACK:
        joint, text = model.joints[j], partial(model.units.text, joint_type=model.joints[j].type)
        bound, side = (joint.upper, "above") if q[k, j] > joint.upper else (joint.lower, "below")
        when = "" if points.times is None else f" at {points.times[k]:.6g} s"
        raise points.error(
            f"joint {joint.name!r} is at {text(q[k, j])}{when}, "
            f"{text(beyond[k, j])} {side} its limit {text(bound)}",
            _unit_remedy(points, model) or "change the trajectory or the limits in the robot file",
            int(k),
            int(j),
        )
    violations = model.constraint_set.violation(q)
    row = int(np.argmax(violations))
    if worst := model.constraint_set.worst(q[row]):
        when = "" if points.times is None else f"at {points.times[row]:.6g} s, "
        remedy = "change the trajectory or the limits in the robot file"
        column = model.joint_names.index(worst.joint)
        raise points.error(f"{when}{worst.sentence}", remedy, row, column)
    return np.asarray(np.clip(q, model.lower, model.upper))


def _unit_remedy(points: TrajectoryPoints, model: RobotModel) -> str:
    """Return how to name the units of a file without any that looks like degrees or mm."""
    if not points.no_units:
        return ""
    turning = np.array([joint.type == "revolute" for joint in model.joints])
    choices = {"deg": SI.using("deg"), "mm": SI.using("mm"), "deg, mm": SHOWN}
    for words, units in choices.items():
        q = points.positions * np.where(turning, units.radian, units.metres(1.0))
        if (q >= model.lower - SLACK).all() and (q <= model.upper + SLACK).all():
            return f"if these are {words}, write as first line: # units: {words}"
    return ""


def spacing_problem(
    what: str, unit: str, values: tuple[float, float, float], longest: float
) -> tuple[str, str] | None:
    """Return why a time or length cannot follow another, and the remedy; None if it can.

    The values are those of the first point, the one before, and this one.
    """
    first, before, value = values
    if not value - before >= SHORTEST:
        problem = f"the {what} {value:.6g}{unit} is not after {before:.6g}{unit}"
        increase = f"{what}s must increase from point to point"
        return problem, f"{increase}, by {SHORTEST:g}{unit} at least"
    if not value - first <= longest:
        problem = f"the {what} {value:.6g}{unit} is too far after the first, {first:.6g}{unit}"
        return problem, f"at most {longest:g}{unit} is possible"
    return None


def _increasing(points: TrajectoryPoints, times: Vector) -> Vector:
    """Return the times relative to the first; raise an error unless they increase."""
    for k, (before, time) in enumerate(pairwise(times), start=1):
        if wrong := spacing_problem("time", " s", (times[0], before, time), LONGEST):
            raise points.error(*wrong, k)
    return np.asarray(times - times[0])


def _fastest_times(positions: Vector, model: RobotModel) -> Vector:
    """Return times for rows without any: by the speed limits, at most 50 rows per second."""
    needed = (np.abs(np.diff(positions, axis=0)) / model.velocity).max(axis=1, initial=0.0)
    return np.concatenate([[0.0], np.cumsum(np.maximum(needed, MIN_STEP))])


def joint_order(names: Sequence[str], model: RobotModel, file: str, line: int) -> list[int]:
    """Return the index in `names` of each joint of the robot; errors name file and line."""
    error = partial(DescriptionError, file=file, line=line)
    for name in names:
        if name not in model.joint_names:
            remedy = did_you_mean(name, model.joint_names)
            if GRIPPER_KEY in name.lower() or (model.gripper and name in model.gripper.joints):
                command = program("arm_studio", "trajectory")
                remedy = (
                    "a trajectory moves the joints of the arm alone, and the jaws move by the "
                    f"steps grip and release of a task; {command} with --without "
                    f"{shlex.quote(name)} -o NEW.csv writes the file without this column"
                )
            raise error(f"{model.name} has no joint {name!r}", remedy=remedy)
        if list(names).count(name) > 1:
            raise error(f"joint {name!r} is given twice", remedy="delete one")
    missing = [name for name in model.joint_names if name not in names]
    if missing:
        remedy = f"name all joints of {model.name}: {', '.join(model.joint_names)}"
        raise error(f"joint {missing[0]!r} is missing", remedy=remedy)
    return [list(names).index(name) for name in model.joint_names]


@dataclass(frozen=True)
class DrawingOptions:
    """Where and how a drawing is made on its paper."""

    width: float | None = None  # of the drawing [m]; None for that of the page or the text
    height: float = 0.01  # of the capital letters of a text [m]
    at: tuple[float, float] = (0.0, 0.0)  # middle of page or text on the paper [m]
    lift: float = 0.01  # of the pen between two lines [m]


AS_DRAWN = DrawingOptions()


def shipped_trajectories(robot: str) -> dict[str, Path]:
    """Return the paths of the shipped trajectories of a robot by name, sorted."""
    return shipped_files("arm_description", f"trajectories/{robot}", ENDINGS)
