# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Polled subscriptions deliver every message in order when polled, and not before."""

from contextlib import closing

from arm_common.ros.executor import QUIET, PolledSubscriptions
from arm_testing.ros.probe import Probe
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
