# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A file is noticed however it is saved; then the robot follows, or the error is said."""

import subprocess
import sys
import time

import pytest
import rclpy
from arm_common.ros.qos import LATCHED
from arm_description.ros.robot_file_watcher import PATIENCE, FileWatch
from arm_description.ros.state_publisher import (
    StatePublisher,
)
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from std_msgs.msg import String

from arm_description import parse_robot

MAIN = "import sys; from arm_description.ros.robot_file_watcher import main; sys.exit(main())"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text("one")
    return path


def looks(watch, count=PATIENCE + 1):
    """What so many looks return, without the Nones."""
    return [content for content in (watch.poll() for _ in range(count)) if content is not None]


def by_rename(path, text):
    beside = path.with_name("#new#")
    beside.write_text(text)
    beside.replace(path)


def in_place(path, text):
    path.write_text(text)


@pytest.mark.parametrize("save", [by_rename, in_place])
def test_each_change_is_told_once(file, save):
    watch = FileWatch(file)
    assert looks(watch) == [b"one"]
    assert looks(watch) == []
    save(file, "two")
    assert looks(watch) == [b"two"]
    save(file, "two")
    assert looks(watch) == []
    save(file, "one")
    assert looks(watch) == [b"one"]


def test_a_file_that_is_still_being_written_is_waited_for(file):
    watch = FileWatch(file)
    looks(watch)
    for text in ("", "a", "a b", "a b c"):
        file.write_text(text)
        assert looks(watch, 1) == []
    assert looks(watch, 1) == [b"a b c"]


def test_of_several_saves_in_a_row_the_last_counts(file):
    watch = FileWatch(file)
    looks(watch)
    for text in ("two", "three", "one"):
        by_rename(file, text)
        watch.poll()
    assert looks(watch) == []  # as it was at first


def test_a_file_may_be_missing_for_a_moment(file):
    watch = FileWatch(file)
    looks(watch)
    file.unlink()
    assert looks(watch, PATIENCE - 1) == []
    file.write_text("one")
    assert looks(watch) == []


def test_a_file_that_stays_away_is_said_once_and_its_return_is_told(file):
    watch = FileWatch(file)
    looks(watch)
    file.unlink()
    assert looks(watch, PATIENCE - 1) == []
    with pytest.raises(FileNotFoundError):
        watch.poll()
    assert looks(watch) == []
    file.write_text("one")
    assert looks(watch) == [b"one"]


class Desk:
    """A state publisher in this process, the watcher as its own, and ears for both."""

    def __init__(self, path, urdf):
        self.context = Context()
        self.context.init()
        start = [Parameter("robot_description", value=urdf)]
        self.publisher = StatePublisher(context=self.context, parameter_overrides=start)
        self.node = rclpy.create_node("ears", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.publisher)
        self.executor.add_node(self.node)
        self.robots, self.said = [], []
        for topic, into in (("robot_description", self.robots), ("robot_file/status", self.said)):
            self.node.create_subscription(
                String, topic, lambda message, into=into: into.append(message.data), LATCHED
            )
        self.process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "--ros-args", "-p", f"robot:={path}"],
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait(self, condition, what):
        end = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < end, f"waited 60 s for {what}; it said {self.said}"
            self.executor.spin_once(timeout_sec=0.05)

    def end(self):
        self.process.terminate()
        said = self.process.communicate(timeout=30)[1]
        self.executor.shutdown()
        self.publisher.destroy_node()
        self.node.destroy_node()
        self.context.try_shutdown()
        return said


@pytest.fixture
def desk(tmp_path, small):
    path = tmp_path / "my.yaml"
    path.write_text(small)
    desk = Desk(path, parse_robot(small).to_urdf())
    desk.path = path
    yield desk
    if desk.process.poll() is None:
        desk.end()


def test_the_robot_follows_its_file_and_the_last_good_one_stays(desk, small):
    desk.wait(lambda: desk.said == [""], "the first reading")
    longer = small.replace("l1: 100", "l1: 150")
    by_rename(desk.path, longer)
    desk.wait(lambda: desk.robots[-1:] == [parse_robot(longer).to_urdf()], "the longer robot")
    desk.wait(lambda: desk.said == ["", ""], "its status")
    by_rename(desk.path, longer.replace("alpha: 90", "alpha: 90 degrees"))
    desk.wait(lambda: len(desk.said) == 3, "the error")
    assert desk.said[-1].startswith(f"{desk.path}:13: joints[0].alpha: '90 degrees' is not a")
    in_place(desk.path, longer)
    desk.wait(lambda: desk.said[3:] == [""], "the end of the error")
    desk.path.unlink()
    desk.wait(lambda: len(desk.said) == 5, "the missing file")
    assert (
        desk.said[-1] == f"{desk.path}: cannot be read (No such file or directory); save it again"
    )
    in_place(desk.path, small)
    desk.wait(lambda: desk.said[5:] == [""], "its return")
    assert desk.robots[-1] == parse_robot(small).to_urdf()
    assert len(desk.robots) == 3  # what was wrong never replaced what was right
    log = desk.end()
    assert "(the last good robot stays)" in log and "read again, all is well" in log
    assert desk.process.returncode == 0 and "Traceback" not in log


def test_what_is_no_robot_ends_it_with_one_sentence():
    command = [sys.executable, "-c", MAIN, "--ros-args", "-p", "robot:=nobody"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("no robot is called 'nobody'") and done.stderr.count("\n") == 1
