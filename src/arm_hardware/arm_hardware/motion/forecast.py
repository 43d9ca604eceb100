# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where a moving arm will be once a new trajectory is planned.

Planning a long trajectory takes more than a tick, and a moving arm does not wait for it. The new
motion is therefore planned from where the arm will be some ticks ahead. Until then the arm
continues as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from arm_common.transforms import Array

from arm_hardware.motion.execution import LeadIn, TrajectoryExecution
from arm_hardware.motion.limiter import AxisState

MOST_LEAD = 250  # ticks; 5 s at 50 Hz


class Forecast:
    """An arm some ticks after now, if nothing else is commanded."""

    def __init__(
        self, run: TrajectoryExecution | None, states: Sequence[AxisState], factor: float, now: int
    ) -> None:
        """Copy the present motion and states, at a requested speed scaling and tick."""
        self._original, self._factor, self._now = run, factor, now
        self._run = None if run is None else run.fork()
        self._condition = run, run is not None and run.following, factor
        self._states = [replace(state) for state in states]
        self._lead = 0

    def advance(self, passed: int, dt: float) -> None:
        """Look ahead far enough, if planning takes up to twice as many ticks of dt [s]."""
        if self._run is None:
            return
        self._lead = min(2 * passed + 1, MOST_LEAD)
        for _ in range(self._lead):
            self._run.advance(self._states, dt, self._factor)

    @property
    def start(self) -> tuple[Array, Array, float]:
        """Position and velocity at scaling 1 (n,) [rad or m, /s], and the scaling."""
        position = np.array([state.position for state in self._states])
        velocity = np.array([state.velocity for state in self._states])
        if not velocity.any():
            return position, velocity, self._factor
        scaling = 1.0 if self._run is None else self._run.scaling_of(velocity)
        return position, velocity / scaling, scaling

    def lead_in(self, present: Forecast) -> list[LeadIn] | None:
        """Return the rest of the motion until then, None if something else has happened since.

        ``present`` is the arm as it is now.
        """
        left = self._now + self._lead - present._now
        run = self._original
        if run is None or left < 0 or present._condition != self._condition:
            return None
        return run.next_ticks(left)
