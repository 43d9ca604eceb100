# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Transmissions whose map is curved, and what the travel of their actuator allows the joint."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array

from arm_description.model.constraints import JointConstraint
from arm_description.model.transmissions.transmission import Transmission


class CurvedTransmission(Transmission):
    """A transmission of one actuator and one joint whose velocity ratio changes with the joint."""

    @abstractmethod
    def joint_at_limit(self, limit: float, q: Array) -> Array:
        """Return the joint (...) that takes the actuator to a limit, the inputs at q (..., k)."""

    def constraint(self, output: int, lower: float, upper: float, reason: str) -> JointConstraint:
        """Return the part of the joint's range that a travel of the actuator allows."""
        return CurvedTravel(self, lower, upper, reason)


@dataclass(frozen=True)
class CurvedTravel:
    """The part of a joint's range that the travel of its actuator allows: a JointConstraint."""

    transmission: CurvedTransmission
    lower: float  # ends of the travel [rad or m]
    upper: float
    reason: str

    @property
    def joint(self) -> str:
        """The joint whose range it is."""
        return self.transmission.joints[0]

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that the actuator depends on, the joint first."""
        return self.transmission.inputs

    def bounds(self, q: Mapping[str, float]) -> tuple[float, float]:
        """Return the least and greatest position of the joint [rad or m]; others at q."""
        lower, upper = self._bounds(np.array([q.get(name, 0.0) for name in self.joints]))
        return float(lower), float(upper)

    def violation(self, q: Array) -> Array:
        """Return how far the joint is outside (...), <= 0 inside; q (..., k) as ``joints``."""
        lower, upper = self._bounds(q)
        return np.asarray(np.maximum(lower - q[..., 0], q[..., 0] - upper))

    def _bounds(self, q: Array) -> tuple[Array, Array]:
        ends = [self.transmission.joint_at_limit(end, q) for end in (self.lower, self.upper)]
        return np.minimum(*ends), np.maximum(*ends)
