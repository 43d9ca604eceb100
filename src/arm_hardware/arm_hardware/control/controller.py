# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The control core: the commanded position of every axis, at ticks of ``dt`` seconds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arm_hardware.calibration.axes import Axes, Fight
from arm_hardware.control.arming import StaggeredArming
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.control.snapshot import Tracking
from arm_hardware.control.state_machine import DriverStateMachine
from arm_hardware.control.transitions import ControlEvent
from arm_hardware.control.watchdogs import StreamWatchdog
from arm_hardware.errors import (
    ARM,
    INVALID_GOAL,
    TOLERANCES_VIOLATED,
    CommandError,
    HardwareError,
    StateError,
)
from arm_hardware.motion.execution import (
    Forecast,
    Goal,
    GoalOutcome,
    LeadIn,
    MeasuredState,
    TrajectoryExecution,
    TrajectoryState,
)
from arm_hardware.motion.goal_validation import Tolerances, ValidatedGoal
from arm_hardware.motion.gripper import GripperExecution, GripperGoal, GripTimer, plan_gripper_goal
from arm_hardware.motion.limiter import Smoother, smoothing_ticks
from arm_hardware.motion.options import DEFAULT_MOTION, MotionOptions
from arm_hardware.motion.speed_scaling import check_speed_scaling
from arm_hardware.motion.trajectory_start import PlannedMotion, plan_motion, plan_yield

MOST_PLANS = 8  # of one trajectory during a motion, each planned farther ahead


class TrajectoryController(DriverStateMachine):
    """Runs one trajectory of the arm and one motion of the gripper at a time."""

    def __init__(
        self,
        axes: Axes,
        output: ServoOutput,
        dt: float,
        rest: Sequence[float],
        slow_homing: bool = False,
        motion_options: MotionOptions = DEFAULT_MOTION,
    ) -> None:
        """Create a disarmed controller; arguments as in DriverStateMachine."""
        super().__init__(axes, output, dt, rest, slow_homing)
        self._options = motion_options
        self._arm: TrajectoryExecution | None = None
        self._grip: GripperExecution | None = None
        self._smoother = Smoother(smoothing_ticks(motion_options.jerk_time, dt))
        self._watchdog = StreamWatchdog(motion_options.command_timeout)
        self._streamed: ValidatedGoal | None = None  # the running trajectory if it may be streamed
        self._grip_timer = GripTimer(motion_options)
        self._final_note = ""
        self._unpaused = 0.0  # last requested speed scaling above 0, 0 if there was none
        self._client_lost = False  # since the last motion ended
        self._tick_number = 0

    def tracking(self) -> Tracking:
        """Return trajectory and command of the arm at the same moment."""
        with self._lock:
            n = len(self.axes.arm)
            positions, velocities = (values[:n] for values in self.command())
            reference = self._arm.reference if self._arm else None
            return Tracking(reference, positions, velocities, self.snapshot())

    def state_at(self, moment: float) -> TrajectoryState:
        """Return the executed state of the running trajectory at a moment of the clock [s].

        In the future it is what will be executed if the speed scaling does not change.

        Raises:
            StateError: No trajectory is running.
            CommandError: The trajectory does not cover the moment.
        """
        with self._lock:
            run = self._arm
            if run is None or not run.following or self._moment is None:
                raise StateError("No trajectory is running.")
            return run.state_in(moment - self._moment, self._factor)

    def follow(
        self,
        goal: ValidatedGoal | PlannedMotion,
        tolerances: Tolerances | None = None,
        streamed: bool = False,
    ) -> Goal:
        """Start a trajectory; a running one is aborted and blended into it.

        It is planned without holding up the ticks. A moving arm may continue for the ticks that
        this takes.

        Args:
            goal: From validate_goal(), or from plan(), which is planned again only if the arm has
                moved since.
            tolerances: Path and goal tolerances, none by default.
            streamed: Whether it may belong to a stream, whose end brakes the arm.

        Raises:
            CommandError: The trajectory cannot be started from the arm's present position.
            StateError: The present state does not allow motion.
        """
        motion = goal if isinstance(goal, PlannedMotion) else self.plan(goal)
        ahead: Forecast | None = None  # from which it was planned, None for the state at that time
        passed = 0
        for _ in range(MOST_PLANS):
            with self._lock:
                self.require_ready()
                now, number = self._forecast(), self._tick_number
                lead_in = ahead.lead_in(now) if ahead else None
                if lead_in is not None or motion.starts_at(*now.start):
                    return self._begin(motion, tolerances, streamed, lead_in)
            now.advance(passed, self._dt)
            ahead, motion = now, self._plan(motion.goal, now)
            passed = max(passed, self._tick_number - number)
        raise StateError("Refused: the computer is too slow to plan this during a motion; hold.")

    def _begin(
        self,
        motion: PlannedMotion,
        tolerances: Tolerances | None,
        streamed: bool,
        lead_in: Sequence[LeadIn] | None,
    ) -> Goal:
        """Start a planned motion, after a lead-in; the lock must be held."""
        if streamed:
            last, goal = self._streamed if self._arm else None, motion.goal
            repeated = last is not None and goal.repeats(last)
            self._watchdog.command_received(self._arm is not None, goal.times[-1], repeated)
        else:
            self._watchdog.end()
        self._streamed = motion.goal if streamed else None
        self._preempt(self._arm)
        self._begin_motion()
        self._arm = TrajectoryExecution(
            self.axes, motion, tolerances or Tolerances(), lead_in or ()
        )
        self._note = self._moving_note(arm=True)
        self.changed()
        return self._arm.goal

    def plan(self, goal: ValidatedGoal) -> PlannedMotion:
        """Return the motion that follow() would begin at once; errors as there."""
        with self._lock:
            self.require_ready()
            now = self._forecast()
        return self._plan(goal, now)

    def _plan(self, goal: ValidatedGoal, ahead: Forecast) -> PlannedMotion:
        """Return the motion from a forecast; the lock is not held, as ticks need it."""
        position, velocity, scaling = ahead.start
        options = self._options
        return plan_motion(goal, self.axes, position, velocity, self._dt, options, scaling)

    def _forecast(self) -> Forecast:
        """Return the arm as it is now."""
        states = self._states[: len(self.axes.arm)]
        return Forecast(self._arm, states, self._factor, self._tick_number)

    @property
    def speed_scaling(self) -> float:
        """The requested speed scaling, 0 to 1."""
        return self._factor

    def set_speed_scaling(self, factor: float) -> None:
        """Scale the speed of all motions, 0 to 1.

        Running motions approach it along their path, within the acceleration limits. At 0 they
        brake and wait, and their goals remain active.

        Raises:
            CommandError: The factor is not within 0 to 1.
            StateError: No more goals are accepted.
        """
        check_speed_scaling(factor)
        with self._lock:
            self._unpaused = factor or self._unpaused
            if factor == self._factor:
                return
            if self._closed:
                raise StateError(f"Refused: {self._closed}.")
            self._factor = factor
            if self._is_moving() and not self._final_note:
                self._note = self._moving_note(self._arm is not None)
        self.changed()

    def _moving_note(self, arm: bool) -> str:
        """Return the sentence about a motion of the arm or the gripper."""
        what = "Following a trajectory; positions are" if arm else "Moving the gripper;"
        how = "commanded, not measured" if self._feedback is None else "measured"
        if self._factor == 0.0:
            return "Paused: the speed scaling is 0; motions continue once it is above."
        scaled = "" if self._factor == 1.0 else f" The speed scaling is {self._factor:.3g}."
        return f"{what} {how}.{scaled}"

    def hold(self, reason: str) -> None:
        """Abort a running trajectory, brake and hold; raise StateError if motion is refused."""
        with self._lock:
            self.require_ready()
            self._give_up(reason)
        self.changed()

    def grip(self, width: float, counts: float = 0.0) -> Goal:
        """Start to move the gripper to a width [m] and press ``counts`` counts past it.

        A running gripper motion is aborted.

        Raises:
            CommandError: There is no gripper, or width or counts are not allowed.
            StateError: The present state does not allow motion.
        """
        return self.start_grip(self.plan_grip(width, counts))

    def start_grip(self, grip: GripperGoal) -> Goal:
        """Start a motion from plan_grip(); raise StateError if the state does not allow it."""
        with self._lock:
            self.require_ready()
            self._preempt(self._grip)
            self._begin_motion()
            self._grip_timer.end()
            self._grip = GripperExecution(self.axes.all[-1], grip, self._output.maps[-1])
            self._note = self._moving_note(arm=False)
            self.changed()
            return self._grip.goal

    def plan_grip(self, width: float, counts: float = 0.0) -> GripperGoal:
        """Return the goal that grip() would begin; errors as there."""
        axis = self.axes.gripper
        if axis is None:
            raise CommandError("This arm has no gripper.")
        with self._lock:
            now, servo = self._states[-1].position, self._output.maps[-1]
            limit = self._options.grip_force_limit_counts
            grip = plan_gripper_goal(axis, servo, limit, width, counts, now)
            self.require_ready()
            return grip

    def cancel(self, goal: Goal) -> None:
        """Cancel a running goal: brake its motion, then hold."""
        with self._lock:
            for run in (self._arm, self._grip):
                if run is not None and run.goal is goal:
                    run.cancel()
        self.changed()

    def give_up(self, goal: Goal, reason: str) -> None:
        """Abort the running goal of a lost client immediately, brake its motion, then hold.

        A speed scaling of 0 ends once nothing moves: nobody may be left who would end the pause.
        """
        with self._lock:
            if self._arm is not None and self._arm.goal is goal and not goal.done:
                self._client_lost = True
                self._give_up(reason)
            if self._grip is not None and self._grip.goal is goal:
                self._client_lost = True
                self._grip.goal.abort(INVALID_GOAL, reason)
                self._grip.cancel()

    def tick(self, moment: float | None = None) -> None:
        """Do the work of one control period; the snapshot reports its ``moment`` [s].

        Raises:
            HardwareError: The bus is lost or a bound would be broken; the state is then FAULT.
        """
        with self._lock:
            self._moment = moment
            self._tick_number += 1
            self._apply_stop()
            try:
                self._measure()
                if self._state.is_armed:
                    self._output.verify_registers()
                if self._state.commands:
                    self._work()
            except HardwareError as error:
                self.fail(str(error))
                raise
            finally:
                self._estimate.advance(self._output.counts, self._dt)

    def _measure(self) -> None:
        """Measure smart servos; raise HardwareError if one is lost or protects itself."""
        feedback = self._feedback
        if feedback is None:
            return
        try:
            feedback.update(self._dt)
        except HardwareError:
            if self._state.has_failed:
                return  # reported already
            raise
        if self._state.is_armed:
            if (fight := feedback.fighting_long()) is not None:
                self._end_fight(fight)
            feedback.check()
        elif feedback.state is not None:  # moved by hand
            for i, position in enumerate(feedback.state.positions):
                self._set_rest(i, position)
        if feedback.state is not None and feedback.state.moving:
            self.moved()

    def _end_fight(self, fight: Fight) -> None:
        """Release servos of one joint that work against each other; raise HardwareError."""
        try:
            self._output.release_group(fight.servos)
        except HardwareError as error:
            raise HardwareError(f"{fight.sentence} They were not released: {error}") from error
        raise HardwareError(f"{fight.sentence} They were released; align them, then run {ARM}.")

    def _work(self) -> None:
        if self._arming_sequence is not None:
            self._continue_arming(self._arming_sequence)
            return
        self._supervise()
        arm, grip = self._arm, self._grip
        if arm is None and grip is None:
            if not self._output.is_settled:
                self._send([s.position for s in self._states])
            return
        measured = self._feedback.state if self._feedback else None
        arm_over = arm is not None and arm.advance(self._states, self._dt, self._factor, measured)
        grip_over = grip is not None and grip.advance(
            self._states[-1], self._dt, self._factor, measured
        )
        if arm is not None and arm.goal.outcome is GoalOutcome.ABORTED and not self._final_note:
            self._give_up(arm.goal.message)
        self._send(self._smoother.push([s.position for s in self._states]))
        self.moved()
        if self._apply_stop():  # meanwhile: perhaps not everything was sent
            return
        n = len(self.axes.arm)
        if arm is not None and arm_over and self._smoother.settled(0, n):
            self._arm = None
            arm.finish()
            self._finish_motion(self.holding)
            if measured is not None and arm.goal.code in TOLERANCES_VIOLATED:
                self._yield_to_contact(measured, arm.goal.message)
        if grip is not None and grip_over and self._smoother.settled(n, n + 1):
            self._grip = None
            grip.finish()
            if not grip.canceled:
                self._grip_timer.begin(grip.grip)
            self._finish_motion(grip.goal.message)

    def _yield_to_contact(self, measured: MeasuredState, reason: str) -> None:
        """Hold where the arm was measured: it does not push on against what blocks it."""
        n = len(self.axes.arm)
        now = np.array([state.position for state in self._states[:n]])
        there = np.array(measured.positions[:n])
        motion = plan_yield(self.axes, now, there, self._dt, self._factor)
        self._begin_motion()
        self._arm = TrajectoryExecution(self.axes, motion, Tolerances())
        self._note, self._final_note = f"{reason} Yielding.", f"{reason} Holding where it is."

    def _send(self, positions: Sequence[float]) -> None:
        self._output.write(positions)
        for sent, position in zip(self._sent, positions, strict=True):
            sent.velocity = (position - sent.position) / self._dt
            sent.position = position

    def _begin_motion(self) -> None:
        """Clear the note about the last motion; reset the smoother if the arm is at rest."""
        self._fire(ControlEvent.MOVE)
        self._final_note = ""
        if not self._is_moving():
            self._smoother.hold([s.position for s in self._states])

    def _supervise(self) -> None:
        """Brake if a stream ended too early; back off if the gripper has pressed long enough."""
        if self._arm is None:
            self._watchdog.end()
        elif self._watchdog.expired(self._dt):
            self._watchdog.end()
            self._give_up("The stream of trajectories ended before the arm was at rest.")
        relaxed = self._grip_timer.tick(self._output.maps[-1], self._dt)
        if relaxed is not None:
            self._begin_motion()
            self._final_note = (
                "gripper_hold_time is over; the gripper's pressure was reduced to "
                f"{relaxed.counts} counts."
            )
            servo = self._output.maps[-1]
            self._grip = GripperExecution(self.axes.all[-1], relaxed, servo, scaled=False)

    def _give_up(self, reason: str) -> None:
        if self._arm is not None:
            self._arm.abort(reason)
            self._final_note = f"{reason} Holding."
            self._note = f"{reason} Braking."
            self.changed()

    def _finish_motion(self, note: str) -> None:
        if not self._is_moving():
            note = f"{self._final_note or note}{self._end_pause_of_lost_client()}"
            self._note, self._final_note = note, ""
            for sent in self._sent:
                sent.velocity = 0.0
        self.changed()

    def _end_pause_of_lost_client(self) -> str:
        """Restore the speed scaling from before a pause; return a sentence about it, or ""."""
        lost, self._client_lost = self._client_lost, False
        if not lost or self._factor or not self._unpaused:
            return ""
        self._factor = self._unpaused
        return f" The pause is over: the speed scaling is {self._factor:.3g} again."

    def _continue_arming(self, sequence: StaggeredArming) -> None:
        sequence.tick()
        if not sequence.left:
            self._arming_sequence = None
            self._fire(ControlEvent.ALL_ARMED)
        if sequence.message != self._note or not sequence.left:
            self._note = sequence.message
            self.changed()

    def _preempt(self, run: TrajectoryExecution | GripperExecution | None) -> None:
        if run is None:
            return
        if run.canceled:
            run.finish()
        run.goal.finish(GoalOutcome.ABORTED, INVALID_GOAL, "Preempted by a newer goal.")

    def _goal_positions(self) -> tuple[float, ...]:
        return self._arm.goal_positions if self._arm else ()

    def _is_moving(self) -> bool:
        return self._arm is not None or self._grip is not None

    def _end_motions(self, reason: str, code: int) -> None:
        for run in (self._arm, self._grip):
            if run is not None:
                run.goal.abort(code, reason)
        self._arm = self._grip = None
        self._grip_timer.end()
        self._watchdog.end()
        self._final_note = ""
