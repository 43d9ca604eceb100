# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Random motions of three axes with unlike limits."""

import contextlib

import numpy as np
import pytest
from arm_hardware.calibration.axes import Axes, Axis
from arm_hardware.errors import CommandError
from arm_hardware.motion.goal_validation import ValidatedGoal
from arm_hardware.motion.trajectory_start import PlannedMotion, plan_motion

DT = 0.02
AXES = Axes(
    tuple(
        Axis(name, "rad", -3.0, 3.0, speed, acceleration)
        for name, speed, acceleration in [("a", 3.0, 12.0), ("b", 1.5, 12.0), ("c", 3.0, 4.0)]
    )
)
SPEED, ACCELERATION = (
    np.array([getattr(axis, what) for axis in AXES.arm]) for what in ("velocity", "acceleration")
)
ZERO = np.zeros(3)
TRIES = 30


def random_motion(
    rng: np.random.Generator, kind: str, velocity: np.ndarray = ZERO
) -> PlannedMotion:
    """Return the motion of the first random goal that is not too fast; most are not."""
    for _ in range(TRIES):
        with contextlib.suppress(CommandError):
            return plan_motion(_random_goal(rng, kind), AXES, ZERO, velocity, DT)
    pytest.fail(f"none of {TRIES} random goals is accepted")


def _random_goal(rng: np.random.Generator, kind: str) -> ValidatedGoal:
    """Return a goal within the speed limits on average, with corners that are not feasible."""
    m = int(rng.integers(1, 7))
    h = rng.uniform(0.05, 0.8, m)
    steps = rng.uniform(-0.9, 0.9, (m, 3)) * SPEED * h[:, None]
    rates = rng.uniform(-0.4, 0.4, (m, 3)) * SPEED
    rates[-1] = 0.0
    return ValidatedGoal(
        np.cumsum(h),
        np.clip(np.cumsum(steps, axis=0), -2.5, 2.5),
        None if kind == "linear" else rates,
        rng.uniform(-5.0, 5.0, (m, 3)) if kind == "quintic" else None,
    )
