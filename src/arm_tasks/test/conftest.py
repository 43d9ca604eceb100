# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of several tests: the scene and plans."""

from arm_testing.arms.plans import (
    chain,
    model,
    nut_plan,
    plan_of,
    request_for,
    scene,
    scene_with,
)
