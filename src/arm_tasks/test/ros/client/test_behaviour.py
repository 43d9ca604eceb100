# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task in a tree of py_trees succeeds, fails, is interrupted, or waits for another."""

from types import SimpleNamespace

import pytest

pytest.importorskip("py_trees", reason="py_trees is not installed")

from arm_tasks.client import TaskBehaviour
from arm_tasks.ros.client import behaviour as behaviours
from arm_tasks.ros.client.future import ArmError, ArmFuture
from arm_tasks.ros.client.task_goal import Progress
from py_trees.common import Status
from py_trees.composites import Selector, Sequence
from py_trees.decorators import Inverter
from py_trees.trees import BehaviourTree


class FakeArm:
    """An arm whose tasks end when the test says so."""

    def __init__(self, refuses=""):
        self.tasks, self.cancelled, self.refuses, self.closed = [], [], refuses, False
        self.later = SimpleNamespace(run_task=self._run)

    def _run(self, task, scene, on_progress):
        if self.refuses:
            raise ArmError(self.refuses)
        future = ArmFuture(task, None, lambda: False, lambda: self.cancelled.append(task))
        self.tasks.append((task, future))
        on_progress(Progress(0, 2, "1", "a", 0.5, f"doing {task}", paused=False))
        return future

    def succeed(self):
        task, future = self.tasks[-1]
        future.future.set_result(SimpleNamespace(message=f"{task} was done"))

    def fail(self, why):
        self.tasks[-1][1].future.set_exception(ArmError(why))

    def connect(self):
        pass

    def close(self):
        self.closed = True


@pytest.fixture
def arm():
    return FakeArm()


def ticked(tree):
    tree.tick()
    return tree.root.status


def test_sequence_of_tasks_runs_one_after_the_other(arm):
    first, second = (TaskBehaviour(name, f"{name}.yaml", arm=arm) for name in ("one", "two"))
    tree = BehaviourTree(Sequence("both", memory=True, children=[first, second]))
    tree.setup()
    assert [ticked(tree) for _ in range(3)] == [Status.RUNNING] * 3
    assert [task for task, _ in arm.tasks] == ["one.yaml"]
    assert first.feedback_message == "doing one.yaml"
    arm.succeed()
    assert ticked(tree) is Status.RUNNING and first.status is Status.SUCCESS
    assert [task for task, _ in arm.tasks] == ["one.yaml", "two.yaml"]
    arm.succeed()
    assert ticked(tree) is Status.SUCCESS
    assert second.feedback_message == "two.yaml was done"
    assert ticked(tree) is Status.RUNNING and len(arm.tasks) == 3  # it can be run again


@pytest.mark.parametrize("at_once", [True, False])
def test_failed_task_fails_with_its_reason_and_another_is_tried(at_once):
    arm, why = FakeArm("no such file" if at_once else ""), "no such file"
    first = TaskBehaviour("one", "one.yaml", arm=arm)
    root = Selector("either", memory=True, children=[first, Inverter("not", first_of(arm))])
    tree = BehaviourTree(root)
    tree.setup()
    tree.tick()
    if not at_once:
        arm.fail(why)
        tree.tick()
    assert (first.status, first.feedback_message) == (Status.FAILURE, why)


def first_of(arm):
    return TaskBehaviour("other", "other.yaml", arm=arm)


def test_interrupted_task_is_cancelled_and_the_next_one_waits_for_its_end(arm):
    one, two = (TaskBehaviour(name, f"{name}.yaml", arm=arm) for name in ("one", "two"))
    for behaviour in (one, two):
        behaviour.setup()
    one.tick_once()
    one.stop(Status.INVALID)
    assert arm.cancelled == ["one.yaml"]
    for _ in range(3):
        two.tick_once()
        assert two.status is Status.RUNNING and len(arm.tasks) == 1
    arm.fail("canceled; the arm holds where it is")
    two.tick_once()
    assert [task for task, _ in arm.tasks] == ["one.yaml", "two.yaml"]
    one.stop(Status.INVALID)
    assert arm.cancelled == ["one.yaml"]  # only once


def test_behaviours_of_one_tree_wait_for_each_other_without_a_given_arm(monkeypatch):
    arms = []
    monkeypatch.setattr(behaviours, "Arm", lambda node: arms.append(FakeArm()) or arms[-1])
    one, two, other = (TaskBehaviour(name, f"{name}.yaml") for name in ("one", "two", "other"))
    one.setup()
    two.setup()
    other.setup(node=arms[0])  # any object, as py_trees_ros gives the node of its tree
    one.tick_once()
    one.stop(Status.INVALID)
    two.tick_once()
    other.tick_once()
    assert [len(arm.tasks) for arm in arms] == [1, 0, 1]  # the other one has another tree
    arms[0].fail("canceled")
    two.tick_once()
    assert len(arms[1].tasks) == 1


def test_arm_of_others_stays_open_and_setup_comes_first(arm):
    behaviour = TaskBehaviour("one", "one.yaml", arm=arm)
    behaviour.shutdown()
    assert not arm.closed
    with pytest.raises(RuntimeError, match=r"one: call setup\(\) before the first tick"):
        TaskBehaviour("one", "one.yaml").tick_once()
