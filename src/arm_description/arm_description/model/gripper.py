# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is at the end of an arm: a gripper of two fingers or a claw, or a tool that is mounted.

The width is the distance between the fingers' tips across the opening, along the tool's y. A jaw
of a claw turns about an axis parallel to the tool's x; the line from its pivot to its tip is at an
angle from the tool's z, positive outwards:

    width = pivots + n * length * sin(angle), n jaws turning
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from arm_common.transforms import Matrix

from arm_description.model.elements import NO_MOTION, LookShape, Origin, Triple

Turning: TypeAlias = Literal["both", "left", "right"]
TURNING: tuple[Turning, ...] = ("both", "left", "right")
DEFAULT_FORCE = 10.0  # at the tip of a finger, assumed for hobby servos [N]
MAX_JAW_ANGLE = math.radians(85.0)  # at a right angle, the jaw no longer changes the width


@dataclass(frozen=True)
class FingerShape:
    """Box of one finger, for display and collision."""

    length: float  # along the tool's z, or the jaw [m]
    width: float  # along the tool's x [m]
    thickness: float  # along the opening [m]
    overhang: float  # length beyond the grasp point [m]


@dataclass(frozen=True)
class Claw:
    """Jaws that turn; the tips are at the grasp point when closed."""

    length: float  # from the pivot of a jaw to its tip, where it grips [m]
    # distance between the pivots, or from the face of a fixed jaw to the pivot of the other [m]
    pivots: float
    closed: float  # angle of a turning jaw when closed [rad]
    open: float  # angle of a turning jaw when open, above closed [rad]
    turning: Turning = "both"  # the jaws that turn; a gear moves both by the same angle
    face: float = 0.0  # distance of a fixed jaw's face from the tool's z axis [m]

    @property
    def reach(self) -> float:
        """Distance from the pivots to the grasp point along the tool's z [m]."""
        return self.length * math.cos(self.closed)

    def width(self, angle: float) -> float:
        """Return the width [m] with the turning jaws at an angle [rad]."""
        return self.pivots + self._turning * self.length * math.sin(angle)

    def angle(self, width: float) -> float:
        """Return the angle of the turning jaws [rad] at a width [m]; clamped to their travel."""
        sine = (width - self.pivots) / (self._turning * self.length)
        sine = min(max(sine, math.sin(self.closed)), math.sin(self.open))
        return math.asin(sine)

    def slope(self, angle: float) -> float:
        """Return the change of the width with the angle [m/rad]."""
        return self._turning * self.length * math.cos(angle)

    def pivot(self, side: int) -> float:
        """Return y of the pivot of a turning jaw [m]; side -1 is the left jaw, 1 the right."""
        return side * (self.pivots / 2 if self.turning == "both" else self.pivots - self.face)

    @property
    def _turning(self) -> int:
        return 2 if self.turning == "both" else 1


@dataclass(frozen=True)
class Gripper:
    """A gripper with two fingers or jaws that open along the tool's y.

    Attributes:
        joints: names of the left (towards -y) and right (towards +y) finger joint. The position
            of a sliding finger is half the width [m], that of a turning jaw its angle [rad]; a
            fixed jaw has no position.
        min_width: closed [m].
        max_width: open [m].
        velocity: maximum speed of the width [m/s].
        acceleration: maximum acceleration of the width [m/s^2].
        finger: shape of a finger.
        palm: box of the palm: along z, along y, along x [m].
        effort: force at the tip of a finger [N].
        claw: geometry of turning jaws; None for fingers that slide.
        source: origin of the numbers.
    """

    joints: tuple[str, str]
    min_width: float
    max_width: float
    velocity: float
    acceleration: float
    finger: FingerShape
    palm: Triple
    effort: float = DEFAULT_FORCE
    claw: Claw | None = None
    source: str = ""

    @property
    def moving(self) -> tuple[str, ...]:
        """Names of the finger joints that move."""
        turning = self.claw.turning if self.claw else "both"
        return self.joints if turning == "both" else (self.joints[TURNING.index(turning) - 1],)

    @property
    def travel(self) -> tuple[float, float]:
        """Positions of a moving finger joint [rad or m], closed and open."""
        if self.claw is None:
            return self.min_width / 2, self.max_width / 2
        closed, opened = self.claw.closed, self.claw.open
        if self.min_width > self.claw.width(closed):
            closed = self.claw.angle(self.min_width)
        if self.max_width < self.claw.width(opened):
            opened = self.claw.angle(self.max_width)
        return closed, opened

    def prefixed(self, prefix: str) -> Gripper:
        """Return the gripper with the names that its joints have in messages."""
        left, right = self.joints
        return replace(self, joints=(prefix + left, prefix + right))

    @property
    def depth(self) -> float:
        """Distance from the palm to the grasp point along the tool's z [m]."""
        return self.claw.reach if self.claw else self.finger.length - self.finger.overhang

    @property
    def fastest(self) -> float:
        """Largest ratio of a finger joint's speed to that of the width [rad/m or 1]."""
        if self.claw is None:
            return 0.5
        return 1.0 / min(map(self.claw.slope, (self.claw.closed, self.claw.open)))

    def positions(self, width: float) -> dict[str, float]:
        """Return the positions of the moving finger joints [rad or m] at a width [m]."""
        return dict.fromkeys(self.moving, self.claw.angle(width) if self.claw else width / 2)

    def rates(self, width: float, rate: float) -> dict[str, float]:
        """Return the speeds of the moving finger joints [rad/s or m/s].

        Args:
            width: the width [m].
            rate: its speed [m/s].
        """
        slope = self.claw.slope(self.claw.angle(width)) if self.claw else 2.0
        return dict.fromkeys(self.moving, rate / slope)

    def width_of(self, positions: Mapping[str, float]) -> float:
        """Return the width [m] at positions of the moving finger joints [rad or m].

        Raises:
            KeyError: one of them is missing.
        """
        values = [positions[name] for name in self.moving]
        return self.claw.width(values[0]) if self.claw else sum(values)

    def width_between(self, left: Matrix, right: Matrix) -> float:
        """Return the width [m] from the poses (4, 4) of the fingers' links in the palm [m]."""
        ends = []
        for name, pose in zip(self.joints, (left, right), strict=True):
            reach = self.claw.length if self.claw and name in self.moving else 0.0
            ends.append(float(pose[1, 3] + reach * pose[1, 2]))
        return ends[1] - ends[0]

    def middle(self, width: float) -> float:
        """Return y of the middle between the tips [m] at a width [m]; 0 if both move."""
        if self.claw is None or self.claw.turning == "both":
            return 0.0
        side = 1 if self.claw.turning == "right" else -1
        return side * (width / 2 - self.claw.face)


@dataclass(frozen=True)
class MountedTool:
    """A tool at the end of an arm; its gripper, if it has one, is that of the arm."""

    name: str  # name of a shipped tool, or the absolute path of its file
    mass: float  # of the whole tool [kg]
    mount: Origin = NO_MOTION  # flange <- tool_link, the frame of its body
    frame: Origin = NO_MOTION  # tool_link <- tool0, where it works
    body: tuple[LookShape, ...] = ()  # shapes of its body, without palm and fingers, in tool_link
    description: str = ""  # one line about it
    source: str = ""  # origin of its numbers
