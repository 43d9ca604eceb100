# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task as a behaviour of py_trees, to be part of a larger tree."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from arm_tasks.ros.client.arm import Arm
from arm_tasks.ros.client.future import ArmError, ArmFuture
from arm_tasks.ros.client.task_goal import Progress

# Tasks that were cancelled, by the given arm, or else by the node of the tree (the class without
# one), as each behaviour then has an Arm of its own; the next one begins once they have ended.
_ENDING: WeakKeyDictionary[Any, list[ArmFuture[Any]]] = WeakKeyDictionary()


class TaskBehaviour(Behaviour):  # type: ignore[misc]  # if py_trees is not installed
    """Runs a task: RUNNING until it has ended, SUCCESS once all its steps were done, else FAILURE.

    The task is planned and checked when the behaviour begins; an infeasible one is a FAILURE and
    moves nothing. If the tree interrupts the behaviour, the task is cancelled and the arm holds
    where it is; the next TaskBehaviour of the same arm or tree waits for that. `feedback_message`
    has the running step, or the reason of a failure.

    Args:
        name: Name of the behaviour.
        task: Shipped name or path of a task, as for `Arm.run_task`.
        scene: Shipped name or path; "" selects the scene of the task server.
        arm: The arm, which several behaviours may share; None for one that setup() creates and
            shutdown() closes.
    """

    def __init__(self, name: str, task: str, scene: str = "", arm: Arm | None = None) -> None:
        super().__init__(name)
        self._task, self._scene = task, scene
        self._arm, self._owns_arm = arm, arm is None
        self._key: Any = arm or TaskBehaviour
        self._future: ArmFuture[Any] | None = None
        self._progress = ""

    def setup(self, **options: Any) -> None:
        """Connect; py_trees_ros passes its node as the option `node`.

        Raises:
            ArmError: The arm is not available.
        """
        if self._arm is None:
            self._arm = Arm(options.get("node"))
            self._key = options.get("node") or TaskBehaviour
            self._arm.connect()

    def initialise(self) -> None:
        """Begin the task in the next update()."""
        self._future, self._progress = None, "waiting for the arm"

    def update(self) -> Status:
        """Return the status without waiting."""
        if self._future is None:
            return self._begin()
        if not self._future.done:
            self.feedback_message = self._progress
            return Status.RUNNING
        try:
            self.feedback_message = self._future.result().message
        except ArmError as error:
            self.feedback_message = str(error)
            return Status.FAILURE
        return Status.SUCCESS

    def _begin(self) -> Status:
        if self._arm is None:
            raise RuntimeError(f"{self.name}: call setup() before the first tick")
        ending = _ENDING.get(self._key, [])
        ending[:] = [future for future in ending if not future.done]
        self.feedback_message = self._progress
        if ending:
            return Status.RUNNING
        try:
            self._future = self._arm.later.run_task(
                self._task, self._scene, on_progress=self._on_progress
            )
        except ArmError as error:
            self.feedback_message = str(error)
            return Status.FAILURE
        return Status.RUNNING

    def _on_progress(self, progress: Progress) -> None:
        self._progress = progress.message

    def terminate(self, new_status: Status) -> None:
        """Cancel the task if the tree interrupts it."""
        if self._future is not None and not self._future.done:
            self._future.cancel()
            _ENDING.setdefault(self._key, []).append(self._future)
        self._future = None

    def shutdown(self) -> None:
        """Close the arm that setup() created."""
        if self._owns_arm and self._arm is not None:
            self._arm.close()
            self._arm = None
