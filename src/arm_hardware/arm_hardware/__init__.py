# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Servo driver for arms on a PCA9685: a core without ROS, and one lifecycle node in ``ros/``."""

from arm_common.plugins import PluginGroup

from arm_hardware.errors import BusError, CalibrationError, CommandError, HardwareError, StateError

__all__ = ["PARTS", "BusError", "CalibrationError", "CommandError", "HardwareError", "StateError"]

PARTS = PluginGroup(
    "arm_hardware.driver_parts",
    "part of the driver",
    {
        "fake bus": "arm_hardware.bus.fake:FakeBus",
        "heartbeat line": "arm_hardware.bus.gpio_line:GpioLine",
        "ideal servos": "arm_hardware.calibration.ideal:simulated_servos",
        "paced clock": "arm_hardware.shared_pace:paced_clock",
        "sag compensation": "arm_hardware.control.sag_compensation:SagCompensation",
    },
)
"""What few drivers need, imported for these alone."""
