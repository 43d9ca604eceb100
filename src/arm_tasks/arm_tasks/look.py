# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A branch of a plan under way: waits until the world was seen, and knows then where to go on."""

from __future__ import annotations

from collections.abc import Callable

from arm_tasks.condition import Condition, Sensed
from arm_tasks.ports import MoveState, MoveStatus, Senses

_PATIENCE = 3.0  # for the world to tell how it is, which it does every second [s]


class Look:
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
        if sensed is None and self._wall() - self._began < _PATIENCE:
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
