# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A simulated PCA9685 with servos, its I2C bus, and faults."""
