# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Polled subscriptions deliver every message in order when polled, and not before."""

from contextlib import closing

from arm_common.ros.executor import QUIET, PolledSubscriptions
from arm_testing.ros.probe import Probe
from arm_testing.waiting import BOUND
from rclpy.duration import Duration
from std_msgs.msg import String

WORDS = [str(i) for i in range(8)]


def test_messages_wait_until_they_are_polled():
    group, polled, received = PolledSubscriptions(), [], []
    quiet = {"callback_group": group, "event_callbacks": QUIET}
    with closing(Probe()) as probe:
        subscribe = probe.node.create_subscription
        subscribe(String, "words", lambda m: polled.append(m.data), 20, **quiet)
        subscribe(String, "words", lambda m: received.append(m.data), 20)
        publisher = probe.node.create_publisher(String, "words", 20)
        group.take()
        probe.until(lambda: publisher.get_subscription_count() == 2)
        for word in WORDS:
            publisher.publish(String(data=word))
        probe.until(lambda: received == WORDS)
        assert polled == []
        probe.until(lambda: group.take() or polled == WORDS)
        group.take()
        assert polled == WORDS


def test_poll_ends_although_messages_arrive_faster_than_they_are_handled():
    group, received = PolledSubscriptions(), []
    with closing(Probe()) as probe:
        publisher = probe.node.create_publisher(String, "words", 20)

        def handle(message):
            received.append(message.data)
            assert len(received) < 200
            publisher.publish(message)
            publisher.wait_for_all_acked(Duration(seconds=BOUND))

        group.subscribe(probe.node, String, "words", handle, 20)
        probe.until(publisher.get_subscription_count)
        publisher.publish(String(data="again"))
        probe.until(lambda: group.take() or received)
