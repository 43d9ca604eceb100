# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/screwing/test_planner.py
"""The expected world at a step of a plan: scene, nut and carried payload."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel

from arm_tasks.planning.collision.checker import CollisionChecker
from arm_tasks.scene.grasp import Carried, lies_on, resting_pose
from arm_tasks.scene.scene import Scene
from arm_tasks.task.condition import Condition
from arm_tasks.task.steps import Expectation

# The jaws open along the tool's y, and a flat faces the nut's x: they fit at a relative roll of 90
# degrees and at every sixth of a turn from there.
_JAW_ANGLE = math.pi / 2.0
_ROUNDING = 0.05  # [turns]; the strokes add up to the turns, or 1 degree less


@dataclass(frozen=True)
class OnBolt:
    """The nut is on a bolt."""

    bolt: str
    turns: float  # turns to take it off
    roll: float  # roll about the bolt's z [rad]

    @property
    def fit(self) -> float:
        """A tool roll about the bolt's z at which the jaws fit the flats [rad]."""
        return self.roll - _JAW_ANGLE


@dataclass(frozen=True)
class InJaws:
    """The nut is free in the jaws."""

    phase: float  # roll of the nut minus roll of the tool [rad]


@dataclass(frozen=True)
class Dropped:
    """The nut fell when the jaws opened."""

    step: str  # name of the step that opened them
    line: int  # its line in the task file


PlannedNutState = OnBolt | InJaws | Dropped | None


def where_nut_is(nut: PlannedNutState) -> str:
    """Return where the nut is, a clause."""
    if nut is None:
        return "the position of the nut is unknown"
    if isinstance(nut, Dropped):
        return f"the nut lies on the floor, as {nut.step} (line {nut.line}) opened the jaws"
    return f"the nut is on {nut.bolt}" if isinstance(nut, OnBolt) else "the nut is in the jaws"


@dataclass(frozen=True)
class PlannedWorldState:
    """The expected world after the previous steps."""

    scene: Scene  # a carried payload is where it was gripped
    nut: PlannedNutState  # None if unknown or if there is no nut
    carried: Carried | None = None  # the payload in the jaws, or None

    @classmethod
    def at_start(cls, scene: Scene) -> PlannedWorldState:
        """Return the initial world of a scene."""
        if (nut := scene.nut) is None:
            return cls(scene, None)
        return cls(scene, OnBolt(nut.on, nut.turns, scene.bolt(nut.on).roll(nut.turns)))

    def with_tool(self, T_tool: Array) -> Scene:
        """Return the scene with the carried payload at base_link <- tool0 (4, 4)."""
        if self.carried is None:
            return self.scene
        return self.scene.with_object(self.carried.name, T_tool @ self.carried.grasp)

    def released(self, T_tool: Array) -> PlannedWorldState:
        """Return the world after the jaws have opened."""
        if self.carried is None:
            return self
        dropped, name = self.with_tool(T_tool), self.carried.name
        landed, _ = resting_pose(dropped, name)
        return replace(self, scene=dropped.with_object(name, landed), carried=None)

    def after_branch(self, when: Condition, holds: bool) -> PlannedWorldState:
        """Return the world in a branch; the nut is unknown if the branch contradicts the plan."""
        expected = self._expected(when)
        contradicted = bool(expected) and all(expected) != holds
        return replace(self, nut=None) if contradicted else self

    def is_same(self, other: PlannedWorldState) -> bool:
        """Return whether all payloads have the same poses in both."""
        a, b = self.carried, other.carried
        if (a and a.name) != (b and b.name):
            return False
        if a and b and not np.allclose(a.grasp, b.grasp, rtol=0.0, atol=1e-9):
            return False
        pairs = zip(self.scene.objects.values(), other.scene.objects.values(), strict=True)
        return all(np.allclose(a.pose, b.pose, rtol=0.0, atol=1e-9) for a, b in pairs)

    def has_same_frames(self, other: PlannedWorldState) -> bool:
        """Return whether all frames are the same in both, also those found by steps."""
        ours, theirs = self.scene.frames, other.scene.frames
        return ours.keys() == theirs.keys() and all(
            np.allclose(T, theirs[name], rtol=0.0, atol=1e-9) for name, T in ours.items()
        )

    def unmet(self, expected: Expectation) -> str:
        """Return why an expectation is not met, "" if it is or if that is unknown.

        Raises:
            SceneError: It names something that the scene lacks.
        """
        if expected.nut_on and (reason := self._nut_unmet(expected)):
            return reason
        if not expected.payload:
            return ""
        name, support = expected.payload, self.scene.object(expected.payload)
        if self.carried is not None and self.carried.name == name:
            return f"at the end the jaws still hold {name}"
        on = lies_on(self.scene, support.name)
        where = f"{name} lies on {on}" if on else f"{name} is in the air"
        return "" if on == expected.lies_on else f"at the end {where}, not on {expected.lies_on}"

    def _nut_unmet(self, expected: Expectation) -> str:
        bolt, nut = self.scene.bolt(expected.nut_on), self.nut
        thickness = self.scene.require_nut().thickness
        if nut is None:
            return ""
        if not isinstance(nut, OnBolt) or nut.bolt != bolt.name:
            return f"at the end {where_nut_is(nut)}, not on {bolt.name}"
        engaged = bolt.engaged(nut.turns, thickness)
        if engaged >= expected.turns - _ROUNDING:
            return ""
        required = f"at least {expected.turns:g} are required"
        return f"at the end {engaged:.2f} turns are engaged on {bolt.name}; {required}"

    def _expected(self, when: Condition) -> list[bool]:
        """Return whether each part of a condition on the nut holds according to the plan."""
        expected = []
        if when.nut_on:
            on = self.nut if isinstance(self.nut, OnBolt) else OnBolt("", 0.0, 0.0)
            expected.append(on.bolt == when.nut_on and on.turns >= (when.turns or 0.0))
        if when.nut_held is not None:
            expected.append(isinstance(self.nut, InJaws) == when.nut_held)
        if when.nut_fallen is not None:
            expected.append(isinstance(self.nut, Dropped) == when.nut_fallen)
        return expected


class CollisionCheckerCache:
    """Collision checkers of a robot, one for each arrangement of payloads, if enabled."""

    def __init__(self, model: RobotModel, enabled: bool) -> None:
        self._model = model
        self._enabled = enabled
        self._checkers: list[tuple[PlannedWorldState, CollisionChecker]] = []

    def get(self, world: PlannedWorldState) -> CollisionChecker | None:
        """Return the checker for a world, or None if collisions are not checked."""
        if not self._enabled:
            return None
        for known, checker in self._checkers:
            identical = known.scene is world.scene and known.carried is world.carried
            if identical or known.is_same(world):
                return checker
        checker = CollisionChecker(self._model, world.scene, world.carried)
        self._checkers.append((world, checker))
        return checker
