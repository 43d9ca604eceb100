# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The measure that all drawn sizes are parts of."""

from __future__ import annotations

import math

from ..model import RobotModel

SHORTEST = 1e-6  # what is shorter is not drawn [m]
TAPER = 0.45


def reach(model: RobotModel) -> float:
    """Length of the arm stretched out, from the ground [m]: the measure of all sizes."""
    total = math.hypot(*model.base.xyz) + math.hypot(*model.tool.xyz)
    for joint in model.joints:
        total += abs(joint.row.a) + abs(joint.row.d)
        if joint.type == "prismatic":
            total += max(abs(joint.lower), abs(joint.upper))
    return total if total > SHORTEST else 0.1


def size_at(model: RobotModel, index: int) -> float:
    """Measure of what belongs to a joint [m], smaller towards the tool."""
    return reach(model) * (1.0 - TAPER * index / max(model.n - 1, 1))
