# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service: latched topics, streams of markers, commands that expire; timers' clock.

What is sent reliably while a link is cut is kept and sent again: once the link is whole, the arm
would execute a command of half a minute ago. A lifespan ends that. A client's profile holds for
the answers, too, and Fast DDS drops those that look too old by the client's clock: the clocks of
two computers have to agree to less than the lifespan.
"""

from __future__ import annotations

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_services_default

# mypy: disable-error-code="no-untyped-call"


LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The last message also reaches those that subscribe later."""

MARKERS = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Subscribes a latched topic of which no message may be lost, as each holds only changes."""

MANY_CALLS = QoSProfile(depth=1000)
"""Services whose calls may wait; with the usual 10, others are lost."""

GOAL = QoSProfile(depth=10, lifespan=Duration(seconds=4))
"""Goals of actions, and services that let something move: delivered in 4 s or never."""

STREAM = QoSProfile(depth=1, lifespan=Duration(seconds=0.5))
"""Trajectories on a topic, each soon to be followed by the next or by rest."""

STEADY_CLOCK = Clock(clock_type=ClockType.STEADY_TIME)
"""For timers that also run where simulated time does not."""


def service_qos(name: str) -> QoSProfile:
    """Return the profile of a service: a stop never comes too late, the others are commands."""
    return qos_profile_services_default if name.endswith("stop") else GOAL
