# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a plan takes the world to be like at a step: scene, nut, what the jaws carry.

What a plan takes the nut to be doing; nothing measures it while the plan runs.

Collision checkers of a plan, one for each arrangement of payloads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array

from arm_description import RobotModel
from arm_tasks.planning.collision.checker import CollisionChecker
from arm_tasks.scene.payloads import Carried, rest
from arm_tasks.scene.scene import Scene
from arm_tasks.task.condition import Condition

# The jaws move along the tool's y, a flat's middle is at the nut's x: they fit at 90 degrees, and
# at any sixth of a turn from there.
JAWS = math.pi / 2.0


@dataclass(frozen=True)
class OnBolt:
    """The nut is on a bolt.

    Attributes:
        bolt: Its name.
        turns: Turns that would take it off.
        roll: Its roll about the bolt's z [rad].
    """

    bolt: str
    turns: float
    roll: float

    @property
    def fit(self) -> float:
        """A tool roll about the bolt's z at which the jaws lie on flats [rad]."""
        return self.roll - JAWS


@dataclass(frozen=True)
class InJaws:
    """The nut is free in the jaws.

    Attributes:
        phase: Roll of the nut less roll of the tool [rad].
    """

    phase: float


PlannedNutState = OnBolt | InJaws | None


def at_start(scene: Scene) -> PlannedNutState:
    """Return where the scene says the nut is."""
    if scene.nut is None:
        return None
    nut = scene.nut
    return OnBolt(nut.on, nut.turns, scene.bolt(nut.on).thread.roll(nut.turns))


@dataclass(frozen=True)
class PlannedWorldState:
    """The world as the steps before have left it.

    Attributes:
        scene: Where things are; a payload that is carried is where it was taken.
        nut: Where the nut is, None if nobody knows or there is none.
        carried: What the jaws hold, or None.
    """

    scene: Scene
    nut: PlannedNutState
    carried: Carried | None = None

    @classmethod
    def at_start(cls, scene: Scene) -> PlannedWorldState:
        """Return the world as the scene says."""
        return cls(scene, at_start(scene))

    def with_tool(self, T_tool: Array) -> Scene:
        """Return the scene with what is carried where the tool is, base_link <- tool0 (4, 4)."""
        if self.carried is None:
            return self.scene
        return self.scene.with_thing(self.carried.name, T_tool @ self.carried.grasp)

    def let_go(self, T_tool: Array) -> PlannedWorldState:
        """Return the world after the jaws have opened."""
        if self.carried is None:
            return self
        falling, name = self.with_tool(T_tool), self.carried.name
        landed, _ = rest(falling, name)
        return replace(self, scene=falling.with_thing(name, landed), carried=None)

    def seen(self, when: Condition, holds: bool) -> PlannedWorldState:
        """Return the world in a branch: the nut is not known where the branch says otherwise."""
        return replace(self, nut=None) if self._contradicts(when, holds) else self

    def same(self, other: PlannedWorldState) -> bool:
        """Return whether all payloads are alike in both."""
        if (self.carried is None) != (other.carried is None):
            return False
        if self.carried is not None and other.carried is not None:
            a, b = self.carried, other.carried
            if a.name != b.name or not np.allclose(a.grasp, b.grasp, rtol=0.0, atol=1e-9):
                return False
        pairs = zip(self.scene.things.values(), other.scene.things.values(), strict=True)
        return all(np.allclose(a.pose, b.pose, rtol=0.0, atol=1e-9) for a, b in pairs)

    def _contradicts(self, when: Condition, holds: bool) -> bool:
        expected = self._expected(when)
        return bool(expected) and (not all(expected) if holds else all(expected))

    def _expected(self, when: Condition) -> list[bool]:
        """Return for each thing that is asked of the nut whether the plan takes it to be so."""
        expected = []
        if when.nut_on:
            on = isinstance(self.nut, OnBolt) and self.nut.bolt == when.nut_on
            expected.append(on and (when.turns is None or self._turns() >= when.turns))
        if when.nut_held is not None:
            expected.append(isinstance(self.nut, InJaws) == when.nut_held)
        if when.nut_fallen is not None:
            expected.append(not when.nut_fallen)
        return expected

    def _turns(self) -> float:
        return self.nut.turns if isinstance(self.nut, OnBolt) else 0.0


class CollisionCheckerCache:
    """A collision checker for each arrangement of payloads, made when it is needed.

    Args:
        model: The robot.
        wanted: Whether to look for collisions at all.
    """

    def __init__(self, model: RobotModel, wanted: bool) -> None:
        self._model = model
        self._wanted = wanted
        self._made: list[tuple[PlannedWorldState, CollisionChecker]] = []

    def of(self, world: PlannedWorldState) -> CollisionChecker | None:
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
