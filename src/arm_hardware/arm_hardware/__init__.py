# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Servo driver for arms on a PCA9685: a core without ROS and one lifecycle node.

The core knows axes, calibration, servo maps, a bus of few verbs, a motion machine that never
leaves its limits, and a steady control loop. ROS is met in ``hardware_node.py`` and ``ros/``,
Adafruit's libraries in ``adafruit.py`` alone.
"""

from arm_hardware.errors import BusError, CalibrationError, CommandError, HardwareError, StateError

__all__ = ["BusError", "CalibrationError", "CommandError", "HardwareError", "StateError"]
