# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of several tests: the scene, plans, and jaws without an arm."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from arm_common.transforms import pose, shift_z, so3_exp, turn_z
from arm_kinematics.paths.shapes import line
from arm_simulation.geometric.world import NutWorld
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.scene.scene import Scene
from arm_testing.arms.plans import (
    chain,
    model,
    nut_plan,
    plan_of,
    request_for,
    scene,
    scene_with,
)

OPEN = 0.020
SHUT = 0.0105


class Hand:
    """Jaws without an arm that move a NutWorld's tool in a chosen number of updates."""

    def __init__(self, world: NutWorld, updates: int = 20) -> None:
        self.world = world
        self.updates = updates
        self.width = OPEN
        self.T = pose(p=(0.1, 0.0, 0.3))
        self.seen: list[NutReport] = [world.update(self.T, self.width)]

    @property
    def nut(self) -> NutReport:
        return self.world.report

    def at(
        self, bolt: str, z: float, roll_deg: float = 0.0, tilt_deg: float = 0.0, off: float = 0.0
    ) -> np.ndarray:
        """Return the tool pose on a bolt: z past its end, roll, tilt about x, offset along y."""
        tilt = pose(so3_exp(np.array([math.radians(tilt_deg), 0.0, 0.0])), (0.0, off, 0.0))
        place = self.world.scene.bolt(bolt).pose @ shift_z(z) @ tilt
        return place @ turn_z(math.radians(roll_deg))

    def go(self, T: np.ndarray) -> NutReport:
        between = line(self.T, T)
        for i in range(1, self.updates + 1):
            self.T = T if i == self.updates else between.pose(i / self.updates)
            self.seen.append(self.world.update(self.T, self.width))
        return self.nut

    def set_width(self, width: float) -> NutReport:
        for w in np.linspace(self.width, width, 5):
            self.width = float(w)
            self.seen.append(self.world.update(self.T, self.width))
        return self.nut

    def grip(self) -> NutReport:
        return self.set_width(SHUT)

    def open(self) -> NutReport:
        return self.set_width(OPEN)

    def screw(self, bolt: str, z: float, start_deg: float, turn_deg: float) -> NutReport:
        """Turn about the bolt from a roll, advancing by its pitch, in steps up to 90 deg."""
        it = self.world.scene.bolt(bolt)
        count = max(1, math.ceil(abs(turn_deg) / 90.0))
        for i in range(1, count + 1):
            done = turn_deg * i / count
            forward = it.hand * it.pitch * done / 360.0
            self.go(self.at(bolt, z + forward, start_deg + done))
        return self.nut


@pytest.fixture
def hand(scene: Scene) -> Hand:
    return Hand(NutWorld(scene))


@pytest.fixture
def make_hand() -> Callable[..., Hand]:
    def make(scene: Scene, updates: int = 20) -> Hand:
        return Hand(NutWorld(scene), updates)

    return make
