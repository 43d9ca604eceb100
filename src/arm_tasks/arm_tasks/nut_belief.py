# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a plan takes the nut to be doing; nothing measures it while the plan runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from arm_tasks.scene import Scene

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


Belief = OnBolt | InJaws | None


def at_start(scene: Scene) -> Belief:
    """Return where the scene says the nut is."""
    if scene.nut is None:
        return None
    nut = scene.nut
    return OnBolt(nut.on, nut.turns, scene.bolt(nut.on).thread.roll(nut.turns))
