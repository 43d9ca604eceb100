# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a plan takes the world to be like at a step: scene, nut, what the jaws carry."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from arm_tasks.condition import Condition
from arm_tasks.geometry import Array
from arm_tasks.nut_belief import Belief, InJaws, OnBolt, at_start
from arm_tasks.payloads import Carried, rest
from arm_tasks.scene import Scene


@dataclass(frozen=True)
class World:
    """The world as the steps before have left it.

    Attributes:
        scene: Where things are; a payload that is carried is where it was taken.
        nut: Where the nut is, None if nobody knows or there is none.
        carried: What the jaws hold, or None.
    """

    scene: Scene
    nut: Belief
    carried: Carried | None = None

    @classmethod
    def at_start(cls, scene: Scene) -> World:
        """Return the world as the scene says."""
        return cls(scene, at_start(scene))

    def with_tool(self, T_tool: Array) -> Scene:
        """Return the scene with what is carried where the tool is, base_link <- tool0 (4, 4)."""
        if self.carried is None:
            return self.scene
        return self.scene.with_thing(self.carried.name, T_tool @ self.carried.grasp)

    def let_go(self, T_tool: Array) -> World:
        """Return the world after the jaws have opened."""
        if self.carried is None:
            return self
        falling, name = self.with_tool(T_tool), self.carried.name
        landed, _ = rest(falling, name)
        return replace(self, scene=falling.with_thing(name, landed), carried=None)

    def seen(self, when: Condition, holds: bool) -> World:
        """Return the world in a branch: the nut is not known where the branch says otherwise."""
        return replace(self, nut=None) if self._contradicts(when, holds) else self

    def same(self, other: World) -> bool:
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
