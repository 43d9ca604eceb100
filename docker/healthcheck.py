# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Exit with 0 if the servo driver reports, and not a fault."""

import sys
import time

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile

from arm_interfaces.msg import HardwareStatus

PATIENCE = 15.0  # [s]


def main() -> int:
    """Wait for the status, which is latched; return the exit code."""
    rclpy.init()
    node = rclpy.create_node("healthcheck")
    heard: list[HardwareStatus] = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(HardwareStatus, "arm_hardware/status", heard.append, latched)
    end = time.monotonic() + PATIENCE
    while not heard and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.5)
    if not heard:
        print(f"nothing on arm_hardware/status for {PATIENCE:.0f} s")
        return 1
    if heard[0].state == HardwareStatus.FAULT:
        print(f"the servo driver has a fault: {heard[0].message}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
