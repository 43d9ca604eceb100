# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How a node's process ends, seen from outside over DDS."""

import signal
import subprocess
import sys
import time

import pytest
import rclpy
from rclpy.context import Context

PATIENCE = 60.0  # [s], a bound, not a wait
DISCOVERY_LEASE = 12.0  # [s], less than the 20 s after which DDS drops a silent participant
NODE = """
import sys, time
import rclpy
from arm_common.ros.node_runner import run_node
from rclpy.node import Node

def make():
    global node
    node = Node("short_lived")
    print("made", flush=True)
    {then}
    return [node]

def begin(end):
    print("begun", flush=True)
    return {begins}

def close():
    done = [] if rclpy.ok() else [True]
    timer = rclpy.ok() and node.create_timer(0.01, lambda: done.append(True))
    while not done:
        time.sleep(0.01)
    print("closed", flush=True)

sys.exit(run_node(make, (KeyError,), begin=begin, close=close))
"""


@pytest.fixture
def onlooker():
    context = Context()
    context.init()
    node = rclpy.create_node("onlooker", context=context)
    yield node
    node.destroy_node()
    context.shutdown()


@pytest.fixture
def start():
    """Start a process and wait for the lines that it prints first."""
    started = []

    def start(*lines, then="pass", begins=True):
        process = subprocess.Popen(
            [sys.executable, "-c", NODE.format(then=then, begins=begins)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        for line in lines:
            assert process.stdout.readline() == f"{line}\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_node_that_ends_is_gone_for_others_at_once(start, onlooker, number):
    process = start("made", "begun")
    wait(lambda: "short_lived" in onlooker.get_node_names(), "the node")
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    wait(lambda: "short_lived" not in onlooker.get_node_names(), "its end", DISCOVERY_LEASE)
    assert process.stderr.read() == ""


def test_a_signal_while_the_node_is_made_ends_it_at_once(start):
    process = start("made", then="import threading; threading.Event().wait()")
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == ""


def test_callbacks_run_until_it_is_closed(start):
    process = start("made", "begun")
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    assert process.stdout.read() == "closed\n"


@pytest.mark.parametrize(
    ("then", "code", "error"),
    [
        ("node.create_timer(0.01, lambda: 1 / 0)", 1, "ZeroDivisionError: division by zero\n"),
        ("node.create_timer(0.01, lambda: {}['key'])", 1, "'key'\n"),
        ("raise KeyError('no such robot')", 1, "'no such robot'\n"),
    ],
)
def test_a_failure_ends_it_with_code_1(start, then, code, error):
    process = start("made", then=then)
    assert process.wait(PATIENCE) == code
    written = process.stderr.read()
    assert written.endswith(error)
    assert ("Traceback" in written) == ("Zero" in error)


def test_if_it_cannot_begin_it_ends_with_code_1(start):
    process = start("made", "begun", "closed", begins=False)
    assert process.wait(PATIENCE) == 1
    assert process.stderr.read() == ""


def test_a_shutdown_of_the_context_ends_it(start):
    process = start("made", then="node.create_timer(0.01, lambda: rclpy.shutdown())")
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == ""
