# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests on emulated hardware."""

from arm_testing.hardware.emulated_driver import (  # noqa: F401
    backend,
    make_bench,
    make_feetech,
    opened,
)
from arm_testing.hardware.gpio import gpio  # noqa: F401
from arm_testing.hardware.motion_rig import (  # noqa: F401
    armed,
    calibration,
    calibration_path,
    clock,
    gentle,
    make_rig,
    model,
    rig,
)
