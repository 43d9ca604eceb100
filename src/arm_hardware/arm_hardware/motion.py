# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The control core: the commanded position of every axis, tick by tick.

Nothing here knows the time of day: a tick is ``dt`` seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arm_hardware.axes import Axes
from arm_hardware.begin import begin
from arm_hardware.bounds import check_position
from arm_hardware.errors import INVALID_GOAL, CommandError, HardwareError
from arm_hardware.goal import Goal, Outcome
from arm_hardware.output import Output
from arm_hardware.request import Plan
from arm_hardware.runs import ArmRun, GripRun, Tolerances
from arm_hardware.safety import HOLDING, Safety
from arm_hardware.trajectory import Trajectory


class Motion(Safety):
    """Runs one trajectory of the arm and one motion of the gripper at a time; see Safety."""

    def __init__(
        self, axes: Axes, output: Output, dt: float, rest: Sequence[float], slowly: bool = False
    ) -> None:
        """Make the machine, disarmed; arguments as in Safety."""
        super().__init__(axes, output, dt, rest, slowly)
        self._arm: ArmRun | None = None
        self._grip: GripRun | None = None

    @property
    def reference(self) -> tuple[float, ...] | None:
        """Where the running trajectory is (n,), or None [rad or m]."""
        with self._lock:
            return self._arm.reference if self._arm else None

    def follow(self, plan: Plan, tolerances: Tolerances | None = None) -> Goal:
        """Begin a trajectory; a running one is aborted and blended into it.

        Raises:
            CommandError: The plan does not fit to where the arm is.
            StateError: Motion is refused.
        """
        with self._lock:
            trajectory = self.try_follow(plan)
            self._preempt(self._arm)
            self._arm = ArmRun(self.axes, trajectory, plan.delay, tolerances or Tolerances())
            self._note = "Following a trajectory; positions are commanded, not measured."
            goal = self._arm.goal
        self.changed()
        return goal

    def try_follow(self, plan: Plan) -> Trajectory:
        """Return the trajectory that follow() would begin; errors as there."""
        with self._lock:
            self.require_ready()
            n = len(self.axes.arm)
            position = np.array([s.position for s in self._states[:n]])
            velocity = np.array([s.velocity for s in self._states[:n]])
            return begin(plan, self.axes, position, velocity)

    def grip(self, width: float) -> Goal:
        """Begin to move the gripper to a width [m]; a running motion of it is aborted.

        Raises:
            CommandError: No gripper, or the width is out of its limits.
            StateError: Motion is refused.
        """
        self.try_grip(width)
        axis = self.axes.all[-1]
        with self._lock:
            self.require_ready()
            self._preempt(self._grip)
            self._grip = GripRun(axis, min(max(width, axis.lower), axis.upper))
            self._note = "Moving the gripper; commanded, not measured."
            goal = self._grip.goal
        self.changed()
        return goal

    def try_grip(self, width: float) -> None:
        """Raise what grip() would."""
        if self.axes.gripper is None:
            raise CommandError("This arm has no gripper.")
        check_position(self.axes.gripper, width)
        self.require_ready()

    def cancel(self, goal: Goal) -> None:
        """Brake what a goal moves and hold; a goal that has ended is left alone."""
        with self._lock:
            for run in (self._arm, self._grip):
                if run is not None and run.goal is goal:
                    run.cancel()

    def tick(self) -> None:
        """Do one period's work.

        Raises:
            HardwareError: The bus is lost or a bound would be broken; the machine is in FAULT.
        """
        with self._lock:
            self._freeze()
            try:
                if self._armed:
                    self._output.look()
                    self._work()
            except HardwareError as error:
                self.fail(str(error))
                raise
            finally:
                self._estimate.advance(self._output.counts, self._dt)

    def _work(self) -> None:
        if self._waking is not None:
            self._wake()
            return
        arm, grip = self._arm, self._grip
        if arm is None and grip is None:
            return
        arm_over = arm is not None and arm.advance(self._states, self._dt)
        grip_over = grip is not None and grip.advance(self._states[-1], self._dt)
        self._output.write([s.position for s in self._states])
        if self._latched:  # meanwhile: perhaps not all of it was sent
            self._freeze()
            return
        if arm is not None and arm_over:
            self._arm = None
            arm.finish()
        if grip is not None and grip_over:
            self._grip = None
            grip.finish()
        if self._arm is None and self._grip is None:
            self._note = HOLDING
        if arm_over or grip_over:
            self.changed()

    def _wake(self) -> None:
        """Let the arming go on by one tick."""
        waking = self._waking
        if waking is None:
            return
        waking.tick()
        if not waking.left:
            self._waking = None
        if waking.message != self._note or not waking.left:
            self._note = waking.message
            self.changed()

    def _preempt(self, run: ArmRun | GripRun | None) -> None:
        if run is None:
            return
        if run.canceled:
            run.finish()
        run.goal.finish(Outcome.ABORTED, INVALID_GOAL, "Preempted by a newer goal.")

    def _busy(self) -> bool:
        return self._arm is not None or self._grip is not None

    def _drop(self, why: str) -> None:
        for run in (self._arm, self._grip):
            if run is not None:
                run.goal.finish(Outcome.ABORTED, INVALID_GOAL, why)
        self._arm = self._grip = None
        super()._drop(why)
