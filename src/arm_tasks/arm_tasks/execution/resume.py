# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is left of a step whose way an arm stands on: nothing, a part, or all of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array
from arm_kinematics.paths.timing import time_path

from arm_tasks.errors import PlanError
from arm_tasks.execution.ports import Standing
from arm_tasks.planning.plan import PlannedStep, PlannedTrajectory

AT_START = 0.03  # rad or m; how far a joint may be from where a step, or the rest of it, begins
AT_WIDTH = 2e-3  # m; how far the jaws may be from the width that a step needs
DONE = 1e-4  # rad or m from a step's end: nothing of it is left
SAMPLES = 400  # of a way, to find the place on it that is nearest to the arm


@dataclass(frozen=True)
class JointRateLimits:
    """How fast joints may go.

    Attributes:
        velocity: (n,) [rad/s or m/s].
        acceleration: (n,) [rad/s^2 or m/s^2].
    """

    velocity: Array
    acceleration: Array


def remaining_motion(
    step: PlannedStep, joints: tuple[str, ...], here: Standing, limits: JointRateLimits
) -> PlannedStep:
    """Return what is left of a step for an arm that stands at its start or on its way.

    The rest of a motion is timed anew, from rest to rest, no faster than the step was.

    Args:
        step: The step.
        joints: (n,) names of the plan's joints, base to tip.
        here: Where the arm is.
        limits: Of those joints.

    Raises:
        PlanError: The arm is elsewhere; the text names the joint and by how much.
    """
    q = np.array([here.positions.get(name, math.inf) for name in joints])
    way = step.trajectory
    time = 0.0 if way is None else nearest_time(way, q)
    _check_joints(step, joints, q, step.start if way is None else way.at(time))
    _check_width(step, here.width)
    if way is None or time == 0.0 or np.abs(q - step.start).max() < DONE:
        return step
    return _from(step, way, time, limits)


def nearest_time(way: PlannedTrajectory, q: Array) -> float:
    """Return the time at which a trajectory is nearest to joint positions (n,) [s]."""
    times = np.union1d(np.linspace(0.0, way.duration, SAMPLES), way.times)
    distances = [float(np.abs(way.at(time) - q).max()) for time in times]
    best = int(np.argmin(distances))
    low, high = times[max(best - 1, 0)], times[min(best + 1, len(times) - 1)]
    fine = np.linspace(low, high, 21)
    return float(min(fine, key=lambda time: float(np.abs(way.at(time) - q).max())))


def _from(
    step: PlannedStep, way: PlannedTrajectory, time: float, limits: JointRateLimits
) -> PlannedStep:
    """Return a motion from a time on [s]."""
    rows = np.vstack([way.at(time), way.positions[way.times > time]])
    if np.abs(rows - rows[-1]).max() < DONE:
        report = replace(step.report, duration=0.0)
        return replace(step, kind="wait", trajectory=None, report=report)
    means = np.diff(way.positions, axis=0) / np.diff(way.times)[:, None]
    share = float((np.abs(np.vstack([way.velocities, means])) / limits.velocity).max())
    timed = time_path(rows, limits.velocity, limits.acceleration, scaling=min(share, 1.0))
    rest = PlannedTrajectory(way.joint_names, timed.times, timed.positions, timed.velocities)
    report = replace(step.report, duration=rest.duration)
    return replace(step, trajectory=rest, report=report)


def _check_joints(step: PlannedStep, joints: tuple[str, ...], q: Array, wanted: Array) -> None:
    off = np.abs(q - wanted)
    worst = int(np.argmax(off))
    if not off[worst] <= AT_START:
        where = f"{joints[worst]} is off by {off[worst]:.3f}"
        if not math.isfinite(off[worst]):
            where = f"it is not known where {joints[worst]} is"
        raise PlanError(
            f"step {step.index} ({step.name}) begins elsewhere: {where}; move there first"
        )


def _check_width(step: PlannedStep, width: float) -> None:
    ends = step.start_width, step.start_width if step.width is None else step.width
    low, high = min(ends) - AT_WIDTH, max(ends) + AT_WIDTH
    if not low <= width <= high:
        wanted = f"{step.start_width * 1e3:.1f} mm"
        raise PlanError(
            f"step {step.index} ({step.name}) begins with the jaws at {wanted}, they are at"
            f" {width * 1e3:.1f} mm; move them there first"
        )
