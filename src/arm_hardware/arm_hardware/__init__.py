# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Servo driver for arms on a PCA9685: a core without ROS, and one lifecycle node in ``ros/``."""

from arm_hardware.errors import BusError, CalibrationError, CommandError, HardwareError, StateError

__all__ = ["BusError", "CalibrationError", "CommandError", "HardwareError", "StateError"]
