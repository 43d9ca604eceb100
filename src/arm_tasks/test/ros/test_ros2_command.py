# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm ros2` lists, shows, calls and sets what other nodes offer, and refuses the rest."""

import os
import sys
from contextlib import contextmanager

import pytest
import rclpy
from arm_common.ros.node_runner import ExecutorThread
from arm_tasks.ros import ros2_command as ros2
from arm_testing.waiting import wait_for
from rclpy.action import ActionServer
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from std_msgs.msg import Float64
from std_srvs.srv import SetBool

from arm_interfaces.action import RunTask


@pytest.fixture(scope="module")
def heard():
    """The messages that the other node receives."""
    return []


@pytest.fixture(scope="module", autouse=True)
def other(heard):
    """Run a node with a topic, a service, an action and a parameter, and a lifecycle node."""
    context = Context()
    rclpy.init(context=context)
    node = Node("other", context=context)
    topic = node.create_publisher(Float64, "other/number", 10)
    node.create_timer(0.02, lambda: topic.publish(Float64(data=2.5)))
    node.declare_parameter("gain", 1.0)

    def answer(request, response):
        response.success, response.message = request.data, "heard"
        return response

    node.create_service(SetBool, "other/switch", answer)

    def execute(handle):
        handle.succeed()
        return RunTask.Result(message=f"did {handle.request.task}")

    ActionServer(node, RunTask, "other/work", execute)
    node.create_subscription(Float64, "other/input", heard.append, 10)
    managed = LifecycleNode("managed", context=context)
    nodes = [node, managed]
    thread = ExecutorThread(SingleThreadedExecutor(context=context), nodes, lambda: None)
    yield node
    thread.stop()
    for each in nodes:
        each.destroy_node()
    rclpy.shutdown(context=context)


@pytest.fixture(autouse=True)
def session(monkeypatch):
    """Keep the handlers of signals, and the environment, of the tests."""

    @contextmanager
    def make():
        rclpy.init()
        try:
            yield
        finally:
            rclpy.try_shutdown()

    monkeypatch.setenv("ARM_VENV", "here")
    monkeypatch.setattr(ros2, "session", make)
    monkeypatch.setattr(ros2, "_DISCOVERY", 5.0)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("topic list -t", "/other/number [std_msgs/msg/Float64]"),
        ("topic echo other/number --once", "data: 2.5\n---"),
        ("service list", "/other/switch\n"),
        ("action list -t", "/other/work [arm_interfaces/action/RunTask]"),
        ("node list", "/other\n"),
        ("lifecycle get managed", "unconfigured [1]\n"),
        ("lifecycle set managed configure", "successful"),
        ("lifecycle get /managed", "inactive [2]\n"),
        ("param list other", "gain\n"),
        ("param set other gain 2.0", "successful"),
        ("param get other gain", "2.0\n"),
    ],
)
def test_verbs_answer_as_those_of_ros2cli(capsys, words, answer):
    def answered():  # on a busy computer a list may be printed before all nodes are discovered
        assert ros2.main(words.split()) == 0
        return answer in capsys.readouterr().out

    wait_for(answered, answer)


def test_a_reader_that_has_enough_ends_the_echo(monkeypatch):
    end, start = os.pipe()
    os.close(end)  # as head does
    with os.fdopen(start, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert ros2.main(["topic", "echo", "other/number"]) == 0


def test_messages_are_published_to_those_who_listen(monkeypatch, capsys, heard):
    words = ["topic", "pub", "--once", "other/input", "std_msgs/msg/Float64", "{data: 1.5}"]
    assert ros2.main(words) == 0
    wait_for(lambda: heard == [Float64(data=1.5)], "message")
    monkeypatch.setattr(ros2, "_DISCOVERY", 0.3)
    assert ros2.main([*words[:3], "nobody", *words[4:]]) == 1
    assert "nobody subscribes to nobody" in capsys.readouterr().err


def test_executables_of_packages_are_run(monkeypatch):
    started = []

    def execv(program, words):
        started.extend(words)
        raise SystemExit(0)

    monkeypatch.setattr(os, "execv", execv)
    with pytest.raises(SystemExit):
        ros2.main(["run", "arm_hardware", "hardware", "--ros-args", "-p", "speed:=2.0"])
    assert started[0].endswith("/lib/arm_hardware/hardware")
    assert started[1:] == ["--ros-args", "-p", "speed:=2.0"]


def test_services_are_called_and_goals_are_sent(capsys):
    assert (
        ros2.main(["service", "call", "other/switch", "std_srvs/srv/SetBool", "{data: true}"]) == 0
    )
    assert "success: true" in capsys.readouterr().out
    work = ["action", "send_goal", "other/work", "arm_interfaces/action/RunTask", "{task: this}"]
    assert ros2.main(work) == 0
    assert "message: did this" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["lifecycle", "set", "managed", "activat"], "managed did not activat"),
        (["lifecycle", "get", "other"], "there is no service other/get_state"),
        (["run", "arm_hardware"], "takes PACKAGE EXECUTABLE"),
        (["run", "no_such", "thing"], "there is no package 'no_such'"),
        (["run", "arm_hardware", "../thing"], "has no executable '../thing'"),
        (["topic", "echo", "nothing"], "nobody publishes /nothing"),
        (["service", "call", "other/switch", "std_srvs/srv/None"], "is not installed"),
        (["service", "call", "no", "std_srvs/srv/SetBool", "{dat: 1}"], "has no field 'dat'"),
        (["service", "call", "no", "std_srvs/srv/SetBool", "{data"], "is no YAML of fields"),
        (["service", "call", "no", "std_srvs/srv/SetBool", "{1: 2}"], "is no YAML of fields"),
        (["service", "call", "no", "a/b/c/d"], "type 'a/b/c/d' is not a type such as"),
        (["service", "call", "no", "std_msgs/msg/Bool"], "is not a type such as std_srvs/srv"),
        (["service", "call", "a b", "std_srvs/srv/SetBool"], "'a b' is not the name of a service"),
        (["action", "send_goal", "a b", "arm_interfaces/action/RunTask"], "is not the name of a"),
        (["topic", "echo", "a b"], "'a b' is not the name of a topic: "),
        (["topic", "hz", "1a"], "'1a' is not the name of a topic: "),
        (["param", "get", "a b", "gain"], "is not the name of a"),
        (["param", "get", "other", "loss"], "has no parameter loss"),
        (["param", "set", "other", "gain", "[1"], "'[1' is no value of a parameter"),
        (["param", "set", "other", "gain", "{a: 1}"], "is no value of a parameter"),
        (["param", "set", "other", "gain", "[1, a]"], "is no value of a parameter"),
    ],
)
def test_refusals_are_one_sentence(monkeypatch, capsys, words, why):
    monkeypatch.setattr(ros2, "_DISCOVERY", 0.3 if words[0] == "topic" else 5.0)
    assert ros2.main(words) == 1
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1
