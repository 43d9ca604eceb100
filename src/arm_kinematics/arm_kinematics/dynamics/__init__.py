# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics: torques of gravity and motion, inertia, and what the actuators can bear."""
