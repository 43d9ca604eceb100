# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The examples of the client library, run as a person runs them, beside a running arm."""

import subprocess

import pytest
from arm_testing.programs.processes import output_of, start_python
from arm_testing.repository import repository
from geometry_msgs.msg import Point

from arm_interfaces.msg import NutState

EXAMPLES = repository() / "src" / "arm_tasks" / "examples"
LINES = 22  # of code and blank lines below the docstring
BOUND = 240.0


def start(name) -> subprocess.Popen[str]:
    return start_python("-u", str(EXAMPLES / name))


def run(name):
    code, text = output_of(start(name), BOUND)
    assert code == 0, text
    return text


def test_every_example_is_tested_and_short():
    names = {file.name for file in EXAMPLES.glob("*.py")}
    assert names == {"move_and_grip.py", "run_a_task.py", "in_a_callback.py", "at_once.py"}
    for name in names:
        code = (EXAMPLES / name).read_text().split('"""\n', 1)[1]
        assert len(code.splitlines()) <= LINES, name


def test_move_and_grip(arm):
    numbers = [float(word) for word in run("move_and_grip.py").strip(" []\n").split()]
    assert numbers[0] > 0.1 and numbers[1] < -0.05


def test_at_once(arm):
    assert "all steps of move_joints were done" in run("at_once.py")
    arm.wait_for(lambda: arm.joints["waist"] == pytest.approx(-0.4, abs=0.02), "the waist")


def test_in_a_callback(arm):
    program = start("in_a_callback.py")
    publisher = arm.node.create_publisher(Point, "go_to", 1)
    try:
        arm.wait_for(publisher.get_subscription_count, "the example")
        publisher.publish(Point(x=5.0))
        assert "out of reach" in program.stdout.readline()
        publisher.publish(Point(x=0.16, y=-0.05, z=0.18))
        assert program.stdout.readline() == "all steps of move_joints were done\n"
    finally:
        program.kill()
        program.communicate()
        arm.node.destroy_publisher(publisher)


def test_run_a_task_moves_the_nut_to_the_lower_bolt(arm):
    text = run("run_a_task.py")
    assert "can be done" in text and text.rstrip().endswith("all steps of nut_transfer were done")
    arm.wait_for(lambda: arm.nut.bolt == "lower_bolt" and not arm.nut.grasped, "the nut let go")
    assert arm.nut.state == NutState.ON_BOLT
    assert arm.nut.turns_engaged >= 3.0
