# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/control/test_controller.py
"""Arming, stopping and failures of the driver, by the table of its states.

Methods may be called from any thread; a lock serialises them with the control loop's ticks.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from arm_common.control.transition_table import Transition

from arm_hardware.calibration.axes import Axes
from arm_hardware.control.arming import (
    SlowHoming,
    StaggeredArming,
    check_board_counts,
    check_joints,
)
from arm_hardware.control.feedback import ServoFeedback
from arm_hardware.control.position_estimate import PositionEstimate
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.control.snapshot import DriverSnapshot, DriverState
from arm_hardware.control.transitions import CONTROL, ControlAction, ControlEvent, ControlState
from arm_hardware.errors import ARM, HARDWARE_FAILED, INVALID_GOAL, RELEASE, RESET, StateError
from arm_hardware.motion.limiter import AxisState

HOLDING = "Holding; positions are commanded, not measured."
HOLDING_MEASURED = "Holding; positions are measured."
NOT_ARMED = f"Not armed: run {ARM}."
STOP_WITHIN = 0.01  # [s] of wall time to wait for the lock; a longer tick is waiting for the bus
UNKNOWN_POSITIONS = f"positions are unknown; run {ARM}"
_REPORTED = {
    ControlState.ARMING: DriverState.UNKNOWN,
    ControlState.STOPPED_DISARMED: DriverState.STOPPED,
    ControlState.STOPPED_ARMED: DriverState.STOPPED,
    ControlState.FAULT: DriverState.FAULT,
    ControlState.STOPPED_FAULT: DriverState.FAULT,
}


class DriverStateMachine(ABC):
    """Arms, disarms, stops and handles failures by the table CONTROL; its subclass adds motion."""

    def __init__(
        self,
        axes: Axes,
        output: ServoOutput,
        dt: float,
        rest: Sequence[float],
        slow_homing: bool,
    ) -> None:
        """Create a disarmed machine without reading or sending anything. A tick is dt [s].

        Servos without pulses are assumed to be at rest [rad or m, as ``axes.all``]; with
        ``slow_homing`` they move there in short bursts, one by one.
        """
        self.axes = axes
        # Called, with the lock held or not, whenever state or message may have changed.
        self.changed: Callable[[], None] = lambda: None
        # Called, with the lock held, when a tick of a motion was sent.
        self.moved: Callable[[], None] = lambda: None
        self._moment: float | None = None
        self._factor = 1.0  # requested speed scaling
        self._output = output
        self._dt = dt
        self._rest = tuple(rest)
        self._lock = threading.RLock()
        self._states = [AxisState(p) for p in rest]
        self._sent = [AxisState(p) for p in rest]
        self._feedback: ServoFeedback | None = None
        if output.bus.measures:
            self._feedback = ServoFeedback(output.bus, axes, output.maps)
        self._estimate = self._feedback or PositionEstimate(output.maps)
        self._slow_homing = slow_homing
        self._state = ControlState.DISARMED
        self._stop_reason: str | None = None  # of a stop that was called and not yet applied
        self._was_armed = False
        self._closed = ""  # why no more goals are accepted
        self._note = NOT_ARMED
        self._arming_sequence: StaggeredArming | None = None
        self._actions: dict[ControlAction, Callable[[str], None]] = {
            ControlAction.FREEZE: self._freeze,
            ControlAction.UNLATCH: self._unlatch,
            ControlAction.FORGET: self._forget,
            ControlAction.ABORT: self._abort_all,
            ControlAction.RELEASE: self._release_all,
        }

    def _row(self, event: ControlEvent) -> Transition[ControlState, ControlEvent, ControlAction]:
        """Return what an event does in the present state, or raise StateError."""
        row = CONTROL.row(self._state, event)
        if row is None:
            reason = CONTROL.refusal(self._state, event)
            raise StateError(f"{reason[0].upper()}{reason[1:]}.")
        return row

    def _fire(self, event: ControlEvent, reason: str = "") -> ControlAction:
        """Change the state and return the action that was done; the lock must be held.

        The state changes first, so that a client whose goal is aborted sees the new state.
        """
        row = self._row(event)
        self._state = row.next_state
        if row.action in self._actions:
            self._actions[row.action](reason)
        return row.action

    @abstractmethod
    def _is_moving(self) -> bool:
        """Return whether a motion is running."""

    @abstractmethod
    def _goal_positions(self) -> tuple[float, ...]:
        """Return the end of the running trajectory [rad or m], empty without one."""

    @abstractmethod
    def _end_motions(self, reason: str, code: int) -> None:
        """Abort the goals of all motions with a result code."""

    def _abort_all(self, reason: str, code: int = INVALID_GOAL) -> None:
        """End all commands at once and put every axis at rest where it is."""
        self._end_motions(reason, code)
        if self._arming_sequence is not None:
            self._arming_sequence.abandon()
            self._arming_sequence = None
        for state in (*self._states, *self._sent):
            state.velocity = 0.0
        self._output.reset_steps()

    @property
    def state(self) -> DriverState:
        """The current state; a stop counts as soon as it is called."""
        with self._lock:
            state = self._state_after_stop()
            if state is ControlState.ARMED:
                return DriverState.MOVING if self._is_moving() else DriverState.ARMED
            if state is ControlState.DISARMED:
                known = self._feedback is not None or None not in self._output.counts
                return DriverState.DISARMED if known else DriverState.UNKNOWN
            return _REPORTED[state]

    def _state_after_stop(self) -> ControlState:
        """Return the state as it is once a stop that was called is applied."""
        row = None
        if self._stop_reason is not None:
            row = CONTROL.row(self._state, ControlEvent.STOP)
        return self._state if row is None else row.next_state

    def snapshot(self) -> DriverSnapshot:
        """Return the currently commanded state."""
        with self._lock:
            left = self._arming_sequence.left if self._arming_sequence else ()
            unarrived = {i for group in left for i in group}
            positions = self._output.positions(unarrived)
            return DriverSnapshot(
                self.state,
                self._note,
                tuple(positions),
                tuple(s.velocity for s in self._sent),
                tuple(self._output.counts),
                self._goal_positions(),
                self._factor,
                tuple(self._output.servo_positions(unarrived)),
                tuple(self._estimate.positions()),
                self._moment,
                self._feedback.state if self._feedback else None,
            )

    def command(self) -> tuple[list[float], list[float]]:
        """Return unquantised commanded positions and velocities of all axes [rad or m, /s]."""
        with self._lock:
            return [s.position for s in self._sent], [s.velocity for s in self._sent]

    def read(self) -> None:
        """Initialise positions from the board's registers; raise BusError if the bus is lost."""
        with self._lock:
            if self._feedback is not None:
                self._feedback.measure()
            assumed = self._feedback.axes_positions() if self._feedback else self._rest
            positions = self._output.read(assumed)
            self._estimate.synchronize(self._output.counts)
            for i, position in enumerate(positions):
                self._set_rest(i, position)
            if not self._state.has_failed:
                self._note = self._note_about(self._output.counts)
        self.changed()

    def _note_about(self, found: Sequence[int | None]) -> str:
        """Return the sentence about counts found at the servos."""
        if self._feedback is None:
            if None in found:
                return f"Positions unknown: the board sends no pulses; run {ARM}."
            return "Not armed; the board still sends its last pulses."
        if None in found:
            return "Not armed; the servos have no torque and can be moved by hand."
        return "Not armed; the servos hold their last positions."

    @property
    def holding(self) -> str:
        """The sentence about an armed arm at rest."""
        return HOLDING if self._feedback is None else HOLDING_MEASURED

    def warnings(self) -> list[str]:
        """Return sentences about smart servos that may soon protect themselves."""
        with self._lock:
            return self._feedback.warnings() if self._feedback is not None else []

    def _set_rest(self, i: int, position: float) -> None:
        """Set an axis to be at rest at a position [rad or m]."""
        self._states[i] = AxisState(position)
        self._sent[i] = AxisState(position)

    def arm(self) -> None:
        """Start arming: axes without pulses go to rest one by one, the others hold.

        Raises:
            StateError: The stop is latched, or a count violates calibration or limits.
            BusError: The bus is lost.
        """
        with self._lock:
            if not self.can_arm():
                return
            self._output.bus.start()
            self.read()
            if self._feedback is None:
                self._begin_arming()
            else:
                self._hold_in_place(self._feedback)
            self._was_armed = True
            self._fire(ControlEvent.ARM)
            if self._arming_sequence is None:
                self._fire(ControlEvent.ALL_ARMED)
        self.changed()

    def can_arm(self) -> bool:
        """Return whether arming would start now; False if it is under way or done.

        Raises:
            StateError: The stop is latched.
        """
        with self._lock:
            self._apply_stop()
            return self._row(ControlEvent.ARM).action is not ControlAction.NOTHING

    def _begin_arming(self) -> None:
        """Start to send servos without pulses to rest, one after another."""
        self._check_servos_agree()
        positions = [state.position for state in self._states]
        check_board_counts(self.axes, self._output, positions)
        kind = SlowHoming if self._slow_homing else StaggeredArming
        sequence = kind(self.axes, self._output, positions, self._dt)
        self._arming_sequence = sequence if sequence.left else None
        self._note = sequence.message if sequence.left else HOLDING

    def _hold_in_place(self, feedback: ServoFeedback) -> None:
        """Give all servos torque where they are: nothing moves."""
        self._output.release_group(feedback.latched())
        held = self._output.servo_positions()
        servos = feedback.resting_positions(held)
        positions = [q for q in self._output.to_axes(servos) if q is not None]
        positions = self._output.put_inside(positions)
        remedy = f"move it inside by hand, then run {ARM}"
        check_joints(self.axes, positions, "as measured", remedy)
        self._was_armed = True
        self._output.write(positions, first=True)
        positions = self._output.start(positions, self._output.to_axes(held))
        for i, position in enumerate(positions):
            self._set_rest(i, position)
        self._note = HOLDING_MEASURED

    def _check_servos_agree(self) -> None:
        """Enter FAULT and raise StateError if servos of one joint differ too much."""
        fight = self._output.fighting()
        if fight is not None:
            reason = (
                f"{fight.sentence} Run {RELEASE} --driver or switch their power off, then {ARM}."
            )
            self.fail(reason)
            raise StateError(reason)

    @property
    def arming(self) -> bool:
        """Whether arming is still in progress."""
        with self._lock:
            return self._state is ControlState.ARMING

    @property
    def arming_duration(self) -> float:
        """Total duration of the arming in progress [s of the driver's clock], 0 without one."""
        with self._lock:
            return self._arming_sequence.duration if self._arming_sequence else 0.0

    def disarm(self, reason: str = "") -> None:
        """Abort goals and refuse motion; pulses continue unchanged. The reason is a sentence."""
        because = f": {reason}" if reason else "."
        with self._lock:
            self._fire(ControlEvent.DISARM, f"The driver was disarmed{because}")
            unknown = None in self._output.counts
            pulses = "Positions are unknown." if unknown else "The servos keep their last pulses."
            if self._feedback is not None:
                pulses = (
                    "The servos have no torque." if unknown else "The servos keep their torque."
                )
            self._note = f"Disarmed{because} {pulses}"
        self.changed()

    def release(self, reason: str) -> None:
        """Disarm and end all pulses; raise BusError if that fails."""
        with self._lock:
            self._note = f"Disarmed: {reason}"
            self._fire(ControlEvent.RELEASE, f"The driver was disarmed: {reason}")
            self._note = f"Disarmed: {reason} The servos are released."
        self.changed()

    def _release_all(self, reason: str) -> None:
        """End all goals and pulses."""
        self._abort_all(reason)
        self._output.release()
        self._estimate.synchronize(self._output.counts)

    def end(self, reason: str) -> None:
        """Disarm, and end all pulses if ever armed; raise BusError if that fails."""
        if self._was_armed:
            self.release(reason)
        else:
            self.disarm(reason)

    def refuse_new_goals(self, reason: str) -> None:
        """Let running goals finish, but refuse new ones from now on."""
        with self._lock:
            self._closed = reason

    def require_ready(self) -> None:
        """Raise StateError, with a remedy, unless motion is accepted."""
        with self._lock:
            if self._closed:
                raise StateError(f"Refused: {self._closed}.")
            reason = CONTROL.refusal(self._state_after_stop(), ControlEvent.MOVE)
            if not reason:
                return
            state = self.state
            if state is DriverState.UNKNOWN and self._state is ControlState.DISARMED:
                reason = UNKNOWN_POSITIONS
            raise StateError(f"Refused in state {state.name}: {reason}.")

    def stop(self, reason: str = "the stop was called") -> None:
        """Freeze all commands and refuse motion until reset; no register changes afterwards.

        This never waits for a bus that hangs: channels are halted first, without the lock, and the
        next tick does the rest. A joint that is being homed loses its pulses, as it would not stop
        otherwise.
        """
        self._output.bus.halted = True
        self._stop_reason = reason
        if self._lock.acquire(timeout=STOP_WITHIN):
            try:
                self._apply_stop()
            finally:
                self._lock.release()
        self.changed()

    def _apply_stop(self) -> bool:
        """Apply a stop that was called; return False without one. The lock must be held."""
        reason = self._stop_reason
        if reason is None:
            return False
        self._stop_reason = None  # a stop that came since is this one, too
        self._output.bus.halted = True  # again, as a reset may have come between
        self._fire(ControlEvent.STOP, f"Stopped: {reason}.")
        if not self._state.has_failed:
            self._note = f"Stopped: {reason}. To accept motion again, run {RESET}."
        return True

    def _freeze(self, reason: str) -> None:
        """End motions and arming, and set every axis to rest where it was last sent."""
        self._abort_all(reason)
        for i, sent in enumerate(self._output.sent):
            self._set_rest(i, self._sent[i].position if sent is None else sent)

    def stalled(self, late: float) -> None:
        """End motions and arming after a tick that came too late [s]: the servos rest by now."""
        note = f"The control loop stalled for {late:.1f} s during a motion"
        with self._lock:
            if self._state is ControlState.ARMED and not self._is_moving():
                return
            done = self._fire(ControlEvent.STALL, f"{note}, which was ended.")
            if done is ControlAction.NOTHING:
                return
            holds = self._state is ControlState.ARMED
            self._note = f"{note}; {'holding' if holds else 'not armed'}."
        self.changed()

    def reset(self) -> str:
        """Unlatch the stop without moving and return one sentence.

        Raises:
            StateError: In FAULT, without a stop.
        """
        with self._lock:
            self._apply_stop()
            if self._fire(ControlEvent.RESET) is ControlAction.NOTHING:
                return "Nothing to reset."
            if not self._state.has_failed:
                self._note = self.holding if self._state.is_armed else NOT_ARMED
        self.changed()
        return "The stop is cleared; nothing moves until commanded."

    def _unlatch(self, reason: str) -> None:
        """Let channels be written again; a stop called meanwhile is applied by the next tick."""
        del reason
        self._output.bus.halted = False

    def fail(self, reason: str) -> None:
        """Enter FAULT: nothing is sent, and positions are unknown, until armed again."""
        with self._lock:
            self._note = reason
            self._fire(ControlEvent.FAIL, reason)
        self.changed()

    def _forget(self, reason: str) -> None:
        """End all commands by a failure; what the servos do is unknown from now on."""
        self._abort_all(reason, HARDWARE_FAILED)
        self._output.forget()
        self._estimate.synchronize(self._output.counts)
