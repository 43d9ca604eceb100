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

import copy
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array
from numpy.typing import NDArray

from arm_hardware.calibration.axes import Axis, Coupling
from arm_hardware.errors import CommandError
from arm_hardware.motion.trajectory_start import PlannedMotion

TICK_ROUNDING = 1e-9  # [s] by which a sum of ticks may fall short
_ROUNDS, _CANDIDATES = 3, 9  # of the search for a scaling; its resolution is 8^-3 of the change
_ROUNDING = 1e-9  # [rad or m, per second] of speeds
_MARKS = 2000  # changes of the scaling that are kept


def check_speed_scaling(factor: float) -> None:
    """Raise CommandError for a factor that is not within 0 to 1."""
    if not 0.0 <= factor <= 1.0:
        raise CommandError(
            f"A speed scaling of {factor:g} is not within 0 to 1: none is faster than planned."
        )


class _Mark(NamedTuple):
    """A change of the scaling."""

    elapsed: float  # seconds from the start
    time: float  # seconds along the motion
    scaling: float  # from then on


class ScaledTime:
    """The present time along a motion, and how fast it advances.

    Attributes:
        elapsed: Seconds from the start.
        now: Seconds along the motion, which takes its duration at scaling 1.
        scaling: Seconds of the motion per second in the last tick.
    """

    def __init__(
        self, motion: PlannedMotion, axes: tuple[Axis, ...], coupling: Coupling | None = None
    ) -> None:
        self._motion = motion
        self._coupling = coupling if coupling and coupling.tight else None
        self._acceleration = np.array([axis.acceleration for axis in axes])
        self.elapsed = self.now = 0.0
        self.scaling = motion.scaling
        self._marks = deque([_Mark(0.0, 0.0, self.scaling)], maxlen=_MARKS)

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
        if self.scaling != self._marks[-1].scaling:
            self._marks.append(_Mark(self.elapsed, self.now, self.scaling))
        end = self.now + self.scaling * dt
        before, after = self._motion.samples(np.array([self.now, end]))
        self.elapsed, self.now = self.elapsed + dt, end
        return before, after

    def fork(self) -> ScaledTime:
        """Return an independent copy."""
        fork = copy.copy(self)
        fork._marks = self._marks.copy()
        return fork

    def at(self, elapsed: float, factor: float) -> tuple[float, float]:
        """Return the time along the motion [s] and its scaling, past or expected.

        Args:
            elapsed: Seconds from the start.
            factor: Scaling expected from now on.

        Raises:
            CommandError: It is before the start, or before the last changes of the scaling.
        """
        if elapsed > self.elapsed:
            return self.now + factor * (elapsed - self.elapsed), factor
        for mark in reversed(self._marks):
            if mark.elapsed <= elapsed:
                return mark.time + mark.scaling * (elapsed - mark.elapsed), mark.scaling
        raise CommandError("The time is before the start of the running trajectory.")

    def _nearest_scaling(self, velocities: Array, dt: float, factor: float) -> float:
        """Return the scaling nearest to a factor that the acceleration limits allow.

        Staying as it is is always allowed, although a path at the limits exceeds them by rounding.
        """
        near, far = self.scaling, factor
        for _ in range(_ROUNDS):
            candidates = np.linspace(near, far, _CANDIDATES)
            rows = self._motion.samples(self.now + np.append(candidates, 0.0) * dt)
            change = np.abs((rows[:-1] - rows[-1]) / dt - velocities[: rows.shape[1]])
            most = np.maximum(self._acceleration * dt, change[0])
            too_fast = (change > most + _ROUNDING).any(axis=1)
            if self._coupling is not None:
                too_fast |= self._is_too_fast(self._coupling, rows, velocities, dt)
            first = int(np.argmax(too_fast)) if too_fast.any() else _CANDIDATES
            if first == _CANDIDATES:
                return far if far == factor else float(candidates[-1])
            near, far = float(candidates[max(first - 1, 0)]), float(candidates[first])
        return near

    def _is_too_fast(
        self, coupling: Coupling, rows: Array, velocities: Array, dt: float
    ) -> NDArray[np.bool_]:
        """Return whether servos would change their speed too fast, (k - 1,).

        The joints go to one of ``rows`` (k, n) but the last, which is where they are.
        """
        tight = list(coupling.tight)
        before = rows[-1] - velocities[: rows.shape[1]] * dt
        places = coupling.drivetrain.to_actuators(np.vstack([rows, before]))[:, tight]
        change = (places[:-2] - places[-2]) - (places[-2] - places[-1])
        most = np.array([coupling.actuators[i].acceleration for i in tight]) * dt**2
        most = np.maximum(most, np.abs(change[0]))
        too_fast: NDArray[np.bool_] = (np.abs(change) > most + _ROUNDING * dt).any(axis=1)
        return too_fast
