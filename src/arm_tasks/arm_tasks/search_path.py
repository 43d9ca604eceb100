# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The way that looks for the tip of a bolt: rings about the axis, turning back meanwhile."""

from __future__ import annotations

import math

import numpy as np
from arm_kinematics.paths import Shape

from arm_tasks.geometry import Array
from arm_tasks.thread import TURN

_BETWEEN = 0.8e-3  # from ring to ring [m]; the mouth of a nut is wider by far
_OUT = 0.25  # of a ring's time, to the first one
_PIECES = 400  # to measure its length


class Spiral(Shape):
    """From a pose straight out in its xy plane, once round, and by ever smaller rings back again.

    What is found on the way is left by less and less afterwards (spiral search; Jasim, Plapper,
    Voos, "Position identification in force-guided robotic peg-in-hole assembly tasks", Procedia
    CIRP 23, 2014). Swings that fade away also leave joints in the middle of their play, as a
    fading field leaves a magnet without magnetism.

    Args:
        start: Pose (4, 4) in the middle, where it begins.
        radius: Of the first ring [m].
        roll: About z from its start to its end [rad].
    """

    def __init__(self, start: Array, radius: float, roll: float) -> None:
        self._radius = radius
        self._rings = 1 + max(1, math.ceil(radius / _BETWEEN))
        super().__init__(start, np.array([0.0, 0.0, roll]), 0.0)
        points = np.array([self._position(i / _PIECES) for i in range(_PIECES + 1)])
        self.length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def _polar(self, share: float) -> tuple[float, float]:
        """Return distance from the middle [m] and angle [rad]; a fourth of a ring leads out."""
        rings = share * (self._rings + _OUT) - _OUT
        if rings < 0.0:
            return self._radius * (1.0 + rings / _OUT), 0.0
        return self._radius * min(1.0, (self._rings - rings) / (self._rings - 1)), TURN * rings

    def _position(self, share: float) -> Array:
        r, angle = self._polar(share)
        out = np.array([r * math.cos(angle), r * math.sin(angle), 0.0])
        return np.asarray(self.start[:3, 3] + self.start[:3, :3] @ out)

    def _velocity(self, share: float) -> Array:
        r, angle = self._polar(share)
        rate = self._rings + _OUT
        rings = share * rate - _OUT
        dangle = 0.0 if rings < 0.0 else TURN * rate
        dr = self._radius * rate / _OUT if rings < 0.0 else 0.0
        if rings > 1.0:
            dr = -self._radius * rate / (self._rings - 1)
        c, s = math.cos(angle), math.sin(angle)
        moving = np.array([dr * c - r * s * dangle, dr * s + r * c * dangle, 0.0])
        return np.asarray(self.start[:3, :3] @ moving)
