# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tasks, their goals and requests leave no object in the nodes."""

import json
import os
from collections import Counter

import pytest
from arm_testing.ros.stack import Stack
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.srv import SolveFK

COUNT = 8  # operations of each kind in a round
ROUNDS = 3  # a cache may fill in the first; a leak grows in all
SETTLING = 10.0  # [s]
PROCESSES = ("task_server", "arm_hardware")
# Each node of each process counts the objects of its process, by type.
COUNTER = """
import gc, json
from collections import Counter
from arm_common.ros import actions
from rclpy.node import Node
from std_srvs.srv import Trigger

def count(_, response):
    gc.collect()
    kinds = Counter(f"{type(o).__module__}.{type(o).__qualname__}" for o in gc.get_objects())
    response.message = json.dumps(kinds)
    return response

def counting(node, name, *args, original=Node.__init__, **more):
    original(node, name, *args, **more)
    node.create_service(Trigger, f"{name}/count", count)

Node.__init__ = counting
actions.RESULT_TIMEOUT = 2.0  # [s]
"""
TASK = "task: swing\nsteps:\n  - move_joints: {{joints: {{waist: {}}}}}\n"


class CountedArm:
    """A running arm whose processes count their objects."""

    def __init__(self, stack: Stack):
        self.stack = stack
        create = stack.node.create_client
        self._counts = {name: create(Trigger, f"{name}/count") for name in PROCESSES}
        self._fk = create(SolveFK, "kinematics/solve_fk")

    def counts(self):
        """Return (process, type) -> number of objects."""
        found = Counter()
        for name, client in self._counts.items():
            response = self.stack.request(client, Trigger.Request())
            found |= {(name, kind): n for kind, n in json.loads(response.message).items()}
        return found

    def grown_since(self, before):
        """Return what has grown by an object for each operation."""
        after = self.counts()
        return {kind: n - before[kind] for kind, n in after.items() if n - before[kind] >= COUNT}

    def work(self, count):
        for k in range(count):
            text = TASK.format(0.02 if k % 2 else -0.02)
            assert self.stack.run(text=text).status == RunTask.Result.SUCCESS
            self.stack.request(self._fk, SolveFK.Request())


@pytest.fixture
def arm(start_arm, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(COUNTER)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    stack = start_arm(hardware="fake")
    stack.wait_ready()
    return CountedArm(stack)


@pytest.mark.thorough
def test_operations_leave_no_objects(arm):
    arm.work(2)
    for _ in range(ROUNDS):
        before, grown = arm.counts(), {}
        arm.work(COUNT)

        def settled(before=before):
            nonlocal grown
            grown = arm.grown_since(before)
            return not grown

        try:
            arm.stack.until(settled, SETTLING)
            return
        except AssertionError:
            continue
    pytest.fail(f"{COUNT} operations left {grown}")
