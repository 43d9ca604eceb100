# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Calibration of servos and kinematics: files, fits and the wizard."""
