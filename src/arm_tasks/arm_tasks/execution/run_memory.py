# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/execution/test_engine.py
"""What a run remembers beside its state."""

from __future__ import annotations

from dataclasses import dataclass, field

from arm_tasks.execution.ports import ArmPort
from arm_tasks.planning.plan import PlannedStep


@dataclass
class RunProgress:
    """How far a run is."""

    next: int  # index of the step that runs, or of the next one
    remainder: PlannedStep | None = None  # to begin with instead of that step
    inside: bool = False  # whether that step has begun
    fraction: float = 0.0  # of that step that is done, 0 to 1
    last_step: str = ""  # name of the last step that was started
    began: float | None = None  # time of the first tick [s]
    durations: list[float] = field(default_factory=list)
    # by which slow motions took longer than planned [s]
    behind: float = 0.0


@dataclass
class Interruption:
    """A pause or stop; of a single step, the pause to come."""

    reason: str
    since: float = 0.0  # [s]
    after_step: bool = False  # whether to pause when the step is done


@dataclass
class Recovery:
    """From failures of one step."""

    tries: int = 0  # that have failed
    since: float | None = None  # time since which the arm brakes after a failure [s]
    returning: str = ""  # why the arm returns to where the step began: it has failed for good


class PausedSpeed:
    """The arm's speed scaling, which is 0 while a motion is paused and restored afterwards."""

    def __init__(self, port: ArmPort) -> None:
        self._port = port
        self._factor = 1.0  # the last one other than 0 that was reported or set
        self._is_paused = False

    def note(self) -> None:
        """Remember the scaling; the arm reports 0 for a while after it was restored."""
        self._factor = self._port.speed_scaling or self._factor

    def pause(self) -> None:
        """Set the scaling to 0."""
        self.note()
        self._is_paused = True
        self._port.scale_speed(0.0)

    def restore(self, ended: bool = True) -> None:
        """Restore the scaling from before a pause, if there was one.

        If it is uncertain whether the motion has ended, it must not continue: the arm restores the
        scaling itself, once it executes no motion.
        """
        if self._is_paused:
            scale = self._port.scale_speed if ended else self._port.scale_speed_when_idle
            scale(self._factor)
            self._is_paused = not ended  # a motion that starts before needs it at once

    def keep(self) -> None:
        """Leave the scaling as someone else has set it."""
        self._is_paused = False
