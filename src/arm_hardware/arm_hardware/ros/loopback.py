# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/commands/test_doctor.py
"""Checks whether ROS 2 nodes on this computer reach each other."""

from __future__ import annotations

import time
from collections.abc import Callable

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Empty

# mypy: disable-error-code="no-untyped-call, attr-defined"


def loopback_works(within: float, measure: Callable[[], None] = lambda: None) -> bool:
    """Return whether a message passes between two ROS 2 contexts of this process in time [s].

    ``measure`` is called while both have a node.
    """
    contexts = rclpy.Context(), rclpy.Context()
    received: list[Empty] = []
    try:
        for context in contexts:
            rclpy.init(args=[], context=context)
        talker = rclpy.create_node("doctor_talker", context=contexts[0])
        listener = rclpy.create_node("doctor_listener", context=contexts[1])
        publisher = talker.create_publisher(Empty, "doctor_echo", 1)
        listener.create_subscription(Empty, "doctor_echo", received.append, 1)
        executor = SingleThreadedExecutor(context=contexts[1])
        executor.add_node(listener)
        measure()
        deadline = time.monotonic() + within
        while not received and time.monotonic() < deadline:
            publisher.publish(Empty())
            executor.spin_once(timeout_sec=0.1)
    except RuntimeError:  # what rclpy raises where the middleware cannot start
        return False
    finally:
        for context in contexts:
            rclpy.try_shutdown(context=context)
    return bool(received)
