# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Simulated servos on a simulated chip, below Adafruit's real driver."""
