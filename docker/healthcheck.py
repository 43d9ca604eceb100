# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Exit with 0 if the servo driver publishes its status and has no fault."""

import os
import sys
import time

import rclpy
from arm_common.network import limit_to_this_computer
from rclpy.qos import DurabilityPolicy, QoSProfile

from arm_interfaces.msg import HardwareStatus

PATIENCE = 15.0  # [s]


def main() -> int:
    """Wait for the latched status; return the exit code."""
    limit_to_this_computer(os.environ)
    rclpy.init()
    node = rclpy.create_node("healthcheck")
    received: list[HardwareStatus] = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(HardwareStatus, "arm_hardware/status", received.append, latched)
    end = time.monotonic() + PATIENCE
    while not received and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.5)
    if not received:
        print(f"no message on arm_hardware/status within {PATIENCE:.0f} s")
        return 1
    if received[0].state == HardwareStatus.FAULT:
        print(f"the servo driver has a fault: {received[0].message}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
