# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One step under way: started once, watched until it ends, stopped on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arm_tasks.look import Look
from arm_tasks.plan import PlannedStep
from arm_tasks.ports import ArmPort, Move, MoveState, MoveStatus, Senses

_PATIENCE = 2.0  # a step may take so many times as long as planned
_GRACE = 5.0  # and this longer [s]
_CANCEL_GRACE = 5.0  # after a cancel the arm has this long to say that it stands still [s]


@dataclass(frozen=True)
class Clocks:
    """Two steady clocks [s]. An arm is late only if it is by both.

    Attributes:
        arm: The arm's, simulated where the arm is.
        wall: On the wall: simulated time may run fast, the machine that simulates does not.
    """

    arm: Callable[[], float]
    wall: Callable[[], float]

    def now(self) -> tuple[float, float]:
        """Return both times."""
        return self.arm(), self.wall()


class StepRun:
    """Starts a step and watches it.

    Args:
        step: What to do.
        port: The arm.
        clocks: What time it is.
        senses: What is known of the world, for a branch; None if nothing is.
    """

    def __init__(
        self, step: PlannedStep, port: ArmPort, clocks: Clocks, senses: Senses | None = None
    ) -> None:
        self.step = step
        self._clocks = clocks
        self._began = self._since = clocks.now()
        self._canceled = False
        self._move: Move | None = None
        if step.trajectory is not None:
            self._move = port.move(step.trajectory)
        elif step.width is not None:
            self._move = port.set_width(step.width)
        elif step.when is not None:
            ways = step.next, step.otherwise
            self._move = Look(step.when, ways, senses, self._began[0], clocks.wall)

    @property
    def next(self) -> int:
        """Index of the step to go on with, once it has succeeded."""
        taken = self._move.goal if isinstance(self._move, Look) else None
        return self.step.next if taken is None else taken

    @property
    def elapsed(self) -> float:
        """Time since it began, on the arm's clock [s]."""
        return self._clocks.arm() - self._began[0]

    def cancel(self) -> None:
        """Ask the arm to stop where it is; poll() tells when it stands."""
        if not self._canceled:
            self._canceled, self._since = True, self._clocks.now()
            if self._move is not None:
                self._move.cancel()

    def poll(self) -> MoveStatus:
        """Return how far it is; an arm that is much too late has failed."""
        status = self._wait() if self._move is None else self._move.poll()
        if status.done:
            return status
        planned = self.step.duration
        if self._canceled:
            if self._is_late(_CANCEL_GRACE):
                return MoveStatus(MoveState.FAILED, "the arm does not say that it stopped")
        elif self._is_late(_PATIENCE * planned + _GRACE):
            if self._move is not None:
                self._move.cancel()
            late = f"the arm was not done after {self.elapsed:.1f} s, planned were {planned:.1f} s"
            return MoveStatus(MoveState.FAILED, late)
        if status.progress is not None:
            return status
        guess = min(self.elapsed / planned, 0.99) if planned > 0.0 else 0.0
        return MoveStatus(MoveState.RUNNING, progress=guess)

    def _wait(self) -> MoveStatus:
        if self.elapsed >= self.step.duration:
            return MoveStatus(MoveState.SUCCEEDED)
        return MoveStatus(MoveState.CANCELED if self._canceled else MoveState.RUNNING)

    def _is_late(self, patience: float) -> bool:
        """Whether more than a time [s] has passed on the arm's clock, and enough on the wall."""
        arm, wall = self._clocks.now()
        return arm - self._since[0] > patience and wall - self._since[1] > _GRACE
