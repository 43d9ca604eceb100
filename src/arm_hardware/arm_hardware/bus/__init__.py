# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Servo boards: their interface, I2C access, and the PCA9685."""
