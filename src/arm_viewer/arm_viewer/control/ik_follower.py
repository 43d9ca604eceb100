# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm follows the handle: one request at a time, always for the newest wish.

What cannot be reached is said, and the arm stays where it is.

What is asked of the inverse kinematics, what it answers, and jogging steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from arm_common.transforms import rpy_matrix

from arm_viewer.scene.shapes import Array

MODES = {"Pose": 0, "Position": 1, "Position and axis": 2}  # SolveIK's POSE, POSITION, ..._AXIS
JOGS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class IkRequest:
    """How a pose is to be met.

    Attributes:
        mode: A constant of SolveIK.
        position: Largest accepted position error [m]; 0 for the solver's own.
        orientation: Largest accepted angle error [rad]; 0 for the solver's own.
        count: How many solutions to look for.
    """

    mode: int = 0
    position: float = 0.0
    orientation: float = 0.0
    count: int = 1


@dataclass(frozen=True)
class Solution:
    """One answer.

    Attributes:
        joints: Joint name -> value [rad or m].
        position_error: [m].
        orientation_error: [rad].
        distance: From where the joints were [rad or m].
    """

    joints: Mapping[str, float]
    position_error: float
    orientation_error: float
    distance: float


@dataclass(frozen=True)
class IkAnswerView:
    """What came of a request.

    Attributes:
        ok: Whether the pose is met.
        message: One sentence for a person.
        solutions: The nearest first; if the pose is not met, the best effort alone, or nothing.
    """

    ok: bool
    message: str
    solutions: tuple[Solution, ...] = ()

    @property
    def residual(self) -> str:
        """How far the first solution is off, for people to read; empty if there is none."""
        if not self.solutions:
            return ""
        first = self.solutions[0]
        return (
            f"residual {1e3 * first.position_error:.3f} mm, "
            f"{math.degrees(first.orientation_error):.3f}°"
        )


class IkBackend(Protocol):
    """Whoever solves inverse kinematics."""

    def ask(self, frame: str, pose: Array, wish: IkRequest) -> bool:
        """Send a request for a pose (4, 4) in a frame; False if nobody is there to answer."""


def default_mode(arm_joints: int) -> str:
    """Return the mode in which an arm of so many joints can meet what it is asked."""
    if arm_joints >= 6:
        return "Pose"
    return "Position and axis" if arm_joints == 5 else "Position"


def jogged(pose: Array, jog: str, step: float, own_axes: bool) -> Array:
    """Return a pose (4, 4) one step further.

    Args:
        pose: Where it is.
        jog: One of JOGS: along, or turned about, an axis.
        step: [m] or [rad].
        own_axes: Along the tool's own axes, not those of the frame that the pose is given in.
    """
    unit = np.eye(3)["xyz".index(jog[-1])] * step
    motion = np.asarray(
        rpy_matrix(*((np.zeros(3), unit) if jog[0] == "r" else (unit, np.zeros(3))))
    )
    if own_axes:
        return np.asarray(pose @ motion)
    moved = pose.copy()
    moved[:3, :3] = motion[:3, :3] @ pose[:3, :3]
    moved[:3, 3] += motion[:3, 3]
    return moved


LEAP = 1.2  # [rad or m] of one joint from one answer to the next: that is another posture
PATIENCE = 3.0  # [s] after which an answer is not waited for any more
LISTED = 16  # solutions asked for at most
NOBODY = "Nobody solves inverse kinematics here: the node kinematics does not run."
STOPPED = "Stopped: nothing moves until Reset."


@dataclass
class IkFollower:
    """Not thread-safe: used by one thread.

    Attributes:
        solver: Is asked; its answer comes to `answered`.
        joints: Returns where the joints are, by name [rad or m].
        command: Moves joints, by name; returns what is wrong, or "".
        say: Shows one sentence to whoever looks; whether it is a problem.
        offer: Shows the solutions to choose from.
        clock: Returns the time [s].
        wish: How poses are to be met.
        stopped: Whether nothing may move.
    """

    solver: IkBackend
    joints: Callable[[], Mapping[str, float]]
    command: Callable[[Mapping[str, float]], str]
    say: Callable[[str, bool], None]
    offer: Callable[[Sequence[Solution]], None]
    clock: Callable[[], float]
    wish: IkRequest = field(default_factory=IkRequest)
    stopped: bool = False
    _pending: tuple[str, Array] | None = None
    _asked: float | None = None
    _listing: bool = False
    _solutions: tuple[Solution, ...] = ()

    def reach(self, frame: str, pose: Array) -> None:
        """Bring the tool to a pose (4, 4) in a frame, as soon as that can be asked."""
        if self.stopped:
            self.say(STOPPED, True)
            return
        self._pending = (frame, pose.copy())
        self._next()

    def list_solutions(self, frame: str, pose: Array) -> None:
        """Ask for all postures that bring the tool to a pose, to choose from."""
        self._pending = None
        self._listing = self._ask(frame, pose, replace(self.wish, count=LISTED))

    def choose(self, index: int) -> None:
        """Go to one of the solutions that were offered."""
        if 0 <= index < len(self._solutions):
            self._go(self._solutions[index].joints)

    def answered(self, outcome: IkAnswerView) -> None:
        """Take an answer."""
        self._asked = None
        listing, self._listing = self._listing, False
        if listing:
            self._offer(outcome)
        elif not outcome.ok:
            self.say(_joined(outcome.message, outcome.residual), True)
        elif not self.stopped:
            self._follow(outcome)
        self._next()

    def stop(self) -> None:
        """Move nothing any more, whatever answers still come."""
        self.stopped, self._pending = True, None

    def reset(self) -> None:
        """Allow motion again."""
        self.stopped = False

    def _next(self) -> None:
        if self._pending is None or (
            self._asked is not None and self.clock() < self._asked + PATIENCE
        ):
            return
        pending, self._pending = self._pending, None
        self._ask(*pending, self.wish)

    def _ask(self, frame: str, pose: Array, wish: IkRequest) -> bool:
        sent = self.solver.ask(frame, pose, wish)
        self._asked = self.clock() if sent else None
        if not sent:
            self.say(NOBODY, True)
        return sent

    def _follow(self, outcome: IkAnswerView) -> None:
        joints, here = outcome.solutions[0].joints, self.joints()
        far = max(joints, key=lambda name: abs(joints[name] - here.get(name, joints[name])))
        if abs(joints[far] - here.get(far, joints[far])) > LEAP:
            self.say(
                f"Only another posture gets there ({far} would leap): pick it under Solutions.",
                True,
            )
            return
        self._go(joints, outcome.residual)

    def _go(self, joints: Mapping[str, float], said: str = "") -> None:
        problem = STOPPED if self.stopped else self.command(joints)
        self.say(problem or said, bool(problem))

    def _offer(self, outcome: IkAnswerView) -> None:
        self._solutions = outcome.solutions if outcome.ok else ()
        self.offer(self._solutions)
        if not outcome.ok:
            self.say(_joined(outcome.message, outcome.residual), True)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
