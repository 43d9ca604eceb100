# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The inputs of the markers in plain values: joints, the tip's trace, the last IK request."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from arm_common.transforms import Array, inverse
from arm_description.urdf.elements import UrdfInertial, UrdfShape

from arm_kinematics.chain.chain import Chain
from arm_kinematics.chain.robot import Robot
from arm_kinematics.ik.result import IkResult
from arm_kinematics.ik.search_model import arm_length

if TYPE_CHECKING:
    from arm_kinematics.dexterity.workspace import SliceMap


class DrawnJoint(NamedTuple):
    """A joint of a chain as it is drawn."""

    name: str
    sliding: bool
    lower: float  # limits [rad or m], infinite where there are none
    upper: float
    parent: str  # the links before and behind it
    child: str
    # (4, 4) link <- a frame on the axis, along z; the two are equal at position 0
    in_parent: Array
    in_child: Array


def axes_of(chain: Chain) -> Iterator[DrawnJoint]:
    """Give the joints of a chain, base to tip; of those that one joint drives, its first."""
    owners = range(chain.n) if chain.gearing is None else chain.gearing.owners
    ratios = np.ones(chain.n) if chain.gearing is None else chain.gearing.ratios[owners]
    for j, screw in enumerate(owners):
        before = [link for link in chain.links if link.joints <= screw][-1]
        behind = next((link for link in chain.links if link.joints > screw), None)
        if behind is None:
            continue
        lower, upper = sorted((ratios[j] * chain.lower[j], ratios[j] * chain.upper[j]))
        sliding = bool(chain.prismatic[screw])
        place = _on_axis(chain.S[:, screw], sliding, behind.home)
        yield DrawnJoint(
            chain.joint_names[j],
            sliding,
            float(lower),
            float(upper),
            before.name,
            behind.name,
            inverse(before.home) @ place,
            inverse(behind.home) @ place,
        )


def _on_axis(screw: Array, sliding: bool, home: Array) -> Array:
    """Return a frame (4, 4) on a screw's axis, along z, as near to a frame as can be."""
    z = screw[:3] if sliding else screw[3:]
    T: Array = home.copy()
    if not sliding:
        foot = np.cross(z, screw[:3])
        T[:3, 3] = foot + z * (z @ (home[:3, 3] - foot))
    x = max(home[:3, :3].T, key=lambda axis: float(np.linalg.norm(axis - z * (z @ axis))))
    x = x - z * (z @ x)
    x /= np.linalg.norm(x)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    return T


PIECES = 8  # that the length is cut into; older ones look older
MOST_POINTS = 32  # of a piece


@dataclass(eq=False)
class TraceSegment:
    """A part of the path."""

    begun: float  # when [s]
    times: list[float]  # of its points [s]
    points: list[Array]  # where the tip was then, (3,) each [m]


class TipTrace:
    """The path of the tip; it forgets what is older than its length [s]."""

    def __init__(self, length: float) -> None:
        self.length = length
        # the oldest first; each begins where the one before ends
        self.pieces: deque[TraceSegment] = deque()

    def note(self, now: float, tip: Array, step: float) -> None:
        """Lengthen the path, if the tip (3,) [m] has moved by a step [m] at a time [s].

        If the time runs backwards, the path begins anew.
        """
        if self.pieces and now < self.pieces[-1].times[-1]:
            self.pieces.clear()
        if not self.pieces:
            self.pieces.append(TraceSegment(now, [now], [tip]))
            return
        if np.linalg.norm(tip - self.pieces[-1].points[-1]) >= step:
            self._add(now, tip)
        while len(self.pieces) > 1 and self.pieces[0].times[-1] < now - self.length:
            self.pieces.popleft()

    def _add(self, now: float, tip: Array) -> None:
        piece, span = self.pieces[-1], self.length / PIECES
        if now - piece.begun > span:
            piece = TraceSegment(now, piece.times[-1:], piece.points[-1:])
            self.pieces.append(piece)
        if len(piece.times) > 1 and piece.times[-1] - piece.times[-2] < span / MOST_POINTS:
            piece.times.pop()  # too near to be kept; the end is always where the tip is
            piece.points.pop()
        piece.times.append(now)
        piece.points.append(tip)


_NEAR = 0.02  # [rad or m] of each joint: so near to the goal its ghost would only flicker


@dataclass(frozen=True, eq=False)
class IkAttempt:
    """The last request to the inverse kinematics and its result."""

    chain: Chain
    target: Array  # (4, 4) base <- target of the tool [m]
    tool: Array | None  # (4, 4) tip <- tool [m]; None is the tip itself
    result: IkResult

    @cached_property
    def reached(self) -> Array:
        """The pose (4, 4) base <- tool of the first solution or the best effort [m]."""
        tip = self.chain.fk(self.result.q)
        return tip if self.tool is None else tip @ self.tool


@dataclass
class MarkerInputs:
    """The newest inputs."""

    robot: Robot
    chain: Chain  # the chain to its tip
    visuals: tuple[UrdfShape, ...] = ()  # what its links look like
    inertials: tuple[UrdfInertial, ...] = ()  # what its links weigh
    # joint positions by name [rad or m]
    positions: Mapping[str, float] = field(default_factory=dict)
    # goal positions by name; empty if not known
    goal: Mapping[str, float] = field(default_factory=dict)
    answer: IkAttempt | None = None
    region: SliceMap | None = None  # what the tip reaches; None until it is computed
    trail: TipTrace = field(default_factory=lambda: TipTrace(20.0))  # where the tip was

    @cached_property
    def axes(self) -> tuple[DrawnJoint, ...]:
        """The chain's joints, base to tip."""
        return tuple(axes_of(self.chain))

    @cached_property
    def size(self) -> float:
        """A length to which marks are sized: the arm's [m]."""
        return arm_length(self.chain.S, self.chain.M)

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
        """Whether the arm is at its goal, or has none."""
        return all(abs(self.positions.get(j, np.inf) - q) < _NEAR for j, q in self.goal.items())

    def note_tip(self, now: float) -> None:
        """Lengthen the trail at a time [s], if the tip has moved by a thousandth of the arm."""
        self.trail.note(now, self.chain.fk(self.q)[:3, 3], 1e-3 * self.size)
