# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From a plan to a trajectory that begins where the arm is, if it can be followed from there."""

from __future__ import annotations

import numpy as np

from arm_hardware.axes import Axes
from arm_hardware.bounds import check_position, check_speed
from arm_hardware.errors import CommandError
from arm_hardware.request import SPEED_MARGIN, Plan
from arm_hardware.trajectory import Array, Trajectory

# Of a cubic's peak between two points; the driver keeps the limit itself and arrives later.
PEAK_MARGIN = 1.25
# Between the present command and the first point, beyond what its time allows: what counts round
# off, and what moved since the plan was made.
START_TOLERANCE = {"rad": 0.02, "m": 0.002}


def begin(plan: Plan, axes: Axes, position: Array, velocity: Array) -> Trajectory:
    """Return the trajectory that leads from the present command through a plan's points.

    Args:
        plan: From ``request.check``.
        axes: The arm.
        position: (n,) present command [rad or m].
        velocity: (n,) its rate [rad/s or m/s].

    Raises:
        CommandError: A joint would have to move too fast, or leave its limits between points.
    """
    points = np.where(np.isnan(plan.positions), position, plan.positions)
    times, rates = plan.times, plan.velocities
    _check_start(float(times[0]), points[0], axes, position)
    leads_in = bool(times[0] > 0.0)
    if leads_in:
        times = np.concatenate([[0.0], times])
        points = np.vstack([position, points])
        if rates is not None:
            moving = velocity if plan.delay == 0.0 else np.zeros_like(velocity)
            rates = np.vstack([moving, rates])
    trajectory = Trajectory(times, points, rates)
    _check_between(trajectory, axes, 1 if leads_in else 0)
    return trajectory


def _check_start(time: float, first: Array, axes: Axes, position: Array) -> None:
    """Refuse a first point that the arm cannot reach in its time from where it is."""
    for axis, target, here in zip(axes.arm, first, position, strict=True):
        distance = abs(float(target) - float(here))
        way = max(0.0, distance - START_TOLERANCE[axis.unit])
        if way > 0.0 and time <= 0.0:
            raise CommandError(
                f"{axis.name}: the first point is {distance:.4g} {axis.unit} from the present "
                "command and leaves no time to get there; start from where the arm is.",
                joint=axis.name,
                amount=distance,
            )
        if way > 0.0:
            check_speed(axis, way / time, SPEED_MARGIN, "to the first point")


def _check_between(trajectory: Trajectory, axes: Axes, first: int) -> None:
    """Refuse speeds from segment ``first`` on, and cubics that leave the limits between points."""
    low, high = trajectory.extremes()
    for i, axis in enumerate(axes.arm):
        check_position(axis, float(low[i]), " between points")
        check_position(axis, float(high[i]), " between points")
    peak = trajectory.peak_speeds()[first:]
    mean = trajectory.mean_speeds()[first:]
    if not len(mean):
        return
    for i, axis in enumerate(axes.arm):
        k = int(np.argmax(mean[:, i]))
        check_speed(axis, float(mean[k, i]), SPEED_MARGIN, f"on the way to point {k + 1}")
        check_speed(axis, float(peak[:, i].max()), PEAK_MARGIN, "between two points")
