# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""No request ends a node, and none is answered without a sentence."""

import random

import pytest
from arm_testing.processes import end, start_python
from arm_testing.ros.fuzz import Attacker, Messages

from arm_interfaces.action import RunTask
from arm_interfaces.srv import CheckTask

pytestmark = pytest.mark.system

NODES = {
    "task_server": "arm_tasks.ros.task_server.node",
    "nut_world": "arm_tasks.ros.nut_world_node",
    "kinematics": "arm_kinematics.ros.node",
}
STEPS = (
    "move_linear: {xyz: [250, 0, 120], orientation: any}",
    "retreat: {distance: 300}",
    "turn: {angle_deg: 1e9}",
    "move_pose: {xyz: [0.2, 0, 0.1], axis: [1e300, 1e300, 0]}",
    "move_joints: {joints: {waist: 0.1}, speed: 1e-300}",
    "wait: 1e300",
    "repeat: {times: 2000, steps: [{repeat: {times: 2000, steps: [open]}}]}",
    "call: /etc/passwd",
    "play: /etc/passwd",
    "[",
)
WORDS = ("nut_transfer", "draw_line", "/etc/passwd", "../tasks/draw_line.yaml", "waist", "\0")


class TaskMessages(Messages):
    """Random messages; most tasks are texts with an absurd step."""

    def __init__(self, seed):
        makers = dict.fromkeys((CheckTask.Request, RunTask.Goal), self.task)
        super().__init__(seed, WORDS, makers)

    def task(self, kind):
        made = kind(task=self.pick(self.words), scene=self.pick(("", *self.words)))
        if self.random.random() < 0.9:
            made.text = f"task: t\nsteps:\n  - {self.pick(STEPS)}\n"
        if kind is RunTask.Goal:
            made.dry_run, made.start_step = True, self.pick((0, 1, 2**32 - 1))
        return made


@pytest.mark.thorough
@pytest.mark.parametrize("name", NODES)
@pytest.mark.parametrize("number", [20, 10_000])
def test_node_answers_every_request_with_a_sentence(name, number, tmp_path, fresh_domain):
    module = f"import sys; from {NODES[name]} import main; sys.exit(main())"
    arguments = ("--ros-args", "-p", f"poses:={tmp_path}/poses.yaml", "-p", f"paths:={tmp_path}")
    node = start_python("-c", module, *(arguments if name == "task_server" else ()))
    silent = []

    def answer(service, response):
        failed = not getattr(response, "success", getattr(response, "feasible", True))
        message = getattr(response, "message", "-")
        if failed and (not message or "Traceback" in message or "root:" in message):
            silent.append((service, message))

    attacker = Attacker(
        name,
        TaskMessages(random.Random(number).randrange(1000)),
        check=lambda what: pytest.fail(what) if node.poll() is not None else None,
        answer=answer,
    )
    attacker.attack(number)
    attacker.close()
    code, output = end(node)
    assert code == 0 and not silent, (silent, output[-3000:])
    assert "Traceback" not in output, output[-3000:]
