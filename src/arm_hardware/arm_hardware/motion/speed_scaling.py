# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Speed scaling: executes a motion slower than planned, or pauses it, without leaving its path.

In a tick of dt, the time along the motion advances by ``scaling * dt``. As a planned motion keeps
the limits at scaling 1, it keeps them at any constant scaling below: speeds shrink with it,
accelerations with its square. Only changes need care: each tick chooses the scaling nearest to
the requested factor for which no joint changes its speed faster than its acceleration limit. It
can always stay as it is, so no choice leads to a dead end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from arm_common.transforms import Array

from arm_hardware.calibration.axes import Axis
from arm_hardware.motion.trajectory_start import PlannedMotion

TICK_ROUNDING = 1e-9  # [s] by which a sum of ticks may fall short
_ROUNDS, _CANDIDATES = 3, 9  # of the search for a scaling; its resolution is 8^-3 of the change
_ROUNDING = 1e-9  # [rad or m, per second] of speeds


class ScaledTime:
    """The present time along a motion, and how fast it advances.

    Attributes:
        now: Seconds from the start of the motion, at scaling 1.
        scaling: Seconds of the motion per second in the last tick.
    """

    def __init__(self, motion: PlannedMotion, axes: tuple[Axis, ...]) -> None:
        self._motion = motion
        self._acceleration = np.array([axis.acceleration for axis in axes])
        self.now = 0.0
        self.scaling = motion.scaling

    def advance(
        self, velocities: Sequence[float], dt: float, factor: float
    ) -> tuple[Array, Array]:
        """Advance by a tick of dt [s]; return the positions (n,) before and after [rad or m].

        Args:
            velocities: Present ones, of the motion's joints first [rad/s or m/s].
            dt: [s].
            factor: Requested scaling, 0 to 1.
        """
        if factor != self.scaling:
            self.scaling = self._nearest_scaling(np.array(velocities), dt, factor)
        end = self.now + self.scaling * dt
        before, after = self._motion.samples(np.array([self.now, end]))
        self.now = end
        return before, after

    def _nearest_scaling(self, velocities: Array, dt: float, factor: float) -> float:
        """Return the scaling nearest to a factor that the acceleration limits allow."""
        near, far = self.scaling, factor
        for _ in range(_ROUNDS):
            candidates = np.linspace(near, far, _CANDIDATES)
            rows = self._motion.samples(self.now + np.append(candidates, 0.0) * dt)
            change = (rows[:-1] - rows[-1]) / dt - velocities[: rows.shape[1]]
            too_fast = (np.abs(change) > self._acceleration * dt + _ROUNDING).any(axis=1)
            first = int(np.argmax(too_fast)) if too_fast.any() else _CANDIDATES
            if first == _CANDIDATES:
                return far if far == factor else float(candidates[-1])
            near, far = float(candidates[max(first - 1, 0)]), float(candidates[first])
        return near
