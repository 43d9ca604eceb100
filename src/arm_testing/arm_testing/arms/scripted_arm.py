# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A scripted arm of one joint, and plans for it, for tests of the engine."""

from types import SimpleNamespace

import numpy as np
from arm_tasks.execution.ports import MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedStep, PlannedTrajectory, StepReport, TaskPlan
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Task

CHAIN = SimpleNamespace(
    joint_names=("a",),
    sliding=(False,),
    velocity=np.array([2.0]),
    acceleration=np.array([10.0]),
)
REQUEST = TaskRequest(
    Task("t", "t.yaml", ()), None, None, CHAIN, ArmConfiguration({"a": 0.0}, 0.0)
)


def report(index, feasible=True):
    text = "fine" if feasible else "out of reach by 12.0 mm"
    return StepReport(
        index, f"{index + 1}", f"step {index}", feasible, 0.0, 0.0, 1.0, "a", 1.0, text
    )


def step(index, kind="motion"):
    start = np.array([float(index) if kind == "motion" else 0.0])
    ends = np.array([[float(index)], [index + 1.0]])
    path = PlannedTrajectory(("a",), np.array([0.0, 1.0]), ends, np.zeros((2, 1)))
    return PlannedStep(
        *(index, f"step {index}", f"doing {index}", kind, start, 0.0, report(index)),
        trajectory=path if kind == "motion" else None,
        width=0.01 if kind == "gripper" else None,
    )


def plan(*kinds):
    steps = tuple(step(i, kind) for i, kind in enumerate(kinds))
    return TaskPlan(REQUEST, np.zeros(1), steps)


class ManualClock:
    now = 100.0

    def __call__(self):
        return self.now


class Port:
    """A scripted arm: each move ends after a second in the next state; "hang" never ends."""

    def __init__(self, clock, script=(), obeys=True):
        self.clock = clock
        self.script = list(script)
        self.obeys = obeys
        self.moves = []
        self.cancels = 0
        self.q, self.jaws = 0.0, 0.0
        self.scalings = [1.0]
        self.goal_tolerances = {"a": 0.1}
        self.idle_scaling = None
        self.handle = None
        self.ready = self.idle = True

    @property
    def speed_scaling(self):
        return self.scalings[-1]

    @property
    def still(self):
        return self.speed_scaling == 0.0 and self.obeys

    def scale_speed(self, factor):
        self.scalings.append(factor)

    def scale_speed_when_idle(self, factor):
        self.idle_scaling = factor
        if self.handle.left <= 0.0:
            self.scale_speed(factor)

    def configuration(self):
        return ArmConfiguration({"a": self.q}, self.jaws)

    def move(self, trajectory):
        self.q = float(trajectory.positions[-1, 0])
        return self._start(("move", self.q))

    def set_width(self, width):
        return self._start(("width", width))

    def _start(self, command):
        self.moves.append(command)
        end = self.script.pop(0) if self.script else MoveState.SUCCEEDED
        self.handle = Handle(self, end, self.clock())
        return self.handle


class Handle:
    def __init__(self, port, end, began):
        self.port, self.end, self.canceled = port, end, False
        self.left, self.polled = 1.0, began

    def poll(self):
        now = self.port.clock()
        factor = self.port.speed_scaling if self.port.obeys else 1.0
        self.left, self.polled = self.left - (now - self.polled) * factor, now
        if self.canceled and self.port.obeys:
            return MoveStatus(MoveState.CANCELED)
        if self.end is MoveState.REJECTED:
            return MoveStatus(self.end, "joint a is above its limit by 0.1 rad")
        if self.end == "hang" or self.left > 1e-9:
            return MoveStatus(MoveState.RUNNING)
        return MoveStatus(self.end, "" if self.end is MoveState.SUCCEEDED else "bus fault")

    def cancel(self):
        self.port.cancels += 1
        self.canceled = True
