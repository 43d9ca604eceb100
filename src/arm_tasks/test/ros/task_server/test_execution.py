# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A run reacts to the end of a motion at once and starts nothing after an interrupt."""

import math
import time
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import rclpy
from arm_common.errors import InputError
from arm_common.ros.executor import PolledSubscriptions
from arm_tasks.execution.engine import EngineState
from arm_tasks.execution.ports import MoveState, MoveStatus
from arm_tasks.planning.planner import plan_task
from arm_tasks.ros.task_server import monitors
from arm_tasks.ros.task_server.execution import (
    FEEDBACK_PERIOD,
    SIMULATED_TICK,
    TICK,
    ExecutionContext,
    TaskExecution,
)
from arm_tasks.ros.task_server.monitors import BlindWorldDetector, NodeLivenessMonitor
from arm_tasks.ros.task_server.node import TaskServerParameters, allowed_files
from arm_testing.ros.probe import Probe
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus


def test_kinematics_of_the_namespace_is_monitored_whatever_topics_are_remapped(monkeypatch):
    arguments = ["--ros-args", "-r", "kinematics:=solve"]
    probe = Probe()
    node = rclpy.create_node("n", context=probe.context, namespace="a", cli_args=arguments)
    monitor = NodeLivenessMonitor(node, "arm_link", PolledSubscriptions())
    status = DiagnosticStatus(name="/a/kinematics: solver")
    monitor._on_diagnostics(DiagnosticArray(status=[status]))
    now = time.monotonic()
    monkeypatch.setattr(monitors.time, "monotonic", lambda: now + 60.0)
    assert "the node kinematics has been silent" in monitor.lost()
    node.destroy_node()
    probe.close()


@pytest.mark.parametrize("name", ["poses", "paths"])
def test_empty_path_does_not_allow_the_working_directory(name):
    with pytest.raises(InputError, match=f"parameter {name} is empty"):
        allowed_files(TaskServerParameters(**{name: ""}), "nut_arm")


class Port:
    """An arm whose motions end on end()."""

    speed_scaling, still, goal_tolerances = 1.0, False, {}

    def __init__(self, plan):
        self.states, self.on_end = [], lambda: None
        self.configuration = lambda: plan.request.start

    def set_width(self, width):
        mine = len(self.states)
        self.states.append(MoveState.RUNNING)

        def cancel():
            self.states[mine] = MoveState.CANCELED

        return SimpleNamespace(poll=lambda: MoveStatus(self.states[mine]), cancel=cancel)

    def end(self):
        self.states[-1] = MoveState.SUCCEEDED
        self.on_end()


class Node:
    """A node whose timers tick when the test calls them; in simulated time or not."""

    def __init__(self, simulated):
        self.executor, self.timers, self._simulated = None, [], simulated

    def get_parameter(self, _):
        return SimpleNamespace(value=self._simulated)

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=0))

    def create_timer(self, period, call, clock):
        self.timers.append((period, call))
        return Mock()

    def destroy_timer(self, timer):
        self.timers.pop()


@pytest.fixture(scope="module")
def plan(request_for):
    """Return a plan of three steps that move the jaws."""
    return plan_task(request_for([f"open: {{width_mm: {width}}}" for width in (5, 10, 20)]))


@pytest.fixture(params=[False, True])
def server(request, plan):
    made = SimpleNamespace(published=[], polls=[], driver=Port(plan), node=Node(request.param))
    made.driver.lost, made.driver.moving = lambda: "", True
    made.driver.poll = lambda: made.polls.append(1)
    made.world = SimpleNamespace(received=-math.inf, advanced=0.0, poll=lambda: None)
    made.liveness = SimpleNamespace(lost=lambda: "", begin=lambda: None)
    made.controls = SimpleNamespace(
        stop_requested=False, publish=made.published.append, attach=lambda engine: None
    )
    return made


@pytest.fixture
def run(server, plan):
    request = SimpleNamespace(start_step="", single_step=False)
    server.handle = SimpleNamespace(request=request, is_cancel_requested=False)
    server.owner = SimpleNamespace(is_lost=lambda: False, publish_feedback=lambda *_: None)
    context = ExecutionContext(
        server.node,
        server.driver,
        server.world,
        lambda plan: None,
        server.liveness,
        server.controls,
    )
    made = TaskExecution(context, server.handle, plan, server.owner)
    made.begin()
    tick(server)
    return made


def tick(server):
    server.node.timers[0][1]()


def test_next_step_begins_as_soon_as_a_motion_ends(server, run):
    for count in (1, 2, 3):
        assert len(server.driver.states) == count
        server.driver.end()
    assert run.finished.result().state is EngineState.SUCCEEDED
    assert not server.node.timers and len(server.driver.states) == 3


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("controls", {"stop_requested": True}),
        ("handle", {"is_cancel_requested": True}),
        ("driver", {"lost": lambda: "the servo driver is gone"}),
        ("liveness", {"lost": lambda: "tf of the robot has been silent"}),
        ("owner", {"is_lost": lambda: True}),
    ],
)
def test_no_step_begins_after_an_interrupt(server, run, part, changed):
    vars(getattr(server, part)).update(changed)
    server.driver.end()
    while not run.finished.done():
        tick(server)
    assert len(server.driver.states) == 1
    outcome = run.finished.result()
    assert outcome.state is not EngineState.SUCCEEDED
    server.driver.on_end()  # a late end of the motion changes nothing
    assert run.finished.result() is outcome


def test_feedback_is_published_at_each_step_and_periodically(server, run):
    (period, _) = server.node.timers[0]
    assert period in (TICK, SIMULATED_TICK)
    server.published.clear()
    for _ in range(round(1.0 / period)):
        tick(server)
    assert len(server.published) == pytest.approx(1.0 / FEEDBACK_PERIOD, abs=1)
    server.published.clear()
    server.driver.end()
    assert server.published[-1].step == 1
    assert server.polls


def test_arm_holds_while_the_world_does_not_see_it_and_gives_up_when_that_lasts(
    server, run, monkeypatch
):
    now = time.monotonic()
    clock = SimpleNamespace(nanoseconds=0)
    server.node.get_clock = lambda: SimpleNamespace(now=lambda: clock)
    run._blind = BlindWorldDetector(
        server.world, lambda: 1e-9 * clock.nanoseconds, lambda: now + 1e-9 * clock.nanoseconds
    )
    scalings = []
    server.driver.scale_speed = scalings.append

    def ticks(seconds, sees):
        for _ in range(round(10 * seconds)):
            clock.nanoseconds += 100_000_000
            server.world.received = now + 1e-9 * clock.nanoseconds
            server.world.advanced = server.world.received if sees else server.world.advanced
            if server.node.timers:
                tick(server)

    ticks(3, sees=True)
    assert not scalings
    ticks(3, sees=False)
    assert scalings == [0.0]
    server.driver.speed_scaling, server.driver.still = 0.0, True
    tick(server)
    assert server.published[-1].state is EngineState.PAUSED
    assert server.published[-1].message == "nut_world does not see the arm"
    ticks(0.1, sees=True)
    assert scalings == [0.0, 1.0] and server.published[-1].state is EngineState.RUNNING
    server.driver.speed_scaling = 1.0
    ticks(9, sees=False)
    outcome = run.finished.result()
    assert outcome.state is EngineState.LOST
    assert "nut_world has not seen the arm for" in outcome.message


def test_failed_callback_ends_the_run_and_the_arm_holds(server, run):
    assert server.driver.states == [MoveState.RUNNING]
    run.fail("an internal error")
    assert server.driver.states == [MoveState.CANCELED] and not run.finished.done()
    while server.node.timers:
        tick(server)
    outcome = run.finished.result()
    assert outcome.state is EngineState.LOST and "an internal error" in outcome.message
    assert server.driver.states == [MoveState.CANCELED]


def test_callback_that_fails_again_ends_the_run_at_once(server, run):
    for _ in range(3):
        run.fail("an internal error")
    assert run.finished.result().state is EngineState.FAILED
    assert server.driver.states == [MoveState.CANCELED] and not server.node.timers
