# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Chains with forward and inverse kinematics, and whole robots of several chains."""
