# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A run hears of the end of a motion at once, and begins nothing after it was told to stop."""

from types import SimpleNamespace

import numpy as np
import pytest
from arm_tasks.execution.outcome import EngineState
from arm_tasks.execution.ports import MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedStep, StepReport, TaskPlan
from arm_tasks.ros.task_server.node import FEEDBACK_PERIOD, SIMULATED_TICK, TICK, TaskExecution
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Task


def plan(count):
    """A plan whose steps move the jaws."""
    steps = tuple(
        PlannedStep(
            index=i,
            name=f"step {i}",
            message=f"doing {i}",
            kind="gripper",
            start=np.zeros(1),
            start_width=0.0,
            report=StepReport(i, f"step {i}", True, 0.0, 0.0, 1.0, "a", 1.0, "fine"),
            width=0.01,
        )
        for i in range(count)
    )
    return TaskPlan(
        TaskRequest(
            Task("t", "t.yaml", ()),
            None,
            None,
            SimpleNamespace(joint_names=("a",), velocity=np.ones(1), acceleration=np.ones(1)),
            ArmConfiguration({"a": 0.0}, 0.0),
        ),
        np.zeros(1),
        steps,
    )


class Port:
    """An arm whose motions end when the test says so."""

    def __init__(self):
        self.states, self.on_end = [], lambda: None

    def configuration(self):
        return ArmConfiguration({"a": 0.0}, 0.0)

    def set_width(self, width):
        mine = len(self.states)
        self.states.append(MoveState.RUNNING)

        def cancel():
            self.states[mine] = MoveState.CANCELED

        return SimpleNamespace(poll=lambda: MoveStatus(self.states[mine]), cancel=cancel)

    def end(self):
        self.states[-1] = MoveState.SUCCEEDED
        self.on_end()


@pytest.fixture(params=[False, True])
def server(request):
    """What a run needs of its node; simulated time or not."""
    made = SimpleNamespace(executor=None, senses=None, port=Port(), timers=[], told=[], heard=[])
    made.get_parameter = lambda _: SimpleNamespace(value=request.param)
    made.get_clock = lambda: SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=0))
    made.create_timer = lambda period, call, clock: made.timers.append((period, call))
    made.destroy_timer = lambda timer: made.timers.pop()
    made.state = SimpleNamespace(lost=lambda: "", hear=lambda: made.heard.append(1))
    made.companions = SimpleNamespace(lost=lambda: "", expect=lambda: None)
    made.controls = SimpleNamespace(stop_wanted=False, tell=made.told.append, engine=None)
    return made


@pytest.fixture
def run(server):
    request = SimpleNamespace(start_step=0, single_step=False)
    handle = SimpleNamespace(
        request=request, is_cancel_requested=False, publish_feedback=lambda _: None
    )
    made = TaskExecution(server, handle, plan(3))
    made.handle = handle
    made.begin()
    tick(server)
    return made


def tick(server):
    server.timers[0][1]()


def test_the_next_step_begins_when_a_motion_ends_without_a_tick(server, run):
    for count in (1, 2, 3):
        assert len(server.port.states) == count
        server.port.end()
    assert run.finished.result().state is EngineState.SUCCEEDED
    assert not server.timers and len(server.port.states) == 3


def stop(server, run):
    server.controls.stop_wanted = True


def cancel(server, run):
    run.handle.is_cancel_requested = True


def lose(server, run):
    server.state.lost = lambda: "the servo driver is gone"


def miss(server, run):
    server.companions.lost = lambda: "tf fell silent"


@pytest.mark.parametrize("how", [stop, cancel, lose, miss])
def test_nothing_begins_if_a_motion_ends_between_a_stop_and_the_next_tick(server, run, how):
    how(server, run)
    server.port.end()
    while not run.finished.done():
        tick(server)
    assert len(server.port.states) == 1
    assert run.finished.result().state is not EngineState.SUCCEEDED


def test_the_end_of_a_motion_that_comes_after_the_run_changes_nothing(server, run):
    stop(server, run)
    while not run.finished.done():
        tick(server)
    outcome = run.finished.result()
    server.port.on_end()
    assert run.finished.result() is outcome


def test_feedback_comes_at_each_step_and_ten_times_a_second(server, run):
    (period, _) = server.timers[0]
    assert period in (TICK, SIMULATED_TICK)
    server.told.clear()
    for _ in range(round(1.0 / period)):
        tick(server)
    assert len(server.told) == pytest.approx(1.0 / FEEDBACK_PERIOD, abs=1)
    server.told.clear()
    server.port.end()
    assert [told.step for told in server.told][-1] == 1
    assert server.heard
