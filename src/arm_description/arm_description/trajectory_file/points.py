# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From the points of a file to a trajectory within the robot's limits, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..elements import Joint
from ..errors import DescriptionError
from ..model import RobotModel
from ..transforms import Vector
from ..units import Units
from .trajectory import JointTrajectory

MOST_POINTS = 100_000
# Limits and positions may be written by expressions that differ by rounding.
SLACK = 1e-9
SPEED_SLACK = 1e-6
# Of rows without times: the shortest time from one to the next, a picture of 50 a second [s].
SHORTEST_STEP = 0.02


@dataclass(frozen=True)
class Points:
    """What stands in a file, in SI units and in the order of the robot's joints.

    Attributes:
        file: name of the file.
        times: (m,) [s], None if the file has none.
        positions: (m, n) [rad or m].
        point_lines: line of each point, () if a line is not that of a point.
        joint_lines: line of each joint, () if a line is not that of a joint.
    """

    file: str
    times: Vector | None
    positions: Vector
    point_lines: Sequence[int] = ()
    joint_lines: Sequence[int] = ()

    def error(self, problem: str, remedy: str, point: int, joint: int = 0) -> DescriptionError:
        """Build the error that names the line of a point, or of a joint."""
        lines, index = (self.point_lines, point) if self.point_lines else (self.joint_lines, joint)
        line = lines[index] if lines else None
        return DescriptionError(problem, remedy=remedy, file=self.file, line=line)


def checked(points: Points, model: RobotModel, fit: bool) -> JointTrajectory:
    """Make the trajectory.

    Args:
        points: of the file.
        model: the robot, for its limits.
        fit: stretch the times as far as the speed limits need it, in place of an error.

    Raises:
        DescriptionError: times that do not rise, a position outside the limits, too fast a joint.
    """
    positions = _inside(points, model)
    times = _made(positions, model) if points.times is None else _rising(points, points.times)
    trajectory = JointTrajectory(model.joint_names, times, positions)
    factor, k, j = slowdown(trajectory, model)
    if factor <= 1.0 + SPEED_SLACK:
        return trajectory
    if fit:
        return trajectory.stretched(factor)
    joint, span = model.joints[j], times[k + 1] - times[k]
    speed = abs(positions[k + 1, j] - positions[k, j]) / span
    raise points.error(
        f"joint {joint.name!r} moves at {_text(speed, joint, model.units)}/s after "
        f"{times[k]:.6g} s, above its limit {_text(joint.velocity, joint, model.units)}/s",
        f"give it {factor:.4g} times the time, or ask to fit the times (--fit)",
        k + 1,
        j,
    )


def slowdown(trajectory: JointTrajectory, model: RobotModel) -> tuple[float, int, int]:
    """How many times longer a trajectory must take to keep the speed limits.

    Returns:
        The factor (at most 1 if it keeps them), and the interval and the joint that need it.
    """
    if len(trajectory.times) < 2:
        return 0.0, 0, 0
    speeds = np.abs(np.diff(trajectory.positions, axis=0)) / np.diff(trajectory.times)[:, None]
    shares = speeds / model.velocity
    k, j = np.unravel_index(int(np.argmax(shares)), shares.shape)
    return float(shares[k, j]), int(k), int(j)


def _inside(points: Points, model: RobotModel) -> Vector:
    """The positions, clipped by no more than rounding."""
    q = points.positions
    if not len(q):
        raise DescriptionError("has no points", remedy="write at least one", file=points.file)
    if len(q) > MOST_POINTS:
        raise DescriptionError(
            f"has {len(q)} points, at most {MOST_POINTS} are possible", file=points.file
        )
    beyond = np.maximum(q - model.upper, model.lower - q)
    k, j = np.unravel_index(int(np.argmax(beyond)), q.shape)
    if beyond[k, j] > SLACK:
        joint, units = model.joints[j], model.units
        bound, side = (joint.upper, "above") if q[k, j] > joint.upper else (joint.lower, "below")
        when = "" if points.times is None else f" at {points.times[k]:.6g} s"
        raise points.error(
            f"joint {joint.name!r} is at {_text(q[k, j], joint, units)}{when}, "
            f"{_text(beyond[k, j], joint, units)} {side} its limit {_text(bound, joint, units)}",
            "change the trajectory, or the limits in the robot file",
            int(k),
            int(j),
        )
    inside: Vector = np.clip(q, model.lower, model.upper)
    return inside


def _rising(points: Points, times: Vector) -> Vector:
    """The times, counted from the first one."""
    for k in range(1, len(times)):
        if not times[k] > times[k - 1]:
            raise points.error(
                f"the time {times[k]:.6g} s does not come after {times[k - 1]:.6g} s",
                "times must rise from point to point",
                k,
            )
    elapsed: Vector = times - times[0]
    return elapsed


def _made(positions: Vector, model: RobotModel) -> Vector:
    """Times for rows without any: by the speed limits, and at most 50 rows a second."""
    needed = (np.abs(np.diff(positions, axis=0)) / model.velocity).max(axis=1, initial=0.0)
    return np.concatenate([[0.0], np.cumsum(np.maximum(needed, SHORTEST_STEP))])


def _text(value: float, joint: Joint, units: Units) -> str:
    unit = units.angle if joint.type == "revolute" else units.length
    return f"{units.written(float(value), joint.type):.6g} {unit}"
