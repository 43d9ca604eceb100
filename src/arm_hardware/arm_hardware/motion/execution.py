# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/control/test_motion_options.py
"""Executes a planned trajectory tick by tick and reports how the goal ended.

Planning a long trajectory takes more than a tick, and a moving arm does not wait for it. The new
motion is therefore planned from a forecast: where the arm will be some ticks ahead. Until then the
arm continues as before.
"""

from __future__ import annotations

import copy
import logging
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from arm_common.transforms import Array

from arm_hardware.bus.interface import Measurement
from arm_hardware.calibration.axes import Axes
from arm_hardware.errors import (
    GOAL_TOLERANCE_VIOLATED,
    INVALID_GOAL,
    PATH_TOLERANCE_VIOLATED,
    SUCCESSFUL,
    CommandError,
)
from arm_hardware.motion.goal_validation import SPEED_MARGIN, Tolerances
from arm_hardware.motion.limiter import AxisState, brake, settled, track
from arm_hardware.motion.speed_scaling import TICK_ROUNDING, ScaledTime
from arm_hardware.motion.trajectory_start import PlannedMotion

_LOGGER = logging.getLogger(__name__)
MOST_LEAD = 250  # ticks; 5 s at 50 Hz


class GoalOutcome(Enum):
    """How a goal ended."""

    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    CANCELED = "canceled"


class Goal:
    """A goal that ends exactly once; any thread can wait for its end."""

    def __init__(self) -> None:
        self.outcome: GoalOutcome | None = None  # None while the goal is running
        self.code = SUCCESSFUL  # a result code of FollowJointTrajectory (see errors)
        self.message = ""
        self.stalled = False  # of a gripper whose servo answers: an object has stopped the jaws
        self._done = threading.Event()
        self._lock = threading.Lock()

    def finish(self, outcome: GoalOutcome, code: int, message: str) -> bool:
        """End the goal; only the first call has an effect and returns true."""
        with self._lock:
            if self.outcome is not None:
                return False
            self.outcome, self.code, self.message = outcome, code, message
        self._done.set()
        return True

    def abort(self, code: int, message: str) -> None:
        """End the goal early, and log it: of a trajectory on the topic, nothing else tells."""
        if self.finish(GoalOutcome.ABORTED, code, message):
            _LOGGER.warning("A motion ended early: %s", message)

    @property
    def done(self) -> bool:
        """Whether the goal has ended."""
        return self._done.is_set()

    def wait(self, timeout: float) -> bool:
        """Wait for the end, at most ``timeout`` wall seconds; return whether the goal ended."""
        return self._done.wait(timeout)


@dataclass(frozen=True)
class MeasuredState:
    """What the servos measured in one tick, in the order of ``axes.all``."""

    positions: tuple[float, ...]  # [rad or m]
    velocities: tuple[float, ...]  # [rad/s or m/s]
    efforts: tuple[float, ...]  # estimated from the load [N m or N]
    servos: tuple[Measurement, ...]

    @property
    def loads(self) -> tuple[float, ...]:
        """Shares of the motors' voltage, by servo, -1 to 1."""
        return tuple(servo.load for servo in self.servos)

    @property
    def moving(self) -> bool:
        """Whether any servo turns."""
        return any(servo.speed for servo in self.servos)


class Execution(ABC):
    """A goal being executed."""

    def __init__(self) -> None:
        self.goal = Goal()
        self.canceled = False

    def cancel(self) -> None:
        """Brake, then report the goal as canceled."""
        self.canceled = True

    def finish(self) -> None:
        """Report the goal as succeeded or canceled, after the last position was sent."""
        done, canceled = self._messages()
        if self.canceled:
            self.goal.finish(GoalOutcome.CANCELED, SUCCESSFUL, canceled)
        self.goal.finish(GoalOutcome.SUCCEEDED, SUCCESSFUL, done)

    @abstractmethod
    def _messages(self) -> tuple[str, str]:
        """Return the result messages for success and for cancellation."""


@dataclass(frozen=True)
class TrajectoryState:
    """Joint positions, velocities and accelerations (n,) on a trajectory [rad or m, s]."""

    time: float  # along the trajectory [s]
    positions: Array
    velocities: Array
    accelerations: Array
    scaling: float = 1.0  # at which it is executed
    elapsed: float = 0.0  # since the start [s]


PASSED = "Passed the last point, with its velocity; the servos report no position."
LATE = "its speed and acceleration limits require more time"
LATE_MEASURED = "something holds it, or its load is too great"
PASSED_MEASURED = "Passed the last point, with its velocity."


@dataclass
class LeadIn:
    """An earlier trajectory that is followed for some more ticks before another one."""

    run: TrajectoryExecution  # without a lead-in of its own
    ticks: int  # left, at least 1


class TrajectoryExecution(Execution):
    """A trajectory being followed at a speed scaling, or aborted and braked."""

    def __init__(
        self,
        axes: Axes,
        motion: PlannedMotion,
        tolerances: Tolerances,
        lead_in: Sequence[LeadIn] = (),
    ) -> None:
        """Start at the current command with the next tick, or after the given trajectories."""
        super().__init__()
        self._lead_in = list(lead_in)
        self._axes = axes.arm
        self._motion = motion
        self._tolerances = tolerances
        self._measured: MeasuredState | None = None
        self._time = ScaledTime(motion, self._axes, axes.coupling)

    @property
    def following(self) -> bool:
        """Whether it follows the trajectory, instead of braking."""
        return not (self.canceled or self.goal.done)

    @property
    def scaling(self) -> float:
        """Seconds of the trajectory per second, as executed by the last tick."""
        return self._executed._time.scaling

    def scaling_of(self, velocity: Array) -> float:
        """Return the speed scaling that explains a velocity (n,) [rad/s or m/s].

        It is 1 for an arm that brakes, or is still too fast for the scaling of the last tick.
        """
        scaling = self.scaling
        limits = np.array([axis.velocity for axis in self._axes])
        explained = np.all(np.abs(velocity) <= SPEED_MARGIN * scaling * limits)
        return scaling if self.following and explained else 1.0

    @property
    def _executed(self) -> TrajectoryExecution:
        """The trajectory of the present tick: the first of the lead-in or this one."""
        return self._lead_in[0].run if self._lead_in else self

    def fork(self) -> TrajectoryExecution:
        """Return a copy that continues alike and has a goal of its own."""
        fork = copy.copy(self)
        fork.goal, fork.canceled = Goal(), not self.following
        fork._time = self._time.fork()
        fork._lead_in = [LeadIn(part.run.fork(), part.ticks) for part in self._lead_in]
        return fork

    def next_ticks(self, number: int) -> list[LeadIn]:
        """Return a copy of what is followed in so many ticks from now, as a lead-in."""
        last = self.fork()
        parts, last._lead_in = last._lead_in if self.following else [], []
        result = []
        for part in [*parts, LeadIn(last, number)]:
            part.ticks = min(part.ticks, number)
            number -= part.ticks
            if part.ticks > 0:
                result.append(part)
        return result

    @property
    def reference(self) -> TrajectoryState:
        """Present state on the requested trajectory."""
        run = self._executed
        time, scaling = run._time.now, run._time.scaling
        return _scaled(time, scaling, run._motion.requested.state(time), run._time.elapsed)

    def state_in(self, seconds: float, factor: float) -> TrajectoryState:
        """Return the executed state in so many seconds from the last tick, or before it.

        ``factor`` is the speed scaling from now on; raise CommandError outside of the motion.
        """
        run = self._executed
        elapsed = run._time.elapsed + seconds
        time, scaling = run._time.at(elapsed, factor)
        if time > run._motion.duration:
            raise CommandError("The time is after the end of the running trajectory.")
        return _scaled(time, scaling, run._motion.state(time), elapsed)

    @property
    def goal_positions(self) -> tuple[float, ...]:
        """End of the trajectory (n,) [rad or m]; empty once aborted or canceled."""
        given_up = self.canceled or self.goal.outcome is GoalOutcome.ABORTED
        return () if given_up else tuple(float(p) for p in self._motion.path.final)

    def abort(self, reason: str) -> None:
        """Report the goal as aborted and start braking."""
        self.goal.abort(INVALID_GOAL, reason)

    def advance(
        self,
        states: Sequence[AxisState],
        dt: float,
        factor: float = 1.0,
        measured: MeasuredState | None = None,
    ) -> bool:
        """Advance the states by one tick towards a speed scaling; return whether it is over.

        Tolerances bound what is ``measured``, or the states if nothing is.
        """
        self._measured = measured
        if not self.following:
            return self._brake(states, dt)
        if self._lead_in:
            self._advance_lead_in(self._lead_in[0], states, dt, factor)
            return False
        self._track(states, dt, factor)
        self._check_path(states)
        return self._arrived(states)

    def _track(self, states: Sequence[AxisState], dt: float, factor: float) -> None:
        """Advance the states by one tick along the path, towards a speed scaling."""
        turns = self._motion.next_reversals(self._time.now)
        now, then = self._time.advance([state.velocity for state in states], dt, factor)
        for i, axis in enumerate(self._axes):
            track(axis, states[i], float(now[i]), float(then[i]), dt, turns[i])

    def _advance_lead_in(
        self, part: LeadIn, states: Sequence[AxisState], dt: float, factor: float
    ) -> None:
        part.run.advance(states, dt, factor)
        part.ticks -= 1
        if part.ticks <= 0:
            del self._lead_in[0]  # and its whole motion

    def _brake(self, states: Sequence[AxisState], dt: float) -> bool:
        """Brake by a tick, on the path: only there, positions were checked for collisions."""
        run = self._executed
        if not run._motion.ends_moving:
            run._track(states, dt, 0.0)
            return run._is_resting(states)
        for axis, state in zip(self._axes, states, strict=False):  # the path may end before
            brake(axis, state, dt)
        return all(state.velocity == 0.0 for state in states[: len(self._axes)])

    def _is_resting(self, states: Sequence[AxisState]) -> bool:
        """Return whether an arm that brakes on its path has come to rest there."""
        moving = any(state.velocity != 0.0 for state in states[: len(self._axes)])
        if self._time.now < self._motion.duration - TICK_ROUNDING:
            return not moving
        ends = zip(states, self._motion.path.final, strict=False)
        return all([settled(state, float(final)) for state, final in ends])

    def _messages(self) -> tuple[str, str]:
        done = "Commanded to the goal; the servos report no position."
        if self._measured is not None:
            goal = self._motion.path.final
            away = np.abs(np.subtract(self._measured.positions[: len(goal)], goal))
            i = int(np.argmax(away))
            name, unit = self._axes[i].name, self._axes[i].unit
            bounded = all(axis.name in self._tolerances.goal for axis in self._axes)
            ended = "Reached the goal" if bounded else "Commanded to the goal, without a tolerance"
            done = f"{ended}; {name} is {away[i]:.3g} {unit} from it."
        return done, "Canceled; the arm holds where it is."

    def _arrived(self, states: Sequence[AxisState]) -> bool:
        motion = self._motion
        if self._time.now >= motion.duration - TICK_ROUNDING:
            if motion.ends_moving:
                passed = PASSED if self._measured is None else PASSED_MEASURED
                self.goal.finish(GoalOutcome.SUCCEEDED, SUCCESSFUL, passed)
                return False
            rests = [
                settled(state, float(final))
                for state, final in zip(states, motion.path.final, strict=False)
            ]
            if all(rests) and self._is_within_goal():
                return True
        self._check_goal(states)
        return False

    def _is_within_goal(self) -> bool:
        """Return whether what is measured is within the goal's tolerances."""
        if self._measured is None:
            return True
        bounds = self._tolerances.goal
        return all(
            abs(float(goal) - position) <= bounds.get(axis.name, math.inf)
            for axis, position, goal in zip(
                self._axes, self._measured.positions, self._motion.path.final, strict=False
            )
        )

    def _actual(self, states: Sequence[AxisState]) -> list[tuple[float, float]]:
        """Return positions and velocities as measured, otherwise as commanded."""
        if self._measured is not None:
            return list(zip(self._measured.positions, self._measured.velocities, strict=True))
        return [(state.position, state.velocity) for state in states]

    def _check_goal(self, states: Sequence[AxisState]) -> None:
        late = self._time.now - self._motion.requested.duration
        if not 0.0 < self._tolerances.goal_time < late:
            return
        unbounded = 0.0 if self._measured is None else math.inf
        for axis, (position, velocity), goal in zip(
            self._axes, self._actual(states), self._motion.path.final, strict=False
        ):
            away, speed = abs(float(goal) - position), abs(velocity)
            what = ""
            if away > self._tolerances.goal.get(axis.name, unbounded):
                what = f"{axis.text(away)} from the goal"
            elif speed > self._tolerances.stopped.get(axis.name, math.inf):
                what = f"moving at {axis.text(speed)}/s"
            if what:
                self.goal.abort(
                    GOAL_TOLERANCE_VIOLATED,
                    f"{axis.name}: {what} {late:.3g} s after the trajectory's end; "
                    f"{LATE if self._measured is None else LATE_MEASURED}.",
                )
                return

    def _check_path(self, states: Sequence[AxisState]) -> None:
        if not self._tolerances.path:
            return
        references = self._motion.requested.sample(self._time.now)
        actual = self._actual(states)
        for axis, (position, _), reference in zip(self._axes, actual, references, strict=False):
            bound, lag = self._tolerances.path.get(axis.name), abs(reference - position)
            if bound is not None and bound < lag:
                self.goal.abort(
                    PATH_TOLERANCE_VIOLATED,
                    f"{axis.name}: {axis.text(lag)} behind the trajectory, more than the "
                    f"tolerance {bound:.4g}.",
                )


def _scaled(
    time: float, scaling: float, state: tuple[Array, Array, Array], elapsed: float
) -> TrajectoryState:
    """Return a state at a time, whose derivatives are those at scaling 1."""
    positions, velocities, accelerations = state
    return TrajectoryState(
        time, positions, velocities * scaling, accelerations * scaling**2, scaling, elapsed
    )


class Forecast:
    """An arm some ticks after now, if nothing else is commanded."""

    def __init__(
        self, run: TrajectoryExecution | None, states: Sequence[AxisState], factor: float, now: int
    ) -> None:
        """Copy the present motion and states, at a requested speed scaling and tick."""
        self._original, self._factor, self._now = run, factor, now
        self._run = None if run is None else run.fork()
        self._condition = run, run is not None and run.following, factor
        self._states = [replace(state) for state in states]
        self._lead = 0

    def advance(self, passed: int, dt: float) -> None:
        """Look ahead far enough, if planning takes up to twice as many ticks of dt [s]."""
        if self._run is None:
            return
        self._lead = min(2 * passed + 1, MOST_LEAD)
        for _ in range(self._lead):
            self._run.advance(self._states, dt, self._factor)

    @property
    def start(self) -> tuple[Array, Array, float]:
        """Position and velocity at scaling 1 (n,) [rad or m, /s], and the scaling."""
        position = np.array([state.position for state in self._states])
        velocity = np.array([state.velocity for state in self._states])
        if not velocity.any():
            return position, velocity, self._factor
        scaling = 1.0 if self._run is None else self._run.scaling_of(velocity)
        return position, velocity / scaling, scaling

    def lead_in(self, present: Forecast) -> list[LeadIn] | None:
        """Return the rest of the motion until then, None if something else has happened since.

        ``present`` is the arm as it is now.
        """
        left = self._now + self._lead - present._now
        run = self._original
        if run is None or left < 0 or present._condition != self._condition:
            return None
        return run.next_ticks(left)
