# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The world by contact physics: an arm in a scene, driven by the pulses of its servos."""
