# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service of what moves an arm: a command that comes too late must not be done.

What is sent reliably while a link is cut is kept and sent again: once the link is whole, the arm
would do what somebody wanted half a minute ago. A lifespan ends that. A client's profile holds
for the answers, too, and Fast DDS drops those that look too old by the client's clock: the clocks
of two computers have to agree to less than the lifespan.
"""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import QoSProfile, qos_profile_services_default

# mypy: disable-error-code="no-untyped-call"


GOAL = QoSProfile(depth=10, lifespan=Duration(seconds=4))
"""Of the goals of actions, and of services that let something move: delivered in 4 s or never."""

STREAM = QoSProfile(depth=1, lifespan=Duration(seconds=0.5))
"""Of trajectories on a topic, each soon to be followed by the next or by rest."""


def of_service(name: str) -> QoSProfile:
    """Return that of a service: a stop is right however late it comes, the others are commands."""
    return qos_profile_services_default if name.endswith("stop") else GOAL
