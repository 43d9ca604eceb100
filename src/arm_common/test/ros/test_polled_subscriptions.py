# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Polled subscriptions receive every message, in order, when they are polled and not before."""

import pytest
import rclpy
from arm_common.ros.executor import QUIET, PolledSubscriptions
from arm_testing.waiting import wait_for
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

WORDS = [str(i) for i in range(8)]


@pytest.fixture
def node():
    context = Context()
    rclpy.init(context=context)
    node = Node("asked", context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_messages_wait_until_they_are_taken(node):
    group, asked, woken = PolledSubscriptions(), [], []
    quiet = {"callback_group": group, "event_callbacks": QUIET}
    node.create_subscription(String, "words", lambda m: asked.append(m.data), 20, **quiet)
    node.create_subscription(String, "words", lambda m: woken.append(m.data), 20)
    publisher = node.create_publisher(String, "words", 20)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)

    def until(condition):
        wait_for(lambda: executor.spin_once(timeout_sec=0.02) or condition())

    group.take()
    until(lambda: publisher.get_subscription_count() == 2)
    for word in WORDS:
        publisher.publish(String(data=word))
    until(lambda: woken == WORDS)
    assert asked == []
    until(lambda: group.take() or asked == WORDS)
    group.take()
    assert asked == WORDS
    executor.shutdown()
