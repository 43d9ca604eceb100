# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Limits that depend on several joints: of linkages, and of servos coupled to several joints.

Where joints are independent, none of this runs.
"""

from __future__ import annotations

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import SLACK

from arm_hardware.calibration.axes import Axes, Axis, Coupling
from arm_hardware.errors import CommandError
from arm_hardware.motion.trajectory import Trajectory

_BEND_STEP = 0.05  # [rad or m] of a joint, within which a curved transmission is taken for a cubic
_MOST_PARTS = 64  # of a segment
_MOST_CHECKS = 200_000  # instants of a path


def with_servos(path: Trajectory, axes: Axes) -> tuple[Trajectory, tuple[Axis, ...]]:
    """Return a path (m, n) with a column for each servo that might be too fast, and all axes.

    Its times are the same, but a curved transmission needs more points.
    """
    coupling = axes.coupling
    if coupling is None or not coupling.tight:
        return path, axes.arm
    if not coupling.drivetrain.is_linear:
        path = _refined(path)
    assert path.velocities is not None
    columns = list(coupling.tight)
    places = coupling.drivetrain.to_actuators(path.positions)[:, columns]
    jacobian = coupling.drivetrain.jacobian(path.positions)[:, columns]
    rates = np.einsum("kmn,kn->km", jacobian, path.velocities)
    both = Trajectory(
        path.times, np.hstack([path.positions, places]), np.hstack([path.velocities, rates])
    )
    return both, (*axes.arm, *(coupling.actuators[i] for i in columns))


def servo_braking_time(axes: Axes, position: Array, velocity: Array, share: float) -> float:
    """Return the time [s] in which servos brake together at a share of their accelerations.

    The joints are at position and velocity (n,) [rad or m, per second].
    """
    coupling = axes.coupling
    if coupling is None or not coupling.tight:
        return 0.0
    rates = coupling.drivetrain.jacobian(position) @ velocity
    most = np.array([actuator.acceleration for actuator in coupling.actuators])
    return float((np.abs(rates) / (share * most)).max())


def _refined(path: Trajectory) -> Trajectory:
    """Return the same path with more points where joints move far between them."""
    far = np.abs(np.diff(path.positions, axis=0)).max(axis=1)
    parts = np.clip(np.ceil(far / _BEND_STEP), 1, _MOST_PARTS).astype(int)
    segments = np.repeat(np.arange(len(parts)), parts)
    places = np.concatenate([np.arange(n) / n for n in parts])
    times = path.times[segments] + places * np.diff(path.times)[segments]
    rates, _ = path.derivatives(segments, places)
    last, _ = path.derivatives(np.array([len(parts) - 1]), np.array([1.0]))
    times = np.append(times, path.duration)
    return Trajectory(times, path.samples(times), np.vstack([rates, last]))


def keeps_constraints(path: Trajectory, axes: Axes, dt: float) -> bool:
    """Return whether a path keeps the limits that depend on other joints."""
    return axes.coupling is None or first_violation(path, axes.coupling, dt) is None


def first_violation(path: Trajectory, coupling: Coupling, dt: float) -> CommandError | None:
    """Return an error if a path leaves limits that depend on other joints, checked every dt [s].

    A path that begins outside, by rounding to counts, may lead back inside.
    """
    if not coupling.constraints:
        return None
    number = min(int(path.duration / dt) + 2, _MOST_CHECKS)
    times = np.unique(np.concatenate([np.linspace(0.0, path.duration, number), path.times]))
    q = path.samples(times)
    amounts = coupling.constraints.violation(q)
    allowed = max(SLACK, float(amounts[0]) + SLACK)
    wrong = np.flatnonzero(amounts > allowed)
    if not len(wrong):
        return None
    worst = int(wrong[np.argmax(amounts[wrong])])
    return constraint_error(coupling, q[worst], f" {times[worst]:.3g} s after the start")


def constraint_error(coupling: Coupling, q: Array, where: str) -> CommandError | None:
    """Return an error if a posture q (n,) is outside limits that depend on other joints."""
    violation = coupling.constraints.worst(q)
    if violation is None:
        return None
    return CommandError(
        f"{violation.sentence}; the trajectory leaves this{where}.",
        joint=violation.joint,
        amount=violation.amount,
    )
