# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Scenes: objects around the arm, their files, taught poses."""
