# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One step under way: started once, watched until it ends, stopped on request.

A branch of a plan under way: waits until the world was seen, and knows then where to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arm_tasks.execution.ports import ArmPort, Move, MoveState, MoveStatus, Senses
from arm_tasks.planning.plan import PlannedStep
from arm_tasks.task.condition import Condition, Sensed

_CONDITION_PATIENCE = 3.0  # for the world to tell how it is, which it does every second [s]


class ConditionCheck:
    """Takes the one or the other way.

    Args:
        when: What must hold.
        ways: Index of the step to go on with if it holds, and if not; None fails.
        senses: What is known of the world; None if nothing is.
        since: Only what was seen after this time on the arm's clock counts [s].
        wall: Steady time on the wall [s].

    Attributes:
        goal: The way that was taken, None before.
    """

    def __init__(
        self,
        when: Condition,
        ways: tuple[int, int | None],
        senses: Senses | None,
        since: float,
        wall: Callable[[], float],
    ) -> None:
        self.goal: int | None = None
        self._when, self._ways, self._senses, self._since = when, ways, senses, since
        self._wall, self._began = wall, wall()
        self._canceled = False

    def poll(self) -> MoveStatus:
        """Look, and return whether it is known how to go on."""
        if self._canceled:
            return MoveStatus(MoveState.CANCELED)
        sensed = self._senses(self._when, self._since) if self._senses else Sensed()
        if sensed is None and self._wall() - self._began < _CONDITION_PATIENCE:
            return MoveStatus(MoveState.RUNNING)
        sensed = sensed or Sensed()
        if missing := self._when.missing(sensed):
            why = f"{missing}, so that nobody knows whether {self._when}"
            return MoveStatus(MoveState.FAILED, why)
        self.goal = self._ways[0] if self._when.holds(sensed) else self._ways[1]
        if self.goal is None:
            return MoveStatus(MoveState.FAILED, f"it does not hold that {self._when}")
        return MoveStatus(MoveState.SUCCEEDED)

    def cancel(self) -> None:
        """Do not look any more."""
        self._canceled = True


_STEP_PATIENCE = 2.0  # a step may take so many times as long as planned
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


class StepExecution:
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
            self._move = ConditionCheck(step.when, ways, senses, self._began[0], clocks.wall)

    @property
    def next(self) -> int:
        """Index of the step to go on with, once it has succeeded."""
        taken = self._move.goal if isinstance(self._move, ConditionCheck) else None
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
        elif self._is_late(_STEP_PATIENCE * planned + _GRACE):
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
