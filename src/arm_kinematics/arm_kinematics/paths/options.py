# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Options of a tool path: the components of a pose that count, and the sampling density."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array, so3_log

from arm_kinematics.arguments import require
from arm_kinematics.chain.chain import Chain
from arm_kinematics.kernels.layout import (
    DEFAULT_ORIENTATION_TOLERANCE,
    DEFAULT_POSITION_TOLERANCE,
)

# Timeout [s] of a search that ends after its first descents, where the reason does not matter.
AT_ONCE = 1e-9
_STEP = 1.0 / 200.0  # share of the arm's length
_DEVIATION = 1.0 / 5000.0  # share of the arm's length
_Z = (0.0, 0.0, 1.0)
_FACTORS = (1.0, 175.0, 350.0, 700.0, 1400.0, 2800.0, 5600.0)
"""Tolerances to try first, in units of the defaults: 175 is 1 degree."""


@dataclass(frozen=True)
class PathOptions:
    """Requirements on a tool path."""

    # "pose", "position" or "position_axis"; this and the next three as in ``Chain.ik``
    mode: str = "pose"
    position_tolerance: float = 1e-5  # largest distance of a sample from the path [m]
    orientation_tolerance: float | Sequence[float] = 1e-4  # largest angle there [rad], or three
    axis: Sequence[float] | None = None  # the tool's axis of mode "position_axis"; None is z
    # largest motion of the tool between two samples [m]; None is 1/200 of the arm's length
    max_step: float | None = None
    max_turn: float = math.radians(2.0)  # largest turn of the tool between two samples [rad]
    # largest motion of a joint between two samples [rad]; a prismatic joint's motion counts as the
    # angle it subtends at the arm's length
    max_joint_step: float = 0.1
    # largest deviation from the path half-way between two samples, beyond that of the samples, if
    # the joints move straight [m]; None is 1/5000 of the arm's length
    max_deviation: float | None = None
    max_tilt: float = 2e-3  # the same for its orientation [rad]

    def narrowed(self) -> list[PathOptions]:
        """Return the options with narrower tolerances, the narrowest first, then as they are.

        The narrower ones are the same whatever the tolerances are.
        """
        narrower = [self._limited(factor, min) for factor in _FACTORS]
        return [*(each for each in narrower if each != self), self]

    def widened(self) -> PathOptions:
        """Return the options with the widest of those tolerances where a tolerance is loose."""
        return self._limited(_FACTORS[-1], lambda value, widest: widest)

    def _limited(self, factor: float, limit: Callable[[float, float], float]) -> PathOptions:
        """Return the options with other finite tolerances where they exceed the defaults."""
        near, small = factor * DEFAULT_POSITION_TOLERANCE, factor * DEFAULT_ORIENTATION_TOLERANCE

        def limited(value: float, least: float, bound: float) -> float:
            return limit(value, bound) if least < value < math.inf else value

        place = limited(self.position_tolerance, DEFAULT_POSITION_TOLERANCE, near)
        turns = np.ravel(self.orientation_tolerance).tolist()
        turns = [limited(turn, DEFAULT_ORIENTATION_TOLERANCE, small) for turn in turns]
        angle = tuple(turns) if len(turns) > 1 else turns[0]
        return replace(self, position_tolerance=place, orientation_tolerance=angle)

    def admits(self, distance: float, angle: float) -> bool:
        """Return True if the tolerances may allow a distance [m] and an angle [rad]."""
        return distance <= self.position_tolerance and angle <= np.max(self.orientation_tolerance)

    def ik_arguments(self) -> dict[str, Any]:
        """Return the corresponding arguments of ``Chain.ik``."""
        arguments: dict[str, Any]
        arguments = {"mode": self.mode, "position_tolerance": self.position_tolerance}
        arguments["prefer"] = "accurate"  # what is nearest would lag behind the path
        if self.turns():
            arguments["orientation_tolerance"] = self.orientation_tolerance
        return arguments if self.axis is None else {**arguments, "axis": tuple(self.axis)}

    def bounds(self, chain: Chain) -> Bounds:
        """Return the bounds for an arm.

        Raises:
            KinematicsError: One of them is not positive.
        """
        length = chain.length
        bounds = Bounds(
            _STEP * length if self.max_step is None else self.max_step,
            self.max_turn,
            self.max_joint_step,
            _DEVIATION * length if self.max_deviation is None else self.max_deviation,
            self.max_tilt,
            np.where(chain.sliding, length, 1.0),
            length,
        )
        for name, value in zip(bounds._fields[:5], bounds[:5], strict=True):
            require(0.0 < value < math.inf, f"max_{name}", value, "a positive number")
        return bounds

    def error(self, target: Array, reached: Array) -> tuple[float, float]:
        """Return distance [m] and angle [rad] of two poses (4, 4), over components that count."""
        distance = math.hypot(*(reached[:3, 3] - target[:3, 3]).tolist())
        free = self._free
        if self.mode == "position" or all(free):
            return distance, 0.0
        R = target[:3, :3].T @ reached[:3, :3]
        if self.mode == "position_axis" or sum(free) == 1:
            axis = free if self.mode == "pose" else _Z if self.axis is None else self.axis
            return distance, _tilt(R, axis)
        return distance, math.hypot(*(so3_log(R) * self._bound).tolist())

    @cached_property
    def _free(self) -> tuple[bool, ...]:
        """Whether the orientation, or each component of its error, is free."""
        tolerances = np.atleast_1d(np.asarray(self.orientation_tolerance, dtype=np.float64))
        return tuple(np.isinf(tolerances).tolist())

    @cached_property
    def _bound(self) -> Array:
        """0 for each component that is free, else 1."""
        return np.logical_not(self._free).astype(np.float64)

    def turns(self) -> bool:
        """Return whether the orientation counts at all."""
        return self.mode != "position"


class Bounds(NamedTuple):
    """The bounds of PathOptions for one arm; ``units`` (n,) are the equivalents of a radian."""

    step: float
    turn: float
    joint_step: float
    deviation: float
    tilt: float
    units: Array
    length: float


def _tilt(R: Array, axis: Sequence[float]) -> float:
    """Return the angle [rad] by which R (3, 3) tilts an axis."""
    x, y, z = map(float, axis)
    u, v, w = (R @ (x, y, z)).tolist()
    sine = math.hypot(y * w - z * v, z * u - x * w, x * v - y * u)
    return math.atan2(sine, x * u + y * v + z * w)
