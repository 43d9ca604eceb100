# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""All that the marks are drawn from, in plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from arm_description.urdf.bodies import Body

from arm_kinematics.chain import Chain
from arm_kinematics.constants import arm_length
from arm_kinematics.lie import Array
from arm_kinematics.markers.axes import Axis, axes_of
from arm_kinematics.markers.mark import Colour
from arm_kinematics.markers.trail import Trail
from arm_kinematics.robot import Robot

_NEAR = 0.02  # [rad or m] of each joint: so near to the goal its ghost would only flicker


@dataclass(frozen=True, eq=False)
class Answer:
    """The last request to the inverse kinematics and what became of it.

    Attributes:
        chain: The chain that was asked.
        target: (4, 4) base <- wanted tip [m].
        reached: (4, 4) base <- tip at the first solution or the best effort [m].
        position_error: Distance between the two as asked for [m].
        orientation_error: Angle between the two as asked for [rad].
        ok: Whether the target is reached.
        solutions: (k, n) joint positions, the preferred first [rad or m].
    """

    chain: Chain
    target: Array
    reached: Array
    position_error: float
    orientation_error: float
    ok: bool
    solutions: Array


@dataclass(frozen=True, eq=False)
class Region:
    """What the tip reaches in a plane.

    Attributes:
        T: (4, 4) base <- plane; x and y lie in it [m].
        x: (k,) centres of the cells along x [m].
        y: (m,) centres of the cells along y [m].
        reached: (m, k) of bool.
    """

    T: Array
    x: Array
    y: Array
    reached: Array


@dataclass
class Seen:
    """What is known; each entry is the newest.

    Attributes:
        robot: The robot.
        chain: The chain to its tip.
        bodies: What its links look like and weigh.
        positions: Joint positions by name [rad or m].
        goal: Where the joints are going to, by name; empty if that is not known.
        answer: The last request to the inverse kinematics; None if there was none.
        region: What the tip reaches; None until that was found out.
        trail: Where the tip was.
    """

    robot: Robot
    chain: Chain
    bodies: tuple[Body, ...] = ()
    positions: Mapping[str, float] = field(default_factory=dict)
    goal: Mapping[str, float] = field(default_factory=dict)
    answer: Answer | None = None
    region: Region | None = None
    trail: Trail = field(default_factory=lambda: Trail(20.0))

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The chain's joints, base to tip."""
        return tuple(axes_of(self.chain))

    @cached_property
    def size(self) -> float:
        """A length to which marks are sized: the arm's [m]."""
        return arm_length(self.chain.S, self.chain.M)

    @property
    def base(self) -> str:
        """Name of the frame that stands still."""
        return self.robot.base

    @property
    def known(self) -> bool:
        """Whether the position of each joint of the chain is known."""
        return all(name in self.positions for name in self.chain.joint_names)

    @property
    def q(self) -> Array:
        """Joint positions of the chain (n,) [rad or m]."""
        return self.chain.positions(self.positions)

    @property
    def at_goal(self) -> bool:
        """Whether the arm is where it is going to, or goes nowhere."""
        return all(abs(self.positions.get(j, np.inf) - q) < _NEAR for j, q in self.goal.items())

    def note_tip(self, now: float) -> None:
        """Lengthen the trail, if the tip has moved by a thousandth of the arm since.

        Args:
            now: The time [s].
        """
        self.trail.note(now, self.chain.fk(self.q)[:3, 3], 1e-3 * self.size)


def hue(colour: str, opacity: float) -> Colour:
    """Return "#rrggbb" with an opacity."""
    r, g, b = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return (r, g, b, opacity)
