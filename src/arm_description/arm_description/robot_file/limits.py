# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The limits of a joint: an interval of positions, and how fast and strong it is."""

from __future__ import annotations

from dataclasses import dataclass

from ..dh import JointType
from ..yaml_fields import Field
from .scope import Scope

KEYS = ("lower", "upper", "velocity", "acceleration", "effort")
# Of a joint whose file gives none: slow enough for any arm. [rad/s], [m/s]; reached in 0.25 s.
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
    keys = field.mapping(KEYS, required=("lower", "upper"))
    lower = scope.position(keys["lower"], joint_type)
    upper = scope.position(keys["upper"], joint_type)
    if lower >= upper:
        turn = "360" if scope.units.angle == "deg" else "2*pi"
        arc = f", or add {turn} to upper for an arc across half a turn"
        raise field.error(
            "lower must be below upper",
            "exchange them" + (arc if joint_type == "revolute" else ""),
        )
    velocity = DEFAULT_VELOCITY[joint_type]
    if "velocity" in keys:
        velocity = scope.rate(keys["velocity"], joint_type)
    acceleration = 4.0 * velocity
    if "acceleration" in keys:
        acceleration = scope.rate(keys["acceleration"], joint_type)
    effort = DEFAULT_EFFORT
    if "effort" in keys:
        effort = scope.number(keys["effort"])
        if effort <= 0.0:
            raise keys["effort"].error("must be more than 0")
    return Limits(lower, upper, velocity, acceleration, effort)
