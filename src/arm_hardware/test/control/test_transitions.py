# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every event in every state: the laws of docs/safety.md on the table, and the driver obeys it."""

import threading
from itertools import product

import pytest
from arm_hardware.control.transitions import CONTROL, ControlAction, ControlEvent, ControlState
from arm_hardware.errors import StateError

THERE = (0.5, -0.4, 0.3, 1.0)
STOPPED = [state for state in ControlState if state.is_stopped]
SILENT = (ControlAction.NOTHING, ControlAction.UNLATCH)


def rows_of(event):
    return [row for row in CONTROL.rows if row.event is event]


def test_a_stop_is_latched_from_every_state():
    assert {row.state for row in rows_of(ControlEvent.STOP)} == set(ControlState)
    assert all(row.next_state.is_stopped for row in rows_of(ControlEvent.STOP))


def test_only_reset_unlatches_and_it_sends_nothing():
    for row in CONTROL.rows:
        unlatches = row.state.is_stopped and not row.next_state.is_stopped
        assert unlatches == (row.state.is_stopped and row.event is ControlEvent.RESET)
    assert all(row.action in SILENT for row in rows_of(ControlEvent.RESET))


def test_motion_is_accepted_when_armed_only():
    assert {row.state for row in rows_of(ControlEvent.MOVE)} == {ControlState.ARMED}


def test_only_arming_starts_commands_and_a_reset_only_where_they_were_stopped():
    begins = [r for r in CONTROL.rows if r.next_state.commands and not r.state.commands]
    assert {(row.state, row.event) for row in begins} == {
        (ControlState.DISARMED, ControlEvent.ARM),
        (ControlState.FAULT, ControlEvent.ARM),
        (ControlState.STOPPED_ARMED, ControlEvent.RESET),
    }


def test_a_failure_is_a_fault_from_every_state_until_armed_or_disarmed():
    assert {row.state for row in rows_of(ControlEvent.FAIL)} == set(ControlState)
    assert all(row.next_state.has_failed for row in rows_of(ControlEvent.FAIL))
    ends = (ControlEvent.ARM, ControlEvent.DISARM, ControlEvent.RELEASE)
    for row in CONTROL.rows:
        if row.state.has_failed:
            assert row.next_state.has_failed == (row.event not in ends)


@pytest.mark.parametrize("event", [ControlEvent.DISARM, ControlEvent.RELEASE])
def test_disarm_and_release_are_possible_in_every_state_and_end_all_commands(event):
    assert {row.state for row in rows_of(event)} == set(ControlState)
    assert not any(row.next_state.is_armed or row.next_state.has_failed for row in rows_of(event))


@pytest.mark.parametrize("state", ControlState)
def test_reset_and_arm_lead_out_of_every_state(state):
    for event in (ControlEvent.RESET, ControlEvent.ARM, ControlEvent.ALL_ARMED):
        row = CONTROL.row(state, event)
        state = row.next_state if row else state
    assert state is ControlState.ARMED


# -- The driver ----------------------------------------------------------------------------------


def reach(rig, state) -> None:
    """Bring the driver into a state by its public methods."""
    rig.controller.read()
    if state in (ControlState.ARMED, ControlState.STOPPED_ARMED):
        rig.arm()
        rig.follow((1.0, THERE))
        rig.tick(20)
    if state is ControlState.ARMING:
        rig.controller.arm()
        rig.tick(6)
    if state.has_failed:
        rig.controller.fail("broken on purpose.")
    if state.is_stopped:
        rig.controller.stop()


def fire(rig, event) -> None:
    controller = rig.controller
    {
        ControlEvent.ARM: controller.arm,
        ControlEvent.ALL_ARMED: lambda: rig.tick(40),
        ControlEvent.MOVE: lambda: rig.follow((1.0, THERE)),
        ControlEvent.STOP: controller.stop,
        ControlEvent.RESET: controller.reset,
        ControlEvent.STALL: lambda: controller.stalled(3.0),
        ControlEvent.FAIL: lambda: controller.fail("broken on purpose."),
        ControlEvent.DISARM: controller.disarm,
        ControlEvent.RELEASE: lambda: controller.release("the test says so."),
    }[event]()


@pytest.mark.parametrize(
    ("state", "event"),
    [
        pytest.param(state, event, id=f"{state.name}-{event.name}")
        for state, event in product(ControlState, ControlEvent)
    ],
)
def test_driver_does_what_the_table_says(rig, state, event):
    reach(rig, state)
    assert rig.controller._state is state
    before, row = dict(rig.bus.counts), CONTROL.row(state, event)
    if row is None and event is not ControlEvent.ALL_ARMED:
        with pytest.raises(StateError, match=r"latched|failed|armed|unknown"):
            fire(rig, event)
    else:
        fire(rig, event)
    after = row.next_state if row else state
    assert rig.controller._state is after
    assert rig.output.bus.halted == after.is_stopped
    if event is ControlEvent.RELEASE:
        assert rig.bus.counts == {}
    elif not after.commands:  # nothing that happened has sent anything, and nothing will
        rig.tick(50)
        assert rig.bus.counts == before and rig.controller._state is after


@pytest.mark.parametrize("state", ControlState)
def test_driver_says_whether_arming_would_start(rig, state):
    reach(rig, state)
    row = CONTROL.row(state, ControlEvent.ARM)
    if row is None:
        with pytest.raises(StateError, match="latched"):
            rig.controller.can_arm()
    else:
        assert rig.controller.can_arm() == (row.action is ControlAction.START)
    assert rig.controller._state is state


@pytest.mark.parametrize(
    "event",
    [
        ControlEvent.ARM,
        ControlEvent.MOVE,
        ControlEvent.STALL,
        ControlEvent.FAIL,
        ControlEvent.DISARM,
        ControlEvent.RELEASE,
    ],
)
@pytest.mark.parametrize("state", ControlState)
def test_stop_that_waits_for_the_lock_counts_at_once_and_is_not_lost(rig, state, event):
    reach(rig, state)
    rig.controller._stop_reason = "the test says so"  # as by stop() while a tick has the lock
    rig.output.bus.halted = True
    stopped = CONTROL.row(state, ControlEvent.STOP).next_state
    assert rig.controller._state_after_stop() is stopped
    if event in (ControlEvent.ARM, ControlEvent.MOVE):
        with pytest.raises(StateError, match=r"latched|failed"):
            fire(rig, event)
    else:
        fire(rig, event)
    rig.tick()
    assert rig.controller._state.is_stopped and rig.output.bus.halted


@pytest.mark.parametrize("before", [True, False])
def test_stop_called_within_a_reset_is_not_unlatched_by_it(armed, before):
    controller, unlatch = armed.controller, armed.controller._unlatch

    def stop():
        thread = threading.Thread(target=controller.stop)  # a reset has the lock
        thread.start()
        thread.join(30.0)
        assert not thread.is_alive()

    def unlatch_meanwhile(why):
        if before:
            stop()
        unlatch(why)
        if not before:
            stop()

    controller.stop()
    controller._actions[ControlAction.UNLATCH] = unlatch_meanwhile
    controller.reset()
    with pytest.raises(StateError, match="latched"):
        controller.require_ready()
    armed.tick()
    assert controller._state is ControlState.STOPPED_ARMED and armed.output.bus.halted
