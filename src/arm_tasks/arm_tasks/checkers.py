# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Collision checkers of a plan, one for each arrangement of payloads."""

from __future__ import annotations

from arm_description import RobotModel
from arm_tasks.collision import CollisionChecker
from arm_tasks.world_belief import World


class Checkers:
    """A collision checker for each arrangement of payloads, made when it is needed.

    Args:
        model: The robot.
        wanted: Whether to look for collisions at all.
    """

    def __init__(self, model: RobotModel, wanted: bool) -> None:
        self._model = model
        self._wanted = wanted
        self._made: list[tuple[World, CollisionChecker]] = []

    def of(self, world: World) -> CollisionChecker | None:
        """Return the checker for a world, None if collisions are not looked for."""
        if not self._wanted:
            return None
        for known, checker in self._made:
            at_once = known.scene is world.scene and known.carried is world.carried
            if at_once or known.same(world):
                return checker
        checker = CollisionChecker(self._model, world.scene, world.carried)
        self._made.append((world, checker))
        return checker
