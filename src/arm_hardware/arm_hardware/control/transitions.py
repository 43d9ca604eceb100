# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What each event does in each state of the driver.

The laws of docs/safety.md, which the tests check on the table and on the driver:

- A stop leads to a state in which it is latched, from every state.
- Only ``reset`` leaves these states for others, and it sends nothing.
- A motion is accepted when armed, nowhere else.
- Only ``arm`` leads from a state without commands to one with them; a stopped arm refuses it.
- A failure leads to FAULT from every state; a disarmed or released arm accepts no motion.
"""

from __future__ import annotations

from enum import Enum

from arm_common.control.transition_table import TransitionTable

from arm_hardware.errors import ARM, RESET


class ControlState(Enum):
    """States of the driver; MOVING is ARMED with a goal, and STOPPED the same for the user."""

    DISARMED = "disarmed"
    ARMING = "arming"
    ARMED = "armed"
    STOPPED_DISARMED = "stopped, disarmed"
    STOPPED_ARMED = "stopped, armed"
    FAULT = "fault"
    STOPPED_FAULT = "stopped, fault"

    @property
    def is_stopped(self) -> bool:
        """True if a stop is latched."""
        return self in (self.STOPPED_DISARMED, self.STOPPED_ARMED, self.STOPPED_FAULT)

    @property
    def has_failed(self) -> bool:
        """True from a failure of the hardware until armed again or disarmed."""
        return self in (self.FAULT, self.STOPPED_FAULT)

    @property
    def is_armed(self) -> bool:
        """True if the driver answers for the registers: it compares them with what it sent."""
        return self in (self.ARMING, self.ARMED, self.STOPPED_ARMED)

    @property
    def commands(self) -> bool:
        """True if a tick may send."""
        return self in (self.ARMING, self.ARMED)


class ControlEvent(Enum):
    """What happens to the driver."""

    ARM = "arm"
    ALL_ARMED = "all servos armed"
    MOVE = "move"
    STOP = "stop"
    RESET = "reset"
    STALL = "stall"
    FAIL = "fail"
    DISARM = "disarm"
    RELEASE = "release"


class ControlAction(Enum):
    """What the driver does at a transition."""

    NOTHING = "nothing"
    START = "starts servos without pulses one by one; the others hold"
    HOLD = "holds"
    FREEZE = "freezes all commands and aborts goals"
    UNLATCH = "lets channels be written again, sends nothing"
    FORGET = "aborts goals, regards positions as unknown"
    ABORT = "aborts goals; pulses or torque stay"
    RELEASE = "aborts goals, ends all pulses or torque"


_S, _E, _A = ControlState, ControlEvent, ControlAction
_STOPPED = tuple(state for state in _S if state.is_stopped)
_NOT_ARMING = "no servos are being armed"
_LATCHED = f"the stop is latched; run {RESET}"
_FAILED = f"the hardware failed; to arm again, run {ARM}"

_ROWS = (
    (_S.DISARMED, _E.ARM, _S.ARMING, _A.START),
    (_S.ARMING, _E.ARM, _S.ARMING, _A.NOTHING),
    (_S.ARMED, _E.ARM, _S.ARMED, _A.NOTHING),
    (_S.FAULT, _E.ARM, _S.ARMING, _A.START),
    (_S.ARMING, _E.ALL_ARMED, _S.ARMED, _A.HOLD),
    (_S.ARMED, _E.MOVE, _S.ARMED, _A.NOTHING),
    (_S.DISARMED, _E.STOP, _S.STOPPED_DISARMED, _A.FREEZE),
    (_S.ARMING, _E.STOP, _S.STOPPED_DISARMED, _A.FREEZE),
    (_S.ARMED, _E.STOP, _S.STOPPED_ARMED, _A.FREEZE),
    (_S.FAULT, _E.STOP, _S.STOPPED_FAULT, _A.FREEZE),
    *((state, _E.STOP, state, _A.FREEZE) for state in _STOPPED),
    (_S.STOPPED_DISARMED, _E.RESET, _S.DISARMED, _A.UNLATCH),
    (_S.STOPPED_ARMED, _E.RESET, _S.ARMED, _A.UNLATCH),
    (_S.STOPPED_FAULT, _E.RESET, _S.FAULT, _A.UNLATCH),
    *((state, _E.RESET, state, _A.NOTHING) for state in (_S.DISARMED, _S.ARMING, _S.ARMED)),
    (_S.ARMING, _E.STALL, _S.DISARMED, _A.FREEZE),
    (_S.ARMED, _E.STALL, _S.ARMED, _A.FREEZE),
    *((state, _E.STALL, state, _A.NOTHING) for state in (_S.DISARMED, _S.FAULT, *_STOPPED)),
    *((state, _E.FAIL, _S.FAULT, _A.FORGET) for state in _S if state not in _STOPPED),
    *((state, _E.FAIL, _S.STOPPED_FAULT, _A.FORGET) for state in _STOPPED),
    *((state, _E.DISARM, _S.DISARMED, _A.ABORT) for state in _S if state not in _STOPPED),
    *((state, _E.DISARM, _S.STOPPED_DISARMED, _A.ABORT) for state in _STOPPED),
    *((state, _E.RELEASE, _S.DISARMED, _A.RELEASE) for state in _S if state not in _STOPPED),
    *((state, _E.RELEASE, _S.STOPPED_DISARMED, _A.RELEASE) for state in _STOPPED),
)
_REFUSALS: dict[tuple[ControlState, ControlEvent], str] = {
    **{(state, _E.ARM): f"{_LATCHED} before arming" for state in _STOPPED},
    **{(state, _E.ALL_ARMED): _NOT_ARMING for state in _S if state is not _S.ARMING},
    (_S.DISARMED, _E.MOVE): f"the driver is not armed; run {ARM}",
    (_S.ARMING, _E.MOVE): ("the servos are still being armed, one after another; see the status"),
    (_S.STOPPED_DISARMED, _E.MOVE): _LATCHED,
    (_S.STOPPED_ARMED, _E.MOVE): _LATCHED,
    (_S.FAULT, _E.MOVE): _FAILED,
    (_S.STOPPED_FAULT, _E.MOVE): _FAILED,
    (_S.FAULT, _E.RESET): _FAILED,
}
CONTROL = TransitionTable(ControlState, ControlEvent, _ROWS, _REFUSALS)
