# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What each event does in each state of a run.

The laws, which the tests check on the table and on the engine:

- A step begins, and a motion continues, on the way to RUNNING only.
- What a person has paused, only a person lets go on: by the engine, or by the arm's speed.
- ``cancel`` and ``abort`` stop a run in every state that is not done; a run that stops only ends.
- ``give up`` ends every run at once. A run that is done stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from arm_common.control.transition_table import TransitionTable


class RunState(Enum):
    """States of a run; users see fewer."""

    RUNNING = "running"
    BRAKING = "braking"  # a motion has failed; once the arm rests, it is tried again or undone
    PAUSING = "pausing"
    PAUSED = "paused"
    HOLDING = "holding"  # is paused as by a person, but until release()
    HELD = "held"
    CANCELING = "canceling"
    ABORTING = "aborting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    LOST = "lost"
    CANCELED = "canceled"

    @property
    def shown(self) -> str:
        """What users see of it, a value of EngineState."""
        return _SHOWN.get(self, self.value)

    @property
    def slows(self) -> bool:
        """True if the arm brakes for a pause."""
        return self in _AFTER_BRAKING

    @property
    def waits(self) -> bool:
        """True if the arm rests until it is let go on."""
        return self in _WAITING

    @property
    def done(self) -> bool:
        """True if the run is over and nothing moves any more."""
        return self in _DONE


class RunEvent(Enum):
    """What is asked of a run, and what happens to it."""

    PAUSE = "pause"
    HOLD = "hold"
    RELEASE = "release"
    RESUME = "resume"
    SINGLE_STEP = "single step"
    CANCEL = "cancel"
    ABORT = "abort"
    GIVE_UP = "give up"
    RESTS = "arm rests"
    RESCALED = "speed set above 0"
    OVERDUE = "arm does not brake"
    STEP_DONE = "step done"
    ALL_DONE = "last step done"
    STEP_CANCELED = "step canceled"
    STEP_FAILED = "step failed"
    RECOVERABLE = "step failed, with a remedy"


class RunAction(Enum):
    """What the engine does at a transition."""

    NOTHING = "nothing"
    BEGIN = "begins the next step, or the rest of it"
    WAIT = "waits until the arm rests"
    RECOVER = "tries the step again, or returns to its start"
    BRAKE = "scales the speed of a motion to 0, cancels another step"
    CONTINUE = "continues the motion, or plans the rest of the step"
    KEEP_SPEED = "leaves the speed as it was set"
    CANCEL_STEP = "cancels the step"
    DROP = "ends the step, restores the speed"
    DROP_FAILED = "ends the step, restores the speed once nothing moves"
    SUCCEED = "ends the run"
    END_HOLDING = "ends the run, restores the speed"
    FAIL = "ends the run, restores the speed once nothing moves"
    ABANDON = "cancels the step, ends the run, restores the speed once nothing moves"


_S, _E, _A = RunState, RunEvent, RunAction
_Next = dict[RunState, RunState]  # of each of some states


def _to(state: RunState, states: Iterable[RunState]) -> _Next:
    return dict.fromkeys(states, state)


def _unchanged(states: Iterable[RunState]) -> _Next:
    return {state: state for state in states}


_GOING = (_S.RUNNING, _S.BRAKING)
_AFTER_BRAKING = {_S.PAUSING: _S.PAUSED, _S.HOLDING: _S.HELD}
_WAITING = tuple(_AFTER_BRAKING.values())
_END = {_S.CANCELING: _S.CANCELED, _S.ABORTING: _S.LOST}
_DONE = (_S.SUCCEEDED, _S.FAILED, *_END.values())
_OPEN = (*_GOING, *_AFTER_BRAKING, *_WAITING)
_OVER = (*_END, *_DONE)
_SHOWN = {
    _S.BRAKING: "running",
    _S.HOLDING: "pausing",
    _S.HELD: "paused",
    _S.CANCELING: "stopping",
    _S.ABORTING: "stopping",
}
_ROWS: Mapping[RunEvent, tuple[tuple[_Next, RunAction], ...]] = {
    _E.PAUSE: (
        (_to(_S.PAUSING, _GOING), _A.BRAKE),
        (_to(_S.PAUSING, _AFTER_BRAKING) | _to(_S.PAUSED, _WAITING), _A.NOTHING),
    ),
    _E.HOLD: (
        (_to(_S.HOLDING, _GOING), _A.BRAKE),
        (_unchanged((*_AFTER_BRAKING, *_WAITING, *_OVER)), _A.NOTHING),
    ),
    _E.RELEASE: (
        ({_S.HELD: _S.RUNNING}, _A.CONTINUE),
        (_unchanged((*_GOING, *_AFTER_BRAKING, _S.PAUSED, *_OVER)), _A.NOTHING),
    ),
    _E.RESUME: ((_to(_S.RUNNING, _WAITING), _A.CONTINUE),),
    _E.SINGLE_STEP: ((_to(_S.RUNNING, _WAITING), _A.CONTINUE), (_unchanged(_GOING), _A.NOTHING)),
    _E.CANCEL: ((_to(_S.CANCELING, _OPEN), _A.CANCEL_STEP), (_unchanged(_OVER), _A.NOTHING)),
    _E.ABORT: ((_to(_S.ABORTING, _OPEN), _A.CANCEL_STEP), (_unchanged(_OVER), _A.NOTHING)),
    _E.GIVE_UP: ((_to(_S.FAILED, (*_OPEN, *_END)), _A.ABANDON), (_unchanged(_DONE), _A.NOTHING)),
    _E.RESTS: (
        ({_S.RUNNING: _S.RUNNING}, _A.BEGIN),
        ({_S.BRAKING: _S.RUNNING}, _A.RECOVER),
        (_AFTER_BRAKING | _unchanged(_WAITING), _A.NOTHING),
        (_END, _A.END_HOLDING),
    ),
    _E.RESCALED: ((_to(_S.RUNNING, _WAITING), _A.KEEP_SPEED),),
    _E.OVERDUE: ((_unchanged(_AFTER_BRAKING), _A.CANCEL_STEP),),
    _E.STEP_DONE: (
        (_to(_S.RUNNING, _GOING), _A.BEGIN),
        (_AFTER_BRAKING | _unchanged(_WAITING), _A.NOTHING),
        (_END, _A.END_HOLDING),
    ),
    _E.ALL_DONE: (
        (_to(_S.SUCCEEDED, (*_GOING, *_AFTER_BRAKING)), _A.SUCCEED),
        (_unchanged(_WAITING), _A.NOTHING),
        (_END, _A.END_HOLDING),
    ),
    _E.STEP_CANCELED: (
        (_to(_S.FAILED, _GOING), _A.FAIL),
        (_AFTER_BRAKING | _unchanged(_WAITING), _A.DROP),
        (_END, _A.END_HOLDING),
    ),
    _E.STEP_FAILED: (
        (_to(_S.FAILED, (*_GOING, *_AFTER_BRAKING, *_END)), _A.FAIL),
        (_unchanged(_WAITING), _A.DROP_FAILED),
    ),
    _E.RECOVERABLE: (
        (_to(_S.BRAKING, _GOING), _A.WAIT),
        (_to(_S.FAILED, (*_AFTER_BRAKING, *_END)), _A.FAIL),
        (_unchanged(_WAITING), _A.DROP_FAILED),
    ),
}
_REFUSALS: Mapping[RunEvent, Mapping[RunState, str]] = {
    _E.PAUSE: {state: f"the task is {state.shown}" for state in _OVER},
    _E.RESUME: {
        **dict.fromkeys(_AFTER_BRAKING, "the arm is still slowing down; try again"),
        **{s: f"the task is not paused but {s.shown}" for s in (*_GOING, *_OVER)},
    },
    _E.SINGLE_STEP: {
        **dict.fromkeys(_AFTER_BRAKING, "the arm is still slowing down; try again"),
        **{s: f"the task is not paused but {s.shown}" for s in _OVER},
    },
    _E.RESCALED: dict.fromkeys((*_GOING, *_AFTER_BRAKING, *_OVER), "the task is not paused"),
    _E.OVERDUE: dict.fromkeys((*_GOING, *_WAITING, *_OVER), "the arm does not slow down"),
    **dict.fromkeys(
        (_E.RESTS, _E.STEP_DONE, _E.ALL_DONE, _E.STEP_CANCELED, _E.STEP_FAILED, _E.RECOVERABLE),
        dict.fromkeys(_DONE, "the task is over"),
    ),
}
RUN = TransitionTable(
    RunState,
    RunEvent,
    (
        (state, event, after, action)
        for event, groups in _ROWS.items()
        for states, action in groups
        for state, after in states.items()
    ),
    {
        (state, event): reason
        for event, reasons in _REFUSALS.items()
        for state, reason in reasons.items()
    },
)
