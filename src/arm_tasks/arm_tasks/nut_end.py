# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A nut that a soft arm presses on a bolt's end: it drags, finds the tip, or slides off."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from arm_tasks.geometry import Array, inverse, pose
from arm_tasks.nut_contact import Contact, ContactRules, contact_with
from arm_tasks.scene import Bolt, Nut


@dataclass
class BoltEnd:
    """One bolt's end and the nut on it, step by step.

    The arm is a spring, as stiff across the bolt as along it, so that forces are told as the
    lengths by which it is bent.

    Attributes:
        bolt: The bolt.
        nut: The nut.
        rules: What the end forgives.
        wanted: Where the nut would be if nothing were in its way, one step ago.
        at: (x, y) of the nut's centre in the bolt's frame while it touches [m], or None.
        seated: Whether the tip is in the nut's countersink.
        event: What happened in the last step, one sentence or "".
    """

    bolt: Bolt
    nut: Nut
    rules: ContactRules
    wanted: Contact
    at: Array | None = None
    seated: bool = False
    event: str = ""

    def __post_init__(self) -> None:
        if self.wanted.touching:  # it has just come off this bolt
            self.at, self.seated = np.array(self.wanted.aside), True

    def press(self, T_nut: Array) -> Array:
        """Return where the nut really is, for base_link <- nut (4, 4) if nothing were there."""
        self.event = ""
        self.wanted = now = contact_with(self.bolt, self.nut, T_nut)
        if not now.touching:
            self.at, self.seated = None, False
            return T_nut
        goal = np.array(now.aside)
        pressed = max(now.overlap, 0.0)
        if self.at is None:
            self.at = goal
            self.event = f"touches the end of {self.bolt.name}"
        self.at = _dragged(self.at, goal, self.rules.friction * pressed)
        self._seat(now, goal, pressed)
        x, y = self.at
        here = inverse(self.bolt.pose) @ T_nut
        back = pose(p=(float(x) - now.aside[0], float(y) - now.aside[1], -pressed))
        return np.asarray(self.bolt.pose @ back @ here)

    def _seat(self, now: Contact, goal: Array, pressed: float) -> None:
        if self.seated and now.off_axis > self.rules.hold(pressed):
            self.seated, self.at = False, goal
            self.event = f"slid off the tip of {self.bolt.name}"
        found = float(np.linalg.norm(self.at)) <= self.rules.mouth  # type: ignore[arg-type]
        if not self.seated and found and now.tilt <= self.rules.seat_tilt:
            self.seated = True
            self.event = self.event or f"sits on the tip of {self.bolt.name}"
        if self.seated:
            self.at = np.zeros(2)

    @property
    def refusal(self) -> str:
        """Why the thread cannot catch here, or ""."""
        assert self.at is not None
        if self.seated:
            return ""
        if self.wanted.tilt > self.rules.seat_tilt:
            tilt, most = (math.degrees(v) for v in (self.wanted.tilt, self.rules.seat_tilt))
            return f"it is tilted by {tilt:.1f} deg, at most {most:.1f} is possible"
        off, most = float(np.linalg.norm(self.at)) * 1e3, self.rules.mouth * 1e3
        return f"its axis is {off:.1f} mm beside the bolt's, at most {most:.1f} is possible"


def _dragged(at: Array, goal: Array, drag: float) -> Array:
    """Return where friction leaves a point that is pulled towards a goal (2,)."""
    way = goal - at
    length = float(np.linalg.norm(way))
    return at if length <= drag else np.asarray(goal - way * (drag / length))
