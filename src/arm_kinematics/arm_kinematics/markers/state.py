# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/markers/test_layers.py
"""The inputs of the markers as plain values: joints, the tip's trace, the last IK request."""

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

if TYPE_CHECKING:
    from arm_kinematics.dexterity.workspace import SliceOutline


class DrawnJoint(NamedTuple):
    """A joint of a chain as the markers draw it."""

    name: str
    sliding: bool
    lower: float  # limits [rad or m], infinite where there are none
    upper: float
    parent: str  # the links before and after it
    child: str
    # (4, 4) link <- a frame with z on the axis; both frames coincide at position 0
    in_parent: Array
    in_child: Array


def drawn_joints(chain: Chain) -> Iterator[DrawnJoint]:
    """Yield the joints of a chain, base to tip; with mimic joints, the first that each drives."""
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
    """Return a frame (4, 4) with z on a screw's axis, as near as possible to the frame home."""
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


SEGMENTS = 8  # number of segments of a trace; older ones are fainter
MAX_POINTS = 32  # per segment


@dataclass(eq=False)
class TraceSegment:
    """A segment of the trace."""

    begun: float  # time of its start [s]
    times: list[float]  # times of its points [s]
    points: list[Array]  # positions of the tip, (3,) each [m]


class TipTrace:
    """The path of the tip during the last ``length`` seconds."""

    def __init__(self, length: float) -> None:
        self.length = length
        # oldest first; each begins where the one before ends
        self.segments: deque[TraceSegment] = deque()

    def update(self, now: float, tip: Array, step: float) -> None:
        """Add the tip (3,) [m] at a time [s] if it has moved by at least a step [m].

        If the time runs backwards, the trace starts again.
        """
        if self.segments and now < self.segments[-1].times[-1]:
            self.segments.clear()
        if not self.segments:
            self.segments.append(TraceSegment(now, [now], [tip]))
            return
        if np.linalg.norm(tip - self.segments[-1].points[-1]) >= step:
            self._add(now, tip)
        while len(self.segments) > 1 and self.segments[0].times[-1] < now - self.length:
            self.segments.popleft()

    def _add(self, now: float, tip: Array) -> None:
        last, span = self.segments[-1], self.length / SEGMENTS
        if now - last.begun > span:
            last = TraceSegment(now, last.times[-1:], last.points[-1:])
            self.segments.append(last)
        if len(last.times) > 1 and last.times[-1] - last.times[-2] < span / MAX_POINTS:
            last.times.pop()  # too close in time to be kept; the end is always at the tip
            last.points.pop()
        last.times.append(now)
        last.points.append(tip)


_NEAR = 0.02  # [rad or m] per joint: nearer to the goal, its ghost would only flicker
FORMER_POSTURES = 8  # that are kept; older ones are fainter


class PostureTrail:
    """The arm's postures every ``period`` seconds while it moves."""

    def __init__(self, period: float) -> None:
        self.period = period
        self.postures: deque[Mapping[str, float]] = deque(maxlen=FORMER_POSTURES)  # oldest first
        self._taken = -np.inf  # when the newest was taken [s]

    def update(self, now: float, positions: Mapping[str, float]) -> None:
        """Keep positions by name [rad or m] at a time [s] if a period and a motion passed."""
        if self._taken <= now < self._taken + self.period:
            return
        last = self.postures[-1] if self.postures else {}
        if any(abs(q - last.get(name, np.inf)) > _NEAR for name, q in positions.items()):
            self.postures.append(dict(positions))
            self._taken = now


@dataclass(frozen=True, eq=False)
class IkAttempt:
    """The last request to the inverse kinematics and its result."""

    chain: Chain
    target: Array  # (4, 4) base <- target of the tool [m]
    tool: Array | None  # (4, 4) tip <- tool [m]; None is the tip itself
    result: IkResult

    @cached_property
    def reached(self) -> Array:
        """The pose (4, 4) base <- tool [m] of the first solution or the best effort."""
        tip = self.chain.fk(self.result.q)
        return tip if self.tool is None else tip @ self.tool


@dataclass
class MarkerInputs:
    """The latest inputs of the markers."""

    robot: Robot
    chain: Chain  # chain to the tip
    visuals: tuple[UrdfShape, ...] = ()  # visual shapes of the links
    inertials: tuple[UrdfInertial, ...] = ()  # masses of the links
    # joint positions by name [rad or m]
    positions: Mapping[str, float] = field(default_factory=dict)
    # goal positions by name; empty if unknown
    goal: Mapping[str, float] = field(default_factory=dict)
    attempt: IkAttempt | None = None
    region: SliceOutline | None = None  # reachable slice; None until it is computed
    trace: TipTrace = field(default_factory=lambda: TipTrace(20.0))
    former: PostureTrail = field(default_factory=lambda: PostureTrail(0.5))
    _nearest: float = np.inf  # that the joints came to those of the attempt [rad or m]

    @cached_property
    def axes(self) -> tuple[DrawnJoint, ...]:
        """The chain's joints, base to tip."""
        return tuple(drawn_joints(self.chain))

    @cached_property
    def size(self) -> float:
        """Length of the arm [m], which scales the marks."""
        return self.chain.length

    @property
    def known(self) -> bool:
        """Whether the positions of all joints of the chain are known."""
        return all(name in self.positions for name in self.chain.joint_names)

    @property
    def q(self) -> Array:
        """Joint positions of the chain (n,) [rad or m]."""
        return self.chain.positions(self.positions)

    @property
    def at_goal(self) -> bool:
        """Whether the arm is at its goal, or has none."""
        return all(abs(self.positions.get(j, np.inf) - q) < _NEAR for j, q in self.goal.items())

    def set_attempt(self, attempt: IkAttempt) -> None:
        """Keep a request and its result until the joints move away from it."""
        self.attempt, self._nearest = attempt, np.inf

    def drop_left_attempt(self) -> bool:
        """Drop the attempt if the joints move away from its result; return whether they do."""
        attempt = self.attempt
        if attempt is None or not all(j in self.positions for j in attempt.chain.joint_names):
            return False
        q = attempt.chain.positions(self.positions)
        distance = float(np.abs(q - attempt.result.q).max())
        if distance > self._nearest + _NEAR:
            self.attempt = None
        self._nearest = min(self._nearest, distance)
        return self.attempt is None

    def update_trace(self, now: float) -> None:
        """Add the tip to the trace at a time [s] if it has moved by a thousandth of the arm."""
        self.trace.update(now, self.chain.fk(self.q)[:3, 3], 1e-3 * self.size)
