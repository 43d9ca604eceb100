# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every way of saving a file is detected; its robot is published or its error reported."""

import subprocess
import sys
from functools import partial

import pytest
from arm_common.files.watching import FileWatch
from arm_common.ros.qos import LATCHED
from arm_description.robot_file.sections.attachments import attached_files
from arm_description.ros.state_publisher import StatePublisher
from arm_testing.files.saving import by_rename, in_place, polls
from arm_testing.ros.probe import Probe
from rclpy.parameter import Parameter
from std_msgs.msg import String

from arm_description import parse_robot

MAIN = "import sys; from arm_description.ros.robot_file_watcher import main; sys.exit(main())"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text("one")
    return path


def test_file_of_the_tool_is_followed_too(file):
    tool = file.parent / "tools" / "pen.yaml"
    tool.parent.mkdir()
    tool.write_text("short")
    text = "tool: {name: tools/pen.yaml, xyz: [0, 0, 0]}"
    file.write_text(text)
    watch = FileWatch(file, partial(attached_files, folder=file.parent))
    assert polls(watch) == [text.encode()]
    by_rename(tool, "long")
    assert polls(watch) == [text.encode()]
    assert polls(watch) == []
    tool.unlink()
    assert polls(watch) == [text.encode()]  # whose reader says that it is missing
    for wrong in ("tool: [", "tool: pen", "\0"):
        file.write_text(wrong)
        assert polls(watch) == [wrong.encode()]


class Session(Probe):
    """A state publisher in this process, a watcher process, and the messages of both."""

    def __init__(self, path, urdf):
        super().__init__(bound=60.0)
        self.path = path
        start = [Parameter("robot_description", value=urdf)]
        self.publisher = StatePublisher(context=self.context, parameter_overrides=start)
        self.executor.add_node(self.publisher)
        self.robots, self.problems = [], []
        for topic, into in (
            ("robot_description", self.robots),
            ("robot_file/status", self.problems),
        ):
            self.node.create_subscription(
                String, topic, lambda message, into=into: into.append(message.data), LATCHED
            )
        command = [sys.executable, "-c", MAIN, "--ros-args", "-p", f"robot:={path}"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def end(self):
        self.process.terminate()
        log = self.process.communicate(timeout=30)[1]
        self.publisher.destroy_node()
        self.close()
        return log


def test_invalid_file_keeps_the_last_valid_robot(file, small):
    file.write_text(small)
    session = Session(file, parse_robot(small).to_urdf())
    robots, problems = session.robots, session.problems
    session.until(lambda: problems == [""])
    longer = small.replace("l1: 100", "l1: 150")
    by_rename(file, longer)
    session.until(lambda: robots[-1:] == [parse_robot(longer).to_urdf()])
    session.until(lambda: problems == ["", ""])
    by_rename(file, longer.replace("alpha: 90", "alpha: 90 degrees"))
    session.until(lambda: len(problems) == 3)
    assert problems[-1].startswith(f"{file}:13: joints[0].alpha: '90 degrees' is not a")
    in_place(file, longer)
    session.until(lambda: problems[3:] == [""])
    file.unlink()
    session.until(lambda: len(problems) == 5)
    assert problems[-1] == f"{file}: cannot be read (No such file or directory); save it again"
    in_place(file, small)
    session.until(lambda: problems[5:] == [""])
    assert robots[-1] == parse_robot(small).to_urdf()
    assert len(robots) == 3  # an invalid file never replaced the robot
    log = session.end()
    assert "(keeping the last valid robot)" in log and "reloaded without errors" in log
    assert session.process.returncode == 0 and "Traceback" not in log


def test_unknown_robot_exits_with_a_message():
    command = [sys.executable, "-c", MAIN, "--ros-args", "-p", "robot:=nobody"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("there is no robot named 'nobody'")
    assert done.stderr.count("\n") == 1
