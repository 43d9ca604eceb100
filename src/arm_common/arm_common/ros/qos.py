# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service of topics, services and actions, and the clock of timers.

Reliable messages sent while a link is down are kept and sent again: once the link is back, the arm
would execute a command from half a minute ago. A lifespan prevents that. A client's profile also
applies to the responses, and Fast DDS drops those that look too old by the client's clock: the
clocks of two computers must agree to within the lifespan.
"""

from __future__ import annotations

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

# mypy: disable-error-code="no-untyped-call"


LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Latched topic: late subscribers receive the last message."""

MARKERS = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Subscription to latched marker changes, none of which may be lost."""

CALLS = QoSProfile(depth=100)
"""Service with up to 100 queued calls of all clients, and a client of it.

With the default of 10, a busy computer loses calls, which neither side learns; so do clients, as
each of them receives the responses to all.
"""

MANY_CALLS = QoSProfile(depth=1000)
"""Service with up to 1000 queued calls."""

JOINT_STATES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Subscription to joint states of any publisher; a busy computer loses none."""

NEWEST_STATE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Subscription to a state of which only the newest counts: after a stall, no old one looks new."""

TF = QoSProfile(depth=100)
"""Publisher of moving transforms, as in tf2."""

TF_TOPIC, TF_STATIC_TOPIC = "/tf", "/tf_static"
"""Absolute as in tf2_ros; for one tree per namespace remap them to tf and tf_static."""

FEEDBACK = QoSProfile(depth=1000)
"""Subscription to the feedback of an action; a busy computer loses none."""

GOAL = QoSProfile(depth=CALLS.depth, lifespan=Duration(seconds=4))
"""Action goals and services that start a motion: delivered within 4 s or never."""

STREAM = QoSProfile(depth=1, lifespan=Duration(seconds=0.5))
"""Stream of trajectories on a topic, each soon replaced by the next."""

STEADY_CLOCK = Clock(clock_type=ClockType.STEADY_TIME)
"""Clock for timers that must also run while simulated time stands still."""


def service_qos(name: str) -> QoSProfile:
    """Return the QoS profile of a service: `GOAL`, except for stops, which never expire."""
    return CALLS if name.endswith("stop") else GOAL
