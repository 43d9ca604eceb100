# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm follows the handle: one request at a time, always for the newest wish.

What cannot be reached is said, and the arm stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .shapes import Array
from .tool_wish import Outcome, Solution, Solver, Wish

LEAP = 1.2  # [rad or m] of one joint from one answer to the next: that is another posture
PATIENCE = 3.0  # [s] after which an answer is not waited for any more
LISTED = 16  # solutions asked for at most
NOBODY = "Nobody solves inverse kinematics here: the node kinematics does not run."
STOPPED = "Stopped: nothing moves until Reset."


@dataclass
class Follower:
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

    solver: Solver
    joints: Callable[[], Mapping[str, float]]
    command: Callable[[Mapping[str, float]], str]
    say: Callable[[str, bool], None]
    offer: Callable[[Sequence[Solution]], None]
    clock: Callable[[], float]
    wish: Wish = field(default_factory=Wish)
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

    def answered(self, outcome: Outcome) -> None:
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

    def _ask(self, frame: str, pose: Array, wish: Wish) -> bool:
        sent = self.solver.ask(frame, pose, wish)
        self._asked = self.clock() if sent else None
        if not sent:
            self.say(NOBODY, True)
        return sent

    def _follow(self, outcome: Outcome) -> None:
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

    def _offer(self, outcome: Outcome) -> None:
        self._solutions = outcome.solutions if outcome.ok else ()
        self.offer(self._solutions)
        if not outcome.ok:
            self.say(_joined(outcome.message, outcome.residual), True)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
