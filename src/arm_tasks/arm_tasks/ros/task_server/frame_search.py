# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/arms/test_found_frames.py
"""Frames of tf that are found while a task runs, such as parts that a camera sees."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

from arm_common.errors import InputError, one_line
from arm_common.ros.tf import TfListener, TransformError
from arm_common.transforms import Array

from arm_tasks.errors import PlanError
from arm_tasks.execution.ports import MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedStep, TaskPlan

Extend: TypeAlias = Callable[[int, Array, Callable[[], bool]], TaskPlan]
"""Plans the running task with base_link <- frame (4, 4) [m], found by the step of an index, unless
it is canceled; raises InputError."""

_RUNNING = MoveStatus(MoveState.RUNNING, progress=0.0)


class TfFrameSearch:
    """Waits for a frame, then plans what follows in a thread; implements FrameSearch.

    What counts is a transform that was measured since the search began, on each moving link from
    the base to the frame: an older one may be from where the camera or the part was before.

    Args:
        step: The step that finds the frame.
        listener: Listens to tf.
        base: Name of base_link in tf.
        now: Clock of the stamps [s].
        extend: Plans the rest of the task.
        check: Checks a plan against the other nodes; raises PlanError.
    """

    def __init__(
        self,
        step: PlannedStep,
        listener: TfListener,
        base: str,
        now: Callable[[], float],
        extend: Extend,
        check: Callable[[TaskPlan], None],
    ) -> None:
        assert step.find is not None
        self.plan: TaskPlan | None = None
        self._index, self._find = step.index, step.find
        self._listener, self._base, self._now = listener, base, now
        self._extend, self._check = extend, check
        self._began = now()
        self._canceled = threading.Event()
        self._planning: threading.Thread | None = None
        self._planned: TaskPlan | InputError | None = None

    def poll(self) -> MoveStatus:
        """Return the status; it has succeeded when a feasible plan is there."""
        if self._canceled.is_set():
            return MoveStatus(MoveState.CANCELED)
        if self._planning is None:
            return self._look()
        if self._planning.is_alive() or self.plan is not None:
            return MoveStatus(MoveState.SUCCEEDED) if self.plan is not None else _RUNNING
        found = self._planned
        if not isinstance(found, TaskPlan):
            return self._failed(str(found or "planning failed"))
        if not found.feasible:
            return self._failed(found.message)
        try:
            self._check(found)
        except PlanError as error:
            return self._failed(error.message)
        self.plan = found
        return MoveStatus(MoveState.SUCCEEDED)

    def cancel(self) -> None:
        """Stop looking and planning."""
        self._canceled.set()

    def _failed(self, reason: str) -> MoveStatus:
        return MoveStatus(
            MoveState.FAILED, f"with {self._find.frame} where it was found, {reason}"
        )

    def _look(self) -> MoveStatus:
        frame, now = self._find.frame, self._now()
        try:
            T = self._listener.tree.lookup(self._base, frame)
            stamp = self._listener.oldest_stamp(self._base, frame)
        except TransformError as error:
            reason = one_line(str(error))
        else:
            if stamp >= self._began:
                self._planning = threading.Thread(target=self._plan, args=(T,), daemon=True)
                self._planning.start()
                return _RUNNING
            reason = f"it was last seen {now - stamp:.1f} s ago"
        if now - self._began > self._find.timeout:
            late = f"{frame} was not seen within {self._find.timeout:g} s: {reason}"
            return MoveStatus(MoveState.FAILED, late)
        return _RUNNING

    def _plan(self, T: Array) -> None:
        try:
            self._planned = self._extend(self._index, T, self._canceled.is_set)
        except InputError as error:
            self._planned = error
