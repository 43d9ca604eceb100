# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The limits of a joint: an interval of positions, and how fast and strong it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..dh import JointType
from ..yaml_fields import Field
from .keys import LIMITS
from .scope import Scope

# Of a joint whose file gives none: slow enough for any arm. [rad/s], [m/s]
DEFAULT_VELOCITY = {"revolute": 1.0, "prismatic": 0.1}
DEFAULT_EFFORT = 10.0


@dataclass(frozen=True)
class Limits:
    """Limits of one joint, as elements.Joint holds them."""

    lower: float
    upper: float
    velocity: float
    acceleration: float
    effort: float


def read_limits(field: Field, joint_type: JointType, scope: Scope) -> Limits:
    """Read the limits of one joint, or of one axis of a joint.

    Raises:
        DescriptionError: something is missing or wrong, or lower is not below upper.
    """
    keys = LIMITS.read(field)
    lower = scope.position(keys["lower"], joint_type)
    upper = scope.position(keys["upper"], joint_type)
    if lower >= upper:
        raise field.error("lower must be below upper", _remedy(lower, upper, joint_type, scope))
    velocity = DEFAULT_VELOCITY[joint_type]
    if "velocity" in keys:
        velocity = scope.velocity(keys["velocity"], joint_type)
    acceleration = scope.acceleration(keys.get("acceleration"), joint_type, velocity)
    effort = scope.positive(keys["effort"]) if "effort" in keys else DEFAULT_EFFORT
    return Limits(lower, upper, velocity, acceleration, effort)


def _remedy(lower: float, upper: float, joint_type: JointType, scope: Scope) -> str:
    """An arc across half a turn, 170 .. -170, is written 170 .. 190."""
    around = upper + 2.0 * math.pi
    if joint_type == "prismatic" or not lower < around:
        return "exchange them"
    written = scope.units.written(around, joint_type)
    return f"exchange them, or write upper: {written:.9g} for the arc that goes on from lower"
