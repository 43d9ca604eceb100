# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The state machine under every motion: armed or not, stopped or not, broken or not.

Callers come from any thread; a lock orders them with the control loop's ticks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from arm_hardware.arming import Waking, check_found
from arm_hardware.axes import Axes
from arm_hardware.errors import StateError
from arm_hardware.estimate import Estimate
from arm_hardware.limiter import AxisState
from arm_hardware.output import Output
from arm_hardware.recovery import Recovery
from arm_hardware.states import Snapshot, State

HOLDING = "Holding; positions are commanded, not measured."
NOT_ARMED = "Not armed: activate the node to arm."
STOP_WITHIN = 0.01  # [s] of the wall; a tick that takes longer waits for the bus
REFUSALS = {
    State.UNKNOWN: "positions are unknown; activate the node, but first deactivate an active one",
    State.STOPPED: "the stop is latched; call reset",
    State.FAULT: "the hardware failed; deactivate and activate to arm again",
}


class Safety:
    """Arms, disarms, stops and fails; what moves is the subclass' affair.

    Attributes:
        axes: The arm; its limits are the ones that count.
        changed: Called, with the lock held or not, whenever state or message may have changed.
        moved: Called, with the lock held, when a tick of a motion was sent.
    """

    def __init__(
        self, axes: Axes, output: Output, dt: float, rest: Sequence[float], slowly: bool = False
    ) -> None:
        """Make the machine, disarmed; nothing is read or sent.

        Args:
            axes: The arm.
            output: Where positions go.
            dt: Length of a tick [s].
            rest: Posture to assume where the board sends no pulses, as ``axes.all`` [rad or m].
            slowly: Whether they go there in short bursts, one after another; see Recovery.
        """
        self.axes = axes
        self.changed: Callable[[], None] = lambda: None
        self.moved: Callable[[], None] = lambda: None
        self._moment: float | None = None
        self._output = output
        self._dt = dt
        self._rest = tuple(rest)
        self._lock = threading.RLock()
        self._states = [AxisState(p) for p in rest]
        self._sent = [AxisState(p) for p in rest]
        self._estimate = Estimate(output.maps)
        self._slowly = slowly
        self._armed = False
        self._ever_armed = False
        self._latched = False
        self._stopping = ""
        self._closed = ""
        self._fault = ""
        self._note = NOT_ARMED
        self._waking: Waking | Recovery | None = None

    def _busy(self) -> bool:
        """Return whether a command runs."""
        return False

    def _bound_for(self) -> tuple[float, ...]:
        """Return where a trajectory that runs will end, empty if none does."""
        return ()

    def _drop(self, why: str) -> None:
        """End all commands at once and put every axis at rest where it is."""
        if self._waking is not None:
            self._waking.abandon()
            self._waking = None
        for state in (*self._states, *self._sent):
            state.velocity = 0.0
        self._output.rest()

    @property
    def state(self) -> State:
        """The present state."""
        with self._lock:
            if self._fault:
                return State.FAULT
            if self._latched:
                return State.STOPPED
            if self._waking is not None:
                return State.UNKNOWN
            if self._armed:
                return State.MOVING if self._busy() else State.ARMED
            return State.UNKNOWN if None in self._output.counts else State.DISARMED

    def snapshot(self) -> Snapshot:
        """Return what is commanded now."""
        with self._lock:
            shown = self._output.shown()
            for i in self._waking.left if self._waking else ():
                shown[i] = None
            return Snapshot(
                self.state,
                self._fault or self._note,
                tuple(shown),
                tuple(s.velocity for s in self._sent),
                tuple(self._output.counts),
                tuple(self._estimate.positions()),
                self._bound_for(),
                self._moment,
            )

    def command(self) -> tuple[list[float], list[float]]:
        """Return unquantised positions and velocities of all axes [rad or m, per second]."""
        with self._lock:
            return [s.position for s in self._sent], [s.velocity for s in self._sent]

    def read(self) -> None:
        """Take the start state from the board's registers.

        Raises:
            BusError: The bus is lost.
        """
        with self._lock:
            found = self._output.read()
            self._estimate.found(self._output.counts)
            for i, position in enumerate(found):
                self._stand(i, self._rest[i] if position is None else position)
            self._note = (
                "Positions unknown: the board sends no pulses; activate the node to arm."
                if None in found
                else "Not armed; the board still sends its last pulses."
            )
        self.changed()

    def _stand(self, i: int, position: float) -> None:
        """Take an axis for standing at a position [rad or m]."""
        self._states[i] = AxisState(position)
        self._sent[i] = AxisState(position)

    def arm(self) -> None:
        """Begin to arm: axes without pulses go to the rest posture one by one, the others hold.

        Returns at once; the control loop does it, and ``arming`` tells when it is done.

        Raises:
            StateError: The stop is latched, or a servo stands where calibration or limits forbid.
            BusError: The bus is lost.
        """
        with self._lock:
            if self._latched:
                raise StateError("The stop is latched; call reset before arming.")
            self._output.start()
            self.read()
            check_found(self.axes, self._output)
            kind = Recovery if self._slowly else Waking
            waking = kind(self.axes, self._output, self._rest, self._dt)
            self._waking = waking if waking.left else None
            self._note = waking.message if waking.left else HOLDING
            self._fault = ""
            self._armed = self._ever_armed = True
        self.changed()

    @property
    def arming(self) -> bool:
        """Whether some servos still wait for their first pulse."""
        with self._lock:
            return self._waking is not None

    @property
    def arming_takes(self) -> float:
        """Seconds of the driver that the arming under way takes in all, 0 if there is none."""
        with self._lock:
            return self._waking.duration if self._waking else 0.0

    def disarm(self, why: str) -> None:
        """Refuse motion from now on; pulses stay as they are."""
        with self._lock:
            self._drop(f"The driver was disarmed: {why}")
            self._armed = False
            self._fault = ""
            self._note = f"Not armed: {why} The last pulses go on."
        self.changed()

    def release(self, why: str) -> None:
        """Refuse motion and end all pulses; a board that was never armed is left as it was found.

        Raises:
            BusError: The bus is lost.
        """
        with self._lock:
            self.disarm(why)
            if self._ever_armed:
                self._output.release()
                self._estimate.found(self._output.counts)
                self._note = f"Not armed: {why} The servos are released."
        self.changed()

    def accept_no_more(self, why: str) -> None:
        """Let what runs go on to its end, and refuse everything else from now on."""
        with self._lock:
            self._closed = why

    def require_ready(self) -> None:
        """Refuse motion unless armed.

        Raises:
            StateError: With what to do.
        """
        with self._lock:
            state = self.state
            if self._closed:
                raise StateError(f"Refused: {self._closed}.")
            if state in (State.ARMED, State.MOVING):
                return
            reason = REFUSALS.get(state, "the driver is not armed; activate it")
            if self._waking is not None:
                reason = "the servos are still being armed, one after another; see the status"
            raise StateError(f"Refused in state {state.name}: {reason}.")

    def stop(self, why: str = "the stop was called") -> None:
        """Freeze all commands and refuse motion until reset; no register changes afterwards.

        Never waits for a bus that hangs: the channels are halted first, without a lock; what is
        left to do the next tick does. A joint on its way out of an unknown position loses its
        pulses, since with them it would not stop.
        """
        self._output.halt()
        self._latched = True
        self._stopping = why
        if self._lock.acquire(timeout=STOP_WITHIN):
            try:
                self._freeze()
            finally:
                self._lock.release()
        self.changed()

    def _freeze(self) -> None:
        """Do what a stop asked for; with the lock held."""
        why, self._stopping = self._stopping, ""
        if not why:
            return
        self._armed = self._armed and self._waking is None
        self._drop(f"Stopped: {why}.")
        for i, sent in enumerate(self._output.sent):
            self._stand(i, self._sent[i].position if sent is None else sent)
        self._note = f"Stopped: {why}. Call reset to accept motion again."

    def reset(self) -> str:
        """Unlatch the stop; nothing moves. Return one sentence.

        Raises:
            StateError: The hardware failed; reset does not help.
        """
        with self._lock:
            if self._fault:
                raise StateError("The hardware failed; deactivate and activate to arm again.")
            if not self._latched:
                return "Nothing to reset."
            self._freeze()
            self._latched = False
            self._output.resume()
            self._note = HOLDING if self._armed else NOT_ARMED
        self.changed()
        return "The stop is cleared; nothing moves until commanded."

    def fail(self, why: str) -> None:
        """Enter FAULT: nothing is sent until armed again."""
        with self._lock:
            self._drop(why)
            self._armed = False
            self._fault = why
        self.changed()
