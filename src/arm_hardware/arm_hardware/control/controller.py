# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The control core: the commanded position of every axis, tick by tick.

Nothing here knows the time of day: a tick is ``dt`` seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arm_hardware.calibration.axes import Axes
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.control.state_machine import HOLDING, DriverStateMachine
from arm_hardware.control.watchdogs import StreamWatchdog
from arm_hardware.errors import INVALID_GOAL, CommandError, HardwareError
from arm_hardware.motion.execution import Goal, GoalOutcome, Tolerances, TrajectoryExecution
from arm_hardware.motion.goal_validation import ValidatedGoal
from arm_hardware.motion.gripper import GripperExecution, GripperGoal, GripTimer, grip_of
from arm_hardware.motion.limiter import Smoother, ticks_of
from arm_hardware.motion.options import USUAL, MotionOptions
from arm_hardware.motion.trajectory_start import PlannedMotion, plan_motion


class TrajectoryController(DriverStateMachine):
    """Runs one trajectory of the arm and one motion of the gripper at a time; see Safety."""

    def __init__(
        self,
        axes: Axes,
        output: ServoOutput,
        dt: float,
        rest: Sequence[float],
        slowly: bool = False,
        conduct: MotionOptions = USUAL,
    ) -> None:
        """Make the machine, disarmed.

        Args:
            axes: The arm.
            output: Where positions go.
            dt: Length of a tick [s].
            rest: Posture to assume where the board sends no pulses, as ``axes.all`` [rad or m].
            slowly: Whether they go there in short bursts, one after another.
            conduct: How the arm is moved.
        """
        super().__init__(axes, output, dt, rest, slowly)
        self._conduct = conduct
        self._arm: TrajectoryExecution | None = None
        self._grip: GripperExecution | None = None
        self._smoother = Smoother(ticks_of(conduct.jerk_time, dt))
        self._watch = StreamWatchdog(conduct.command_timeout)
        self._pressing = GripTimer(conduct.squeeze)
        self._ending = ""

    @property
    def reference(self) -> tuple[float, ...] | None:
        """Where the running trajectory is (n,), or None [rad or m]."""
        with self._lock:
            return self._arm.reference if self._arm else None

    def follow(
        self,
        goal: ValidatedGoal | PlannedMotion,
        tolerances: Tolerances | None = None,
        streamed: bool = False,
    ) -> Goal:
        """Begin a trajectory; a running one is aborted and blended into it.

        Args:
            goal: From validate_goal(), or what plan() made of it: then it is planned anew only if
                the arm has moved since.
            tolerances: Of a goal.
            streamed: Whether it may be one of a stream, whose end brakes the arm.

        Raises:
            CommandError: The plan does not fit to where the arm is.
            StateError: Motion is refused.
        """
        with self._lock:
            motion = self.plan(goal)
            self._watch.heard(self._arm is not None) if streamed else self._watch.end()
            self._preempt(self._arm)
            self._set_off()
            self._arm = TrajectoryExecution(self.axes, motion, tolerances or Tolerances())
            self._note = "Following a trajectory; positions are commanded, not measured."
            started = self._arm.goal
        self.changed()
        return started

    def plan(self, goal: ValidatedGoal | PlannedMotion) -> PlannedMotion:
        """Return the motion that follow() would begin; arguments and errors as there."""
        with self._lock:
            self.require_ready()
            n = len(self.axes.arm)
            position = np.array([s.position for s in self._states[:n]])
            velocity = np.array([s.velocity for s in self._states[:n]])
            if isinstance(goal, PlannedMotion):
                if goal.starts_at(position, velocity):
                    return goal
                goal = goal.goal
            supply = self._conduct.supply
            return plan_motion(goal, self.axes, position, velocity, self._dt, supply)

    def hold(self, why: str) -> None:
        """Brake the arm and hold it; a running trajectory is aborted.

        Raises:
            StateError: Motion is refused.
        """
        with self._lock:
            self.require_ready()
            self._give_up(why)
        self.changed()

    def grip(self, width: float, counts: float = 0.0) -> Goal:
        """Begin to move the gripper; a running motion of it is aborted.

        Args:
            width: To go to, or at which the jaws touch [m].
            counts: To press past that.

        Raises:
            CommandError: No gripper, the width is out of its limits, or it would press too hard.
            StateError: Motion is refused.
        """
        with self._lock:
            grip = self.try_grip(width, counts)
            self._preempt(self._grip)
            self._set_off()
            self._pressing.end()
            self._grip = GripperExecution(self.axes.all[-1], grip)
            self._note = "Moving the gripper; commanded, not measured."
            goal = self._grip.goal
        self.changed()
        return goal

    def try_grip(self, width: float, counts: float = 0.0) -> GripperGoal:
        """Return where grip() would go; errors as there."""
        axis = self.axes.gripper
        if axis is None:
            raise CommandError("This arm has no gripper.")
        with self._lock:
            now, servo = self._states[-1].position, self._output.maps[-1]
            grip = grip_of(axis, servo, self._conduct.squeeze, width, counts, now)
            self.require_ready()
            return grip

    def cancel(self, goal: Goal) -> None:
        """Brake what a goal moves and hold; a goal that has ended is left alone."""
        with self._lock:
            for run in (self._arm, self._grip):
                if run is not None and run.goal is goal:
                    run.cancel()
        self.changed()

    def give_up(self, goal: Goal, why: str) -> None:
        """Abort a goal, brake what it moves and hold; a goal that has ended is left alone."""
        with self._lock:
            if self._arm is not None and self._arm.goal is goal and not goal.done:
                self._give_up(why)
            if self._grip is not None and self._grip.goal is goal:
                self._grip.goal.finish(GoalOutcome.ABORTED, INVALID_GOAL, why)
                self._grip.cancel()

    def tick(self, moment: float | None = None) -> None:
        """Do one period's work.

        Args:
            moment: What time it is for, as the snapshot will tell it.

        Raises:
            HardwareError: The bus is lost or a bound would be broken; the machine is in FAULT.
        """
        with self._lock:
            self._moment = moment
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
        self._look_after()
        arm, grip = self._arm, self._grip
        if arm is None and grip is None:
            return
        arm_over = arm is not None and arm.advance(self._states, self._dt)
        grip_over = grip is not None and grip.advance(self._states[-1], self._dt)
        self._send(self._smoother.push([s.position for s in self._states]))
        self.moved()
        if self._latched:  # meanwhile: perhaps not all of it was sent
            self._freeze()
            return
        n = len(self.axes.arm)
        if arm is not None and arm_over and self._smoother.settled(0, n):
            self._arm = None
            arm.finish()
            self._over(HOLDING)
        if grip is not None and grip_over and self._smoother.settled(n, n + 1):
            self._grip = None
            grip.finish()
            if not grip.canceled:
                self._pressing.begin(grip.grip)
            self._over(grip.goal.message)

    def _send(self, positions: Sequence[float]) -> None:
        self._output.write(positions)
        for sent, position in zip(self._sent, positions, strict=True):
            sent.velocity = (position - sent.position) / self._dt
            sent.position = position

    def _set_off(self) -> None:
        """Forget how the last motion ended; begin at what is commanded, if that is at rest."""
        self._ending = ""
        if not self._busy():
            self._smoother.hold([s.position for s in self._states])

    def _look_after(self) -> None:
        """Brake if a stream has ended too early; let up if the gripper has pressed long enough."""
        if self._arm is None:
            self._watch.end()
        elif self._watch.lost(self._dt):
            self._watch.end()
            self._give_up("The stream of trajectories ended before the arm was at rest.")
        off = self._pressing.tick(self._output.maps[-1], self._dt)
        if off is not None:
            self._set_off()
            self._ending = f"The gripper pressed long enough; it let up to {off.counts} counts."
            self._grip = GripperExecution(self.axes.all[-1], off)

    def _give_up(self, why: str) -> None:
        if self._arm is not None:
            self._arm.abort(why)
            self._ending = f"{why} Holding."
            self._note = f"{why} Braking."
            self.changed()

    def _over(self, note: str) -> None:
        if not self._busy():
            self._note, self._ending = self._ending or note, ""
            for sent in self._sent:
                sent.velocity = 0.0
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

    def _preempt(self, run: TrajectoryExecution | GripperExecution | None) -> None:
        if run is None:
            return
        if run.canceled:
            run.finish()
        run.goal.finish(GoalOutcome.ABORTED, INVALID_GOAL, "Preempted by a newer goal.")

    def _bound_for(self) -> tuple[float, ...]:
        return self._arm.bound_for if self._arm else ()

    def _busy(self) -> bool:
        return self._arm is not None or self._grip is not None

    def _drop(self, why: str) -> None:
        for run in (self._arm, self._grip):
            if run is not None:
                run.goal.finish(GoalOutcome.ABORTED, INVALID_GOAL, why)
        self._arm = self._grip = None
        self._pressing.end()
        self._watch.end()
        self._ending = ""
        super()._drop(why)
