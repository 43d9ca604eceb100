# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Transmissions: pure maps between joints and the shafts of the actuators that move them."""
