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

PATIENCE = 60.0  # s, a bound, not a wait
FORGOTTEN = 12.0  # s, less than the 20 s after which DDS gives up who says nothing
NODE = """
import sys
from arm_common.ros.node_runner import run_node
from rclpy.node import Node
def make():
    node = Node("short_lived")
    print("made", flush=True)
    {then}
    return [node]
sys.exit(run_node(make, ()))
"""


@pytest.fixture
def onlooker():
    context = Context()
    context.init()
    node = rclpy.create_node("onlooker", context=context)
    yield node
    node.destroy_node()
    context.shutdown()


def started(then="pass"):
    process = subprocess.Popen(
        [sys.executable, "-c", NODE.format(then=then)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "made\n"
    return process


def wait(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.02)  # get_node_names only looks up what another thread has heard


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_node_that_ends_is_gone_for_others_at_once(onlooker, number):
    process = started()
    wait(lambda: "short_lived" in onlooker.get_node_names(), "the node")
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    wait(lambda: "short_lived" not in onlooker.get_node_names(), "its end", FORGOTTEN)
    assert process.stderr.read() == ""


def test_a_signal_while_the_node_is_made_ends_it_at_once():
    process = started(then="import threading; threading.Event().wait()")
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == ""
