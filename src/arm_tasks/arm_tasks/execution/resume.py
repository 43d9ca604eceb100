# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Resuming an interrupted step: the part of its motion that remains."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import SHOWN
from arm_hardware.calibration.axes import START_TOLERANCE
from arm_kinematics.paths.timing import time_path

from arm_kinematics import Chain
from arm_tasks.errors import PlanError
from arm_tasks.planning.plan import PlannedStep, PlannedTrajectory
from arm_tasks.task.request import ArmConfiguration

WIDTH_TOLERANCE = 2e-3  # [m] largest deviation of the jaws from the width that a step needs
_END_TOLERANCE = 1e-4  # [rad or m] nearer to its end than this, a step is complete
_PATH_SAMPLES = 400  # to find the path point nearest to the arm


def remaining_motion(step: PlannedStep, current: ArmConfiguration, chain: Chain) -> PlannedStep:
    """Return the rest of a step for an arm that is at its start or on its path.

    The rest of a motion is timed again, from rest to rest, no faster than the step was.

    Raises:
        PlanError: The arm is elsewhere; the text names the joint and its deviation.
    """
    q, path = current.array(chain.joint_names), step.trajectory
    time = 0.0 if path is None else _nearest_time(path, q)
    _check_joints(step, chain, q, step.start if path is None else path.at(time))
    _check_width(step, current.width)
    if path is None or time == 0.0 or np.abs(q - step.start).max() < _END_TOLERANCE:
        return step
    return _from(step, path, time, chain)


def return_motion(step: PlannedStep, current: ArmConfiguration, chain: Chain) -> PlannedStep:
    """Return the way back to the start of a step, along its path, for an arm that is on it.

    Raises:
        PlanError: The arm is elsewhere; the text names the joint and its deviation.
    """
    back = replace(step, message=f"returning to where {step.name} began")
    if step.width is not None:
        back = replace(back, width=step.start_width, start_width=step.width)
    path = step.trajectory
    if path is None:
        if step.width is not None:
            _check_joints(step, chain, current.array(chain.joint_names), step.start)
        return back
    _check_width(step, current.width)
    reverse = PlannedTrajectory(
        path.joint_names,
        path.duration - path.times[::-1],
        path.positions[::-1].copy(),
        -path.velocities[::-1],
    )
    back = replace(back, trajectory=reverse, start=path.positions[-1])
    return remaining_motion(back, current, chain)


def _nearest_time(path: PlannedTrajectory, q: Array) -> float:
    """Return the time at which a trajectory is nearest to joint positions (n,) [s]."""

    def distance(time: float) -> float:
        return float(np.abs(path.at(time) - q).max())

    times = np.union1d(np.linspace(0.0, path.duration, _PATH_SAMPLES), path.times)
    best = int(np.argmin([distance(time) for time in times]))
    low, high = times[max(best - 1, 0)], times[min(best + 1, len(times) - 1)]
    return float(min(np.linspace(low, high, 21), key=distance))


def _from(step: PlannedStep, path: PlannedTrajectory, time: float, chain: Chain) -> PlannedStep:
    """Return the part of a motion after a time [s]."""
    rows = np.vstack([path.at(time), path.positions[path.times > time]])
    if np.abs(rows - rows[-1]).max() < _END_TOLERANCE:
        report = replace(step.report, duration=0.0)
        return replace(step, kind="wait", trajectory=None, report=report)
    means = np.diff(path.positions, axis=0) / np.diff(path.times)[:, None]
    share = float((np.abs(np.vstack([path.velocities, means])) / chain.velocity).max())
    timed = time_path(rows, chain.velocity, chain.acceleration, scaling=min(share, 1.0))
    rest = PlannedTrajectory(path.joint_names, *timed)
    report = replace(step.report, duration=rest.duration)
    return replace(step, trajectory=rest, report=report)


def _check_joints(step: PlannedStep, chain: Chain, q: Array, expected: Array) -> None:
    """Raise PlanError unless the driver would begin a motion from q (n,) where it is expected."""
    off = np.abs(q - expected)
    units = ["m" if sliding else "rad" for sliding in chain.sliding]
    share = off / [START_TOLERANCE[unit] for unit in units]
    worst = int(np.argmax(share))
    if not share[worst] <= 1.0:
        name = chain.joint_names[worst]
        kind = "prismatic" if chain.sliding[worst] else "revolute"
        where = f"{name} is off by {SHOWN.text(off[worst], kind, 3)}"
        if not math.isfinite(off[worst]):
            where = f"the position of {name} is unknown"
        what = f"{step.label}, begins elsewhere: {where}; move there first"
        raise PlanError(what)


def _check_width(step: PlannedStep, width: float) -> None:
    needed = step.start_width
    ends = needed, needed if step.width is None else step.width
    if not min(ends) - WIDTH_TOLERANCE <= width <= max(ends) + WIDTH_TOLERANCE:
        what = f"the jaws at {needed * 1e3:.1f} mm, they are at {width * 1e3:.1f} mm"
        raise PlanError(f"{step.label}, begins with {what}; move them there first")
