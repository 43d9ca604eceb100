# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Collisions of the arm with itself and with the scene (no ROS); see checker.py."""

from arm_tasks.collision.along import Way, clearance_along, clearance_of_jaws
from arm_tasks.collision.checker import Clearance, CollisionChecker
from arm_tasks.collision.pairs import LIBRARY, available

__all__ = [
    "LIBRARY",
    "Clearance",
    "CollisionChecker",
    "Way",
    "available",
    "clearance_along",
    "clearance_of_jaws",
]
