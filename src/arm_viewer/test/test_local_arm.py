# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What only the port of an arm in the same process does; what all do is in ros/test_port.py."""

import socket
import subprocess
import sys

import pytest
from arm_viewer.local_arm import local_page
from arm_viewer.page.arm_page import PageSettings

from arm_description import robot_path
from arm_viewer import local_arm

BOUND = 60.0  # [s]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(robot_path("planar2").read_bytes())
    return path


@pytest.fixture
def opened(file):
    """A page of a robot file, and a function that runs it until a condition holds."""
    with local_page(PageSettings(robot=str(file))) as (page, arm):

        def until(condition):
            def check():
                if condition():
                    timer.cancel()
                    arm.end()

            timer = arm.every(0.01, check)
            end = arm.every(BOUND, arm.end)
            arm.run()
            end.cancel()
            assert condition()

        until(lambda: page.store.robot is not None)
        yield page, until


def test_file_that_another_program_saves_is_shown(opened, file):
    page, until = opened
    first = page.store.robot
    until(lambda: page.port._is_shown)
    file.write_text(file.read_text().replace("l1: 0.30", "l1: 0.45"))
    until(lambda: page.store.robot is not first)
    assert page.store.robot.reach == pytest.approx(first.reach + 0.15)
    assert page.postures.model.constants["l1"] == 0.45


def test_invalid_file_is_reported_and_the_robot_stays(opened, file):
    page, until = opened
    until(lambda: page.port._is_shown)
    first = page.store.robot
    file.write_text("joints: nothing")
    until(lambda: page.store.text("file"))
    assert page.store.robot is first


def test_program_ends_in_order_and_refuses_in_one_sentence(capsys):
    code = "import sys; from arm_viewer.local_arm import main; sys.exit(main('planar2', port=0))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        line = run.stdout.readline()
        port = int(line.partition("127.0.0.1:")[2].partition("/")[0])
        socket.create_connection(("127.0.0.1", port), BOUND).close()
        run.terminate()
        assert run.wait(BOUND) == 0
    assert local_arm.main("no_such_robot") == 1
    assert "no_such_robot" in capsys.readouterr().err
