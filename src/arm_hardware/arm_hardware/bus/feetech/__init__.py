# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Feetech's serial bus and the memory of its servos."""
