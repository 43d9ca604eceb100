# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests of this package, which need no emulated hardware."""

from arm_testing.hardware.gpio import gpio
from arm_testing.hardware.motion_rig import (
    armed,
    calibration,
    calibration_path,
    clock,
    gentle,
    make_rig,
    model,
    rig,
)
