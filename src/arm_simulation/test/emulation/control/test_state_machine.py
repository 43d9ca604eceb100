# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The laws of docs/safety.md after every step of random lives of a driver on the simulated board.

Events come in any order, also while another one is under way: a stop is called from a second
thread at some transfer of it.
"""

import errno
import importlib.util
import threading
from collections import Counter
from typing import ClassVar

import pytest
from arm_description.library import load_robot
from arm_hardware.control.snapshot import DriverState
from arm_hardware.control.transitions import CONTROL, ControlEvent, ControlState
from arm_hardware.errors import HardwareError, StateError
from arm_testing.hardware.emulated_driver import Bench
from arm_testing.waiting import InstantClock
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

BACKEND = "servokit" if importlib.util.find_spec("adafruit_servokit") else "i2c_dev"
MODEL = load_robot("nut_arm")
READY = (DriverState.ARMED, DriverState.MOVING)
ANGLES = st.tuples(*4 * [st.floats(-0.5, 0.5)])
FORMS = ("arm", "disarm", "release", "reset", "fail", "grip", "go", "tick", "stalled")


class DriverLife(RuleBasedStateMachine):
    """One driver from power-up on; ``frozen`` are the registers that must not change."""

    visits: ClassVar[Counter] = Counter()

    @initialize(recovery=st.sampled_from(["direct", "direct", "slow"]))
    def open(self, recovery):
        self.bench = Bench(MODEL, InstantClock(), backend=BACKEND, recovery=recovery)
        self.bench.driver.open()
        self.controller = self.bench.controller
        self.frozen = None
        self.goals = []
        self.touched = False  # once arming or a release was asked for

    def teardown(self):
        if hasattr(self, "bench"):
            self.bench.close()

    @property
    def state(self):
        return self.controller._state

    # -- Events ----------------------------------------------------------------------------------

    def act(self, event, act, *arguments):
        """Do something that the present state allows or refuses, as the table says."""
        self.controller._apply_stop()
        row = CONTROL.row(self.state, event)
        self.touched |= event in (ControlEvent.ARM, ControlEvent.RELEASE)
        try:
            done = act(*arguments)
        except StateError:
            assert row is None or event is ControlEvent.ARM  # which also checks the counts
            return None
        except HardwareError:
            assert self.bench.faults.failed
            return None
        assert row is not None
        return done

    @rule()
    def arm(self):
        self.act(ControlEvent.ARM, self.controller.arm)
        self.thaw()

    @rule()
    def get_ready(self):
        """Arm completely, as a user would, if the bus is there."""
        self.find_the_bus()
        self.reset()
        self.arm()
        while self.controller.arming:
            self.ticks(1)

    @rule(q=ANGLES, seconds=st.floats(0.8, 3.0))
    def get_moving(self, q, seconds):
        self.get_ready()
        self.move(q, seconds)

    @rule()
    def arm_and_disarm(self):
        self.get_ready()
        self.disarm()

    @rule()
    def disarm(self):
        self.act(ControlEvent.DISARM, self.controller.disarm)

    @rule()
    def release(self):
        self.act(ControlEvent.RELEASE, self.controller.release, "the test says so.")
        self.frozen = None

    @rule()
    def reset(self):
        before = self.bench.pulses
        unlatched = self.state.is_stopped
        self.act(ControlEvent.RESET, self.controller.reset)
        if unlatched:
            self.ticks(10)
            assert self.bench.pulses == before and not self.controller.arming
        self.thaw()

    @rule(stopped=st.booleans())
    def fail(self, stopped):
        if stopped:
            self.stop()
        self.act(ControlEvent.FAIL, self.controller.fail, "broken on purpose.")

    @rule(late=st.floats(1.0, 5.0))
    def stall(self, late):
        self.act(ControlEvent.STALL, self.controller.stalled, late)

    @rule(q=ANGLES, seconds=st.floats(0.8, 3.0))
    def move(self, q, seconds):
        self.goals.append(self.act(ControlEvent.MOVE, lambda: self.bench.go(*q, time=seconds)))

    @rule(width=st.floats(0.0, 0.03))
    def grip(self, width):
        self.goals.append(self.act(ControlEvent.MOVE, self.controller.grip, width))

    @precondition(lambda self: any(self.goals))
    @rule(data=st.data())
    def cancel(self, data):
        goal = data.draw(st.sampled_from([goal for goal in self.goals if goal]))
        self.controller.cancel(goal)

    @rule(factor=st.sampled_from([0.0, 0.5, 1.0]))
    def scale(self, factor):
        self.controller.set_speed_scaling(factor)

    @rule()
    def stop(self):
        self.controller.stop()
        assert self.state.is_stopped
        self.freeze()

    @rule(number=st.integers(1, 60))
    def tick(self, number):
        self.ticks(number)

    @rule(number=st.sampled_from([errno.EREMOTEIO, errno.ETIMEDOUT, errno.EIO]))
    def lose_the_bus(self, number):
        self.bench.faults.fail(number)

    @rule()
    def find_the_bus(self):
        self.bench.faults.clear()

    @rule(form=st.sampled_from(FORMS), transfer=st.integers(0, 12))
    def stop_meanwhile(self, form, transfer):
        """Call the stop from another thread during an event, which has the lock."""
        controller = self.controller
        self.touched |= form in ("arm", "release")
        with controller._lock:
            restore = self.at_transfer(transfer, self.stop_from_another_thread)
            try:
                {
                    "arm": controller.arm,
                    "disarm": controller.disarm,
                    "release": lambda: controller.release("the test says so."),
                    "reset": controller.reset,
                    "fail": lambda: controller.fail("broken on purpose."),
                    "grip": lambda: controller.grip(0.02),
                    "go": lambda: self.bench.go(0.2, 0.1, -0.1, 0.3),
                    "tick": controller.tick,
                    "stalled": lambda: controller.stalled(2.0),
                }[form]()
            except HardwareError:
                pass
            finally:
                if restore():
                    self.stop_from_another_thread()
        assert controller.state in (DriverState.STOPPED, DriverState.FAULT)
        with pytest.raises(StateError):
            controller.require_ready()
        self.frozen = None
        before = self.bench.pulses
        self.bench.tick()  # applies the stop: a joint that is being homed loses its pulses
        assert all(now in (0.0, then) for now, then in zip(self.bench.pulses, before, strict=True))
        assert self.state.is_stopped and self.controller._stop_reason is None
        self.freeze()

    def stop_from_another_thread(self):
        thread = threading.Thread(target=self.controller.stop, daemon=True)
        thread.start()
        thread.join(30.0)
        assert not thread.is_alive()

    def at_transfer(self, number, call):
        """Let a call come before a later write to the chip; return what ends that.

        It returns whether the call is still to come.
        """
        chip, left = self.bench.chip, [number]
        write = chip.write

        def counted(data):
            if left[0] == 0:
                call()
            left[0] -= 1
            write(data)

        def restore():
            del chip.write
            return left[0] >= 0

        chip.write = counted
        return restore

    # -- Laws ------------------------------------------------------------------------------------

    def freeze(self):
        self.frozen = self.bench.pulses

    def thaw(self):
        if not self.state.is_stopped:
            self.frozen = None

    def ticks(self, number):
        """Turn the loop; nothing changes in ticks of a state without commands or without goals."""
        for _ in range(number):
            before, pulses = self.controller.state, self.bench.pulses
            commands = self.state.commands
            self.bench.tick()
            moves = commands and (before is DriverState.MOVING or before is DriverState.UNKNOWN)
            assert moves or self.bench.pulses == pulses, before

    @invariant()
    def every_state_is_visited(self):
        if hasattr(self, "bench"):
            self.visits[self.state, self.controller.state] += 1

    @invariant()
    def nothing_changes_while_the_stop_is_latched(self):
        if hasattr(self, "bench") and self.frozen is not None:
            assert self.state.is_stopped and self.bench.driver.output.bus.halted
            assert self.bench.pulses == self.frozen

    @invariant()
    def nothing_is_written_before_the_first_arming(self):
        if hasattr(self, "bench") and not self.touched:
            assert self.bench.chip.channel_writes == 0

    @invariant()
    def motion_is_accepted_when_armed_only(self):
        if not hasattr(self, "bench"):
            return
        if self.controller.state in READY:
            self.controller.require_ready()
            return
        for command in (
            lambda: self.bench.go(0.1, 0.1, 0.1, 0.1),
            lambda: self.controller.grip(0.01),
        ):
            with pytest.raises(StateError):
                command()
        assert all(goal.done for goal in self.goals if goal)


def live(examples, steps, derandomize=False):
    DriverLife.visits.clear()
    run_state_machine_as_test(
        DriverLife,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=derandomize,
            suppress_health_check=list(HealthCheck),
        ),
    )
    reported = Counter(state for _, state in DriverLife.visits.elements())
    internal = Counter(state for state, _ in DriverLife.visits.elements())
    assert min(reported[state] for state in DriverState) > 0, reported
    assert reported[DriverState.MOVING] > 30, reported
    assert min(internal[state] for state in ControlState) > 10, internal


def test_laws_hold_whatever_happens():
    live(examples=100, steps=30, derandomize=True)


@pytest.mark.thorough
def test_laws_hold_in_many_long_lives():
    live(examples=1500, steps=60)
