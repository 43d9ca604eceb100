# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""No request ends a node, and none is answered without a sentence."""

import random
import signal

import pytest
from arm_testing.programs.processes import read_output, start_python
from arm_testing.ros.fuzz import Attacker, Messages
from arm_testing.waiting import BOUND

from arm_interfaces.action import RunTask
from arm_interfaces.srv import CheckTask

pytestmark = pytest.mark.system

# by name: its module, and parameters
NODES = {
    "task_server": ("arm_tasks.ros.task_server.node", "poses:={folder}/a.yaml", "paths:={folder}"),
    "nut_world": ("arm_simulation.ros.nut_world_node",),
    "scene_file": ("arm_tasks.ros.scene_publisher",),
    "contact_world": ("arm_simulation.ros.contact_world_node",),
    "kinematics": ("arm_kinematics.ros.node",),
    "robot_state_publisher": (
        "arm_description.ros.state_publisher",
        'robot_description:=<robot name="arm"><link name="base_link"/></robot>',
    ),
    "robot_file_watcher": ("arm_description.ros.robot_file_watcher",),
    "arm_viewer": ("arm_viewer.ros.node", "port:=0"),
    "tool_handle": ("arm_viewer.ros.tool_handle_node",),
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
            made.dry_run, made.start_step = True, self.pick(("", "1", "2.1", "-1", "9" * 99))
        return made


@pytest.fixture
def start(tmp_path, fresh_domain):
    """Return a function that starts a node of a name; return its process and its output."""
    started = []

    def run(name):
        module, *parameters = NODES[name]
        words = [word.format(folder=tmp_path) for each in parameters for word in ("-p", each)]
        program = f"import sys; from {module} import main; sys.exit(main())"
        started.append(start_python("-c", program, "--ros-args", *words))
        return started[0], read_output(started[0])

    yield run
    started[0].kill()


@pytest.mark.thorough
@pytest.mark.parametrize("name", NODES)
@pytest.mark.parametrize("number", [20, 10_000])
def test_node_answers_every_request_with_a_sentence(name, number, start):
    node, output = start(name)
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
    try:
        attacker.attack(number)
    finally:
        attacker.close()
    node.send_signal(signal.SIGINT)
    code, log = node.wait(BOUND), output()
    assert code == 0 and not silent, (silent, log[-3000:])
    assert "Traceback" not in log, log[-3000:]
