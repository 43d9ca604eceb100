# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task that is paused or cancelled at any moment, on the servo driver, can be resumed.

Engine and driver run in lock-step, without ROS. Only the interrupted step and the next one are
run, from the end of the step before.
"""

import random
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest
from arm_hardware.motion.options import DriverOptions
from arm_simulation.arms.driver_arm import DriverArm
from arm_simulation.arms.ideal_arm import WillingNodes
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.planning.planner import plan_task
from arm_tasks.task.condition import Observation
from arm_tasks.task.request import ArmConfiguration, load_request

PACES = (1.0, 4.0, 20.0)  # simulated seconds per second
ENGINE_TICK = 0.02  # [s] of wall time
TASKS = (
    "nut_transfer",
    "after_left",
    *(SMALL := ("pick_and_place", "draw_line", "draw_square")),
)
MOST = 400.0  # [s] of simulated time


def fast(steps):
    """Return steps at full speed."""
    nested = ("steps", "then", "otherwise")
    return tuple(
        replace(step, speed=1.0, **{k: fast(getattr(step, k)) for k in nested if hasattr(step, k)})
        for step in steps
    )


@pytest.fixture(scope="module")
def plan_named(model, chain):
    """Return a function that plans a shipped task at its own or at full speed."""
    plans = {}

    def plan(name, full_speed):
        if (name, full_speed) not in plans:
            start = ArmConfiguration.of_posture(model)
            request = load_request(name, model, chain, start)
            steps = request.task.steps
            task = replace(request.task, steps=fast(steps) if full_speed else steps)
            plans[name, full_speed] = plan_task(replace(request, task=task), collisions=False)
            assert plans[name, full_speed].feasible
        return plans[name, full_speed]

    return plan


class Run:
    """A plan that runs on the driver from one of its steps."""

    def __init__(self, plan, pace, first):
        self.plan, self.feedback = plan, None
        self.arm = DriverArm(plan.request.model, DriverOptions(speed=pace))
        step = plan.steps[first]
        self.arm.arm(ArmConfiguration.of(plan.joint_names, step.start, step.start_width))
        self._per_tick = max(1, round(pace * ENGINE_TICK / self.arm.period))
        self._end = self.arm.time + MOST
        self.begin(first)

    def begin(self, first):
        if not first:  # it is planned from where the arm is, as by the task server
            request = replace(self.plan.request, start=self.arm.configuration())
            self.plan = plan_task(request, collisions=False)
            assert self.plan.feasible, self.plan.message
        self.engine = Engine(
            self.plan,
            self.arm,
            first,
            clock=lambda: self.arm.time,
            on_feedback=lambda feedback: setattr(self, "feedback", feedback),
            observe=lambda *_: Observation(None, self.arm.configuration().width),
            nodes=WillingNodes(),
        )

    def until(self, condition):
        """Run until a condition holds or the run ends."""
        while not (condition() or self.engine.tick().done):
            for _ in range(self._per_tick):
                self.arm.step()
            assert self.arm.time < self._end, "the run does not end"

    def off_path(self, index):
        """Return the largest distance of a joint from the path of a step [rad or m]."""
        path = self.plan.steps[index].trajectory
        if path is None:
            return 0.0
        q = self.arm.configuration().array(self.plan.joint_names)
        times = np.linspace(0.0, path.duration, 300)
        near = int(np.argmin([np.abs(path.at(t) - q).max() for t in times]))
        around = np.linspace(times[max(near - 1, 0)], times[min(near + 1, len(times) - 1)], 300)
        return min(np.abs(path.at(t) - q).max() for t in around)


def interrupt(plan, pace, share, how):
    """Pause or cancel a plan after a share of its duration; assert that it resumes."""
    begins = [0.0, *accumulate(step.duration for step in plan.steps)]
    moment = share * begins[-1]
    index = min(bisect_right(begins, moment) - 1, len(plan.steps) - 1)
    run = Run(plan, pace, index)
    began = run.arm.time
    run.until(lambda: run.arm.time - began >= moment - begins[index])
    if run.engine.state.done:
        return  # it ended earlier than planned
    if how == "pause":
        run.engine.pause()
        run.until(lambda: run.engine.state is EngineState.PAUSED)
        step = run.feedback.step
        assert run.off_path(step) < 1e-4
        if not run.engine.state.done:
            assert run.engine.resume() == ""
    else:
        run.engine.cancel()
        run.until(lambda: False)
        step = run.engine.outcome.resume_step
        if step is None:
            assert run.engine.outcome.steps_done == len(plan.steps)
            return
        assert run.off_path(step) < 1e-4
        run.begin(step)
    run.until(lambda: run.feedback.step >= step + 2)
    outcome = run.engine.outcome
    assert outcome is None or outcome.state is EngineState.SUCCEEDED, outcome.message


@pytest.mark.parametrize(
    ("tasks", "number"),
    [
        pytest.param(SMALL, 27, id="small"),
        pytest.param(TASKS, 1008, id="all", marks=pytest.mark.thorough),
    ],
)
def test_interrupted_task_resumes_at_any_moment(plan_named, tasks, number):
    numbers = random.Random(number)
    for k in range(number):
        name, pace = tasks[k % len(tasks)], PACES[k // len(tasks) % len(PACES)]
        how, full_speed = numbers.choice(("pause", "cancel")), numbers.random() < 0.5
        share = numbers.random()
        try:
            interrupt(plan_named(name, full_speed), pace, share, how)
        except AssertionError as error:
            where = f"{name}, {how} after {share:.4f} at pace {pace:g}, full speed: {full_speed}"
            raise AssertionError(f"{where}: {error}") from error
