# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Emulated servo boards and buses of smart servos, which stand in for the hardware of a driver."""
