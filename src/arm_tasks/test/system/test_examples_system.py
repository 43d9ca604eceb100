# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The examples of the client library, run as a person runs them, beside a running arm."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from geometry_msgs.msg import Point

pytestmark = pytest.mark.system
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LINES = 22  # of code and blank lines below the docstring
BOUND = 240.0


def start(arm, name):
    return subprocess.Popen(
        [sys.executable, "-u", str(EXAMPLES / name)],
        env={**os.environ, "ROS_DOMAIN_ID": str(arm.node.context.get_domain_id())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(arm, name):
    program = start(arm, name)
    text, _ = program.communicate(timeout=BOUND)
    assert program.returncode == 0, text
    return text


def test_every_example_is_run_here_and_short():
    names = {file.name for file in EXAMPLES.glob("*.py")}
    assert names == {"move_and_grip.py", "run_a_task.py", "in_a_callback.py", "at_once.py"}
    for name in names:
        code = (EXAMPLES / name).read_text().split('"""\n', 1)[1]
        assert len(code.splitlines()) <= LINES, name


def test_the_examples(start_arm):
    arm = start_arm(hardware="fake")
    arm.wait_ready()
    text = run(arm, "move_and_grip.py")
    numbers = [float(word) for word in text.strip(" []\n").split()]
    assert numbers[0] > 0.1 and numbers[1] < -0.05
    text = run(arm, "at_once.py")
    assert "all steps of move_joints were done" in text
    arm.wait_for(lambda: arm.joints["waist"] == pytest.approx(-0.4, abs=0.02), "the waist")
    program = start(arm, "in_a_callback.py")
    try:
        publisher = arm.node.create_publisher(Point, "go_to", 1)
        arm.wait_for(publisher.get_subscription_count, "the example")
        publisher.publish(Point(x=5.0))
        assert "out of reach" in program.stdout.readline()
        publisher.publish(Point(x=0.16, y=-0.05, z=0.18))
        assert program.stdout.readline() == "all steps of move_joints were done\n"
    finally:
        program.send_signal(signal.SIGKILL)
        program.communicate()
    text = run(arm, "run_a_task.py")
    assert "can be done" in text and text.rstrip().endswith("all steps of nut_transfer were done")
